#include "sweeps/doctor/doctor_report.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/json_text.hpp"

namespace depthgrid {
namespace {

std::ptrdiff_t count_of(const std::vector<Finding>& findings, FindingLevel level) {
  return std::ranges::count(findings, level, &Finding::level);
}

}  // namespace

std::string doctor_text(const std::vector<Finding>& findings, Colour colour) {
  Table table{{{"check"}, {"result"}, {"seen"}, {"cure"}}, {}};
  for (const Finding& finding : findings) {
    table.rows.push_back({finding.what, std::string(name_of(finding.level)), finding.seen,
                          finding.cure.empty() ? "-" : finding.cure});
  }
  return text_of(table, colour) + fmt::format("{} checks, {} warnings, {} problems\n",
                                              findings.size(),
                                              count_of(findings, FindingLevel::Warning),
                                              count_of(findings, FindingLevel::Problem));
}

std::string doctor_json(const std::vector<Finding>& findings) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Finding& finding : findings) {
    list.push_back({{"check", finding.what},
                    {"result", name_of(finding.level)},
                    {"seen", finding.seen},
                    {"cure", finding.cure.empty() ? nlohmann::ordered_json()
                                                  : nlohmann::ordered_json(finding.cure)}});
  }
  return json_text(nlohmann::ordered_json{{"schema", 1},
                                          {"warnings", count_of(findings, FindingLevel::Warning)},
                                          {"problems", count_of(findings, FindingLevel::Problem)},
                                          {"findings", list}},
                   2) +
         "\n";
}

bool has_problem(const std::vector<Finding>& findings) {
  return count_of(findings, FindingLevel::Problem) > 0;
}

}  // namespace depthgrid
