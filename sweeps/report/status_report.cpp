#include "sweeps/report/status_report.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sweeps/report/table.hpp"

namespace depthgrid {
namespace {

constexpr std::array kStates = {CellStatus::Completed, CellStatus::Diverged, CellStatus::Running,
                                CellStatus::Pending,   CellStatus::Failed,   CellStatus::Oom,
                                CellStatus::Cancelled};

std::int64_t count(const Listing& listing, CellStatus state) {
  return std::count_if(listing.cells.begin(), listing.cells.end(),
                       [&](const CellSummary& cell) { return cell.status == state; });
}

/// Whether a cell needs attention: it failed, diverged, or has a problem to report.
bool is_problem(const CellSummary& cell) {
  return is_failure(cell.status) || cell.status == CellStatus::Diverged || !cell.problem.empty();
}

std::string describe(const CellSummary& cell) {
  if (!cell.problem.empty()) return cell.problem;
  return cell.status == CellStatus::Diverged ? fmt::format("not finite at step {}", cell.step)
                                             : "no report; see depthgrid logs";
}

}  // namespace

std::string status_text(const Listing& listing, Colour colour) {
  const auto cells = static_cast<std::int64_t>(listing.cells.size());
  std::string out = fmt::format("{}: {} cells, {}\n", listing.sweep, cells, store_text(listing));
  Table states{{{"state"}, {"cells", Align::Right}}, {}};
  for (const CellStatus state : kStates) {
    const std::int64_t n = count(listing, state);
    if (n > 0) states.rows.push_back({std::string(name_of(state)), std::to_string(n)});
  }
  out += text_of(states, colour);
  Table problems{{{"cell"}, {"alias"}, {"state"}, {"attempts", Align::Right}, {"problem"}}, {}};
  for (const CellSummary& cell : listing.cells) {
    if (!is_problem(cell)) continue;
    problems.rows.push_back({cell.id, cell.alias, std::string(name_of(cell.status)),
                             std::to_string(cell.attempts), describe(cell)});
  }
  if (!problems.rows.empty()) out += "\nproblems\n" + text_of(problems, colour);
  return out;
}

std::string status_json(const Listing& listing) {
  using Json = nlohmann::ordered_json;
  Json counts = Json::object();
  for (const CellStatus state : kStates)
    counts[std::string(name_of(state))] = count(listing, state);
  Json problems = Json::array();
  for (const CellSummary& cell : listing.cells) {
    if (!is_problem(cell)) continue;
    problems.push_back({{"id", cell.id},
                        {"alias", cell.alias},
                        {"status", name_of(cell.status)},
                        {"step", cell.step},
                        {"attempts", cell.attempts},
                        {"host", cell.host},
                        {"problem", describe(cell)}});
  }
  return Json{{"schema", 1},
              {"sweep", listing.sweep},
              {"store", listing.store},
              {"planned", listing.planned},
              {"cells", listing.cells.size()},
              {"finished", status_code(listing) != ExitCode::Unfinished},
              {"counts", counts},
              {"problems", problems}}
             .dump(2) +
         "\n";
}

ExitCode status_code(const Listing& listing) {
  const auto ended = [](const CellSummary& c) {
    return is_result(c.status) || is_failure(c.status);
  };
  const auto failed = [](const CellSummary& c) { return is_failure(c.status); };
  if (!std::all_of(listing.cells.begin(), listing.cells.end(), ended)) return ExitCode::Unfinished;
  return std::any_of(listing.cells.begin(), listing.cells.end(), failed) ? ExitCode::Partial
                                                                         : ExitCode::Done;
}

}  // namespace depthgrid
