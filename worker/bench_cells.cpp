#include "worker/bench_cells.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/config/sweep.hpp"
#include "storage/publish.hpp"

namespace depthgrid {

std::vector<CellConfig> bench_cells(const BenchOrder& order) {
  const std::filesystem::path folder = scratch_name(std::filesystem::temp_directory_path());
  make_folders(folder);
  const std::filesystem::path file = folder / "bench.yaml";
  publish_replace(file, std::string_view("name: bench\nmodel: {family: " + order.family + "}\n"));
  SweepRequest request{.file = file, .set = order.set, .yes = false};
  const bool own_corpus = std::ranges::any_of(
      order.set, [](const std::string& s) { return s.starts_with("data.corpus"); });
  if (!own_corpus) {
    request.set.emplace_back("data.corpus=synthetic:markov");
    request.set.emplace_back("data.synthetic.vocab_size=256");
    request.set.emplace_back("data.synthetic.tokens=200000");
  }
  Sweep sweep = load_sweep(request);
  if (sweep.cells.size() == 1 && order.cells > 1) {
    request.set.push_back("seeds=" + std::to_string(order.cells));
    sweep = load_sweep(request);
  }
  std::filesystem::remove_all(folder);
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
