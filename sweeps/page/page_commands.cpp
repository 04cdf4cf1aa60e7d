#include "sweeps/page/page_commands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/json_text.hpp"
#include "core/base/printable.hpp"

namespace depthgrid {
namespace {

std::string option(const char* name, const std::string& value) {
  return value.empty() ? "" : fmt::format(" --{} {}", name, shell_word(value));
}

std::string words_option(const char* name, const std::vector<std::string>& words) {
  return option(name, fmt::format("{}", fmt::join(words, ",")));
}

/// "depthgrid VERB STORE…".
std::string verb_and_stores(const PageData& data, const char* verb) {
  std::string out = fmt::format("depthgrid {}", verb);
  for (const std::string& store : data.stores) out += " " + shell_word(store);
  return out;
}

/// Which cells take part.
std::string selection(const PageData& data) {
  return option("filter", data.query.filter) + (data.query.all_plans ? " --all-plans" : "");
}

std::string comparison_options(const PageData& data, bool baseline, bool margin) {
  const ComparisonQuery& query = data.query.comparison;
  return (baseline ? option("baseline", query.baseline) : "") + option("metric", query.metric) +
         option("goal", query.goal) +
         (margin && query.margin ? option("margin", shortest(*query.margin)) : "") +
         words_option("allow", query.allowed);
}

}  // namespace

std::string compare_command(const PageData& data, const std::vector<std::string>& by,
                            const std::string& derive) {
  return verb_and_stores(data, "compare") + words_option("by", by) +
         (derive.empty() ? "" : " " + derive) +
         comparison_options(data, by.empty(), derive.empty()) + selection(data);
}

std::string store_command(const PageData& data, std::size_t store) {
  return "depthgrid compare " + shell_word(data.stores[store]) +
         comparison_options(data, true, true) + selection(data);
}

std::string results_command(const PageData& data, const std::vector<std::string>& columns) {
  std::vector<std::string> out;  // the verb takes one store
  for (const std::string& store : data.stores) {
    out.push_back("depthgrid results " + shell_word(store) + words_option("columns", columns) +
                  " --csv" + selection(data));
  }
  return fmt::format("{}", fmt::join(out, "; "));
}

std::string picture_command(const PageData& data) {
  return verb_and_stores(data, "report") + words_option("by", data.query.comparison.by) +
         comparison_options(data, true, true) + selection(data) + " --format svg -o pictures";
}

}  // namespace depthgrid
