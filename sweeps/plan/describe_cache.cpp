#include "sweeps/plan/describe_cache.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <unistd.h>

#include "core/base/error.hpp"
#include "core/base/output.hpp"
#include "core/base/subprocess.hpp"
#include "core/base/terminal.hpp"
#include "sweeps/protocol/commands.hpp"

namespace depthgrid {
namespace {

/// What the kept answer about a structure depends on.
std::string asked_about(const CellPlan& cell, CostDetail detail) {
  if (detail == CostDetail::Counts) return "counts " + cell.structure;
  if (detail == CostDetail::Tensors) return "tensors " + cell.structure;
  return fmt::format("{} {} {}", cell.structure, plain_text(cell.config.at("resources.device")),
                     plain_text(cell.config.at("resources.threads")));
}

/// Says, where somebody looks, why nothing comes for a while.
void say_measuring(std::size_t structures) {
  const auto terminal = Terminal::find();
  if (!terminal || terminal->use() == TerminalUse::Nothing) return;
  print_to_stderr(fmt::format("measuring a step of {} structure{}, once for this machine …\n",
                              structures, structures == 1 ? "" : "s"));
}

}  // namespace

DescribeCache::DescribeCache()
    : DescribeCache(
          program_beside("depthgrid-worker"),
          cache_folder(std::filesystem::path("describe") / real_processes().self().host)) {}

DescribeCache::DescribeCache(std::filesystem::path worker, std::filesystem::path folder,
                             const Processes& processes)
    : worker_(std::move(worker)), answers_(worker_, std::move(folder)), processes_(processes) {}

CostTable DescribeCache::known(const std::vector<CellPlan>& cells, CostDetail detail) const {
  CostTable table;
  for (const CellPlan* cell : first_of_each_structure(cells)) {
    const auto text = answers_.find(asked_about(*cell, detail));
    if (!text) continue;
    try {
      CostTable found = parse_costs(*text);
      table.insert(found.extract(cell->structure));
    } catch (const Error&) {  // damaged: asked again
    }
  }
  return table;
}

CostTable DescribeCache::costs(const std::vector<CellPlan>& cells, CostDetail detail) const {
  CostTable table = known(cells, detail);
  std::vector<const CellPlan*> missing = first_of_each_structure(cells);
  std::erase_if(missing, [&](const CellPlan* cell) { return table.contains(cell->structure); });
  if (missing.empty()) return table;
  if (access(worker_.c_str(), X_OK) != 0) {
    throw UserError(ExitCode::BadConfig,
                    fmt::format("{} is not there or cannot be started: counts and times of a "
                                "structure are its answers; build both programs",
                                worker_.string()));
  }
  if (detail == CostDetail::Times) say_measuring(missing.size());
  const std::string request = structure_request(
      missing,
      {{"times", detail == CostDetail::Times}, {"tensors", detail == CostDetail::Tensors}});
  const CommandAnswer answer =
      processes_.ask(own_question({worker_.string(), "describe"}), request);
  if (answer.code != 0) {
    throw UserError(ExitCode::BadConfig,
                    fmt::format("{} describe ended with code {}; see its message above",
                                worker_.string(), answer.code));
  }
  const CostTable described = parse_costs(answer.out);
  for (const CellPlan* cell : missing) {
    const auto at = described.find(cell->structure);
    if (at == described.end())
      throw Error("describe: no answer about structure " + cell->structure);
    table.insert(*at);
    answers_.keep(asked_about(*cell, detail), costs_json({*at}));
  }
  return table;
}

CostTable DescribeCache::known_or_counted(const std::vector<CellPlan>& cells) const {
  CostTable table = known(cells);
  const auto measured = [&](const CellPlan& cell) { return table.contains(cell.structure); };
  if (std::ranges::all_of(cells, measured)) return table;
  table.merge(costs(cells, CostDetail::Counts));
  return table;
}

}  // namespace depthgrid
