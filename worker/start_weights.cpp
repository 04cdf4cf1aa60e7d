#include "worker/start_weights.hpp"

#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.hpp"
#include "core/config/start_files.hpp"
#include "worker/hf_gpt2.hpp"
#include "worker/weight_places.hpp"

namespace depthgrid {
namespace {

void load_hf_gpt2(const std::filesystem::path& path, const ModelOptions& o, std::size_t e,
                  Arena& arena) {
  std::vector<std::string> problems;
  for (const std::string& why : hf_gpt2_obstacles(o, e)) problems.push_back(why);
  const std::vector<std::filesystem::path> files = start_files(path);
  if (files.size() < 2) {
    throw UserError(ExitCode::NoInput,
                    path.string() +
                        ": layout hf-gpt2 is a folder with config.json, which says how "
                        "many heads there are, and model.safetensors");
  }
  for (const std::string& why : hf_gpt2_differences(o, e, files.front())) problems.push_back(why);
  if (!problems.empty()) {
    throw UserError(ExitCode::BadData,
                    fmt::format("{}: this is another model than the cell's:\n  {}", path.string(),
                                fmt::join(problems, "\n  ")));
  }
  const SafetensorsFile file(files.back());
  std::vector<std::string> ignored;
  const std::vector<WeightPlace> places = hf_gpt2_places_in(file, o, arena.layout(), ignored);
  load_weights(arena, static_cast<std::int64_t>(e), places, file, ignored);
}

}  // namespace

void load_start_weights(const std::vector<const CellConfig*>& cells, const ModelOptions& options,
                        Arena& arena) {
  for (std::size_t e = 0; e < cells.size(); ++e) {
    if (cells[e]->null("model.init.from")) continue;
    const std::filesystem::path path = cells[e]->word("model.init.from");
    if (cells[e]->word("model.init.layout") == "hf-gpt2") {
      load_hf_gpt2(path, options, e, arena);
    } else {
      load_weights(arena, static_cast<std::int64_t>(e), native_places(arena.layout()),
                   SafetensorsFile(start_files(path).back()));
    }
  }
  arena.refresh_shadow();
}

}  // namespace depthgrid
