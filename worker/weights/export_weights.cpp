#include "worker/weights/export_weights.hpp"

#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "core/base/json_text.hpp"
#include "core/base/output.hpp"
#include "core/base/version.hpp"
#include "storage/files/publish.hpp"
#include "worker/model/stored_model.hpp"
#include "worker/weights/hf_gpt2.hpp"
#include "worker/weights/safetensors.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

void export_native(const StoredModel& stored, const fs::path& out) {
  if (fs::exists(out) && !fs::is_regular_file(out)) {
    throw UserError(ExitCode::CantCreate,
                    out.string() +
                        ": not a regular file, and would be replaced by one; give the "
                        "name of a file");
  }
  if (out.has_parent_path()) make_folders(out.parent_path());
  write_safetensors(out, weights_of(*stored.arena, 0, native_places(stored.arena->layout())),
                    {{"format", "depthgrid"},
                     {"format_version", "1"},
                     {"family", stored.options.family},
                     {"config", stored.config.json()},
                     {"cell", stored.cell.id},
                     {"step", std::to_string(stored.step)},
                     {"code_version", code_version()}});
}

void export_hf_gpt2(const StoredModel& stored, const fs::path& out) {
  const std::vector<std::string> reasons = hf_gpt2_obstacles(stored.options, 0);
  if (!reasons.empty()) {
    throw UserError(ExitCode::Usage,
                    fmt::format("cell {} is not a GPT2LMHeadModel; use --layout native:\n  {}",
                                stored.cell.id, fmt::join(reasons, "\n  ")));
  }
  const ParameterLayout& layout = stored.arena->layout();
  const std::vector<WeightPlace> places = hf_gpt2_places(stored.options, layout);
  std::set<std::string> written;
  for (const WeightPlace& place : places) written.insert(place.parameter);
  if (written.size() != layout.slots().size()) {
    throw UserError(ExitCode::Usage, "cell " + stored.cell.id +
                                         " has parameters that GPT2LMHeadModel lacks; use --layout "
                                         "native");
  }
  make_folders(out);
  write_safetensors(out / "model.safetensors", weights_of(*stored.arena, 0, places),
                    {{"format", "pt"}});
  publish_replace(out / "config.json", hf_gpt2_config(stored.options, 0));
}

struct LayoutEntry {
  std::string_view name;
  void (*write)(const StoredModel&, const fs::path&);
};
constexpr LayoutEntry kLayouts[] = {{"native", export_native}, {"hf-gpt2", export_hf_gpt2}};

}  // namespace

int export_weights(const ExportCommand& command) {
  for (const LayoutEntry& layout : kLayouts) {
    if (layout.name != command.layout) continue;
    const StoredModel stored(command.from);
    layout.write(stored, command.out);
    const std::int64_t parameters = stored.arena->layout().parameters();
    if (command.json) {
      print(fmt::format("{}\n", json_text(nlohmann::ordered_json{{"schema", 1},
                                                                 {"cell", stored.cell.id},
                                                                 {"alias", stored.cell.alias},
                                                                 {"step", stored.step},
                                                                 {"layout", command.layout},
                                                                 {"parameters", parameters},
                                                                 {"out", command.out}})));
    } else {
      print(fmt::format("{}: {} parameters of {} after {} steps, layout {}\n", command.out,
                        parameters, stored.cell.alias, stored.step, command.layout));
    }
    return 0;
  }
  throw UserError(ExitCode::Usage, "--layout " + command.layout + ": it is native or hf-gpt2");
}

}  // namespace depthgrid
