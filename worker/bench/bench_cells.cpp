#include "worker/bench/bench_cells.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "sweeps/orders/sweep_of_model.hpp"

namespace depthgrid {

std::vector<CellConfig> bench_cells(const BenchOrder& order) {
  std::vector<std::string> set = order.set;
  const bool own_corpus = std::ranges::any_of(
      order.set, [](const std::string& s) { return s.starts_with("data.corpus"); });
  if (!own_corpus) {
    set.emplace_back("data.corpus=synthetic:markov");
    set.emplace_back("data.synthetic.vocab_size=256");
    set.emplace_back("data.synthetic.tokens=200000");
  }
  Sweep sweep = sweep_of_model("family", order.family, set);
  if (sweep.cells.size() == 1 && order.cells > 1) {
    set.push_back("seeds=" + std::to_string(order.cells));
    sweep = sweep_of_model("family", order.family, set);
  }
  if (static_cast<std::int64_t>(sweep.cells.size()) != order.cells) {
    throw UserError(ExitCode::Usage,
                    fmt::format("bench: the overrides make {} cells, --cells says {}",
                                sweep.cells.size(), order.cells));
  }
  std::vector<CellConfig> out;
  for (const CellPlan& cell : sweep.cells) {
    if (cell.structure != sweep.cells[0].structure) {
      throw UserError(ExitCode::Usage,
                      "bench: the cells differ in structure, they cannot be fused");
    }
    out.push_back(cell.config);
  }
  return out;
}

}  // namespace depthgrid
