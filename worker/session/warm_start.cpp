#include "worker/session/warm_start.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>

#include "core/base/error.hpp"
#include "core/config/start_name.hpp"
#include "sweeps/plan/start_check.hpp"
#include "worker/weights/exported_config.hpp"
#include "worker/weights/hf_gpt2.hpp"
#include "worker/weights/weight_places.hpp"

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
    throw UserError(ExitCode::BadData, fmt::format("{}: this model differs from the cell's:\n  {}",
                                                   path.string(), fmt::join(problems, "\n  ")));
  }
  const SafetensorsFile file(files.back());
  std::vector<std::string> ignored;
  const std::vector<WeightPlace> places = hf_gpt2_places_in(file, o, arena.layout(), ignored);
  load_weights(arena, static_cast<std::int64_t>(e), places, file, ignored);
}

/// Copies from one layout into another, by name.
std::vector<std::string> load_cell(const FinalWeights& source, const CellConfig& config,
                                   std::size_t e, Arena& arena) {
  StartFit fit = start_fit(tensor_infos(source.layout), tensor_infos(arena.layout()));
  if (!fit.problems.empty()) {
    throw Error(fmt::format("the weights of {} ({}) do not fit this {} ({} differences):\n  {}",
                            source.cell.alias, source.cell.id, config.word("model.family"),
                            fit.problems.size(), fmt::join(fit.problems, "\n  ")));
  }
  const at::NoGradGuard no_grad;
  const auto lacks = [&](const std::string& name) {
    return std::ranges::none_of(arena.layout().slots(),
                                [&](const ParameterSlot& slot) { return slot.spec.name == name; });
  };
  for (const ParameterSlot& from : source.layout.slots()) {
    if (is_training_aid(from.spec.name) && lacks(from.spec.name)) continue;
    const at::Tensor into = slot_view(arena.values(), arena.layout().find(from.spec.name))
                                .select(0, static_cast<std::int64_t>(e));
    const float* const values = source.values.data() + from.offset;
    into.copy_(at::from_blob(const_cast<float*>(values), into.sizes(), at::kFloat));
  }
  return std::move(fit.fresh);
}

/// Zeroes a cell's parameters that receive a control signal: the fresh ones, and of the others
/// those of axes that no signal has trained, which are noise to the one that begins now.
/// @param signalled  (c) of the weights; empty: nothing but the fresh ones.
void clear_controls(StartedFrom& started, std::size_t e, Arena& arena,
                    const std::vector<bool>& signalled) {
  const at::NoGradGuard no_grad;
  const bool none = !signalled.empty() && std::ranges::find(signalled, true) == signalled.end();
  const auto axes = std::ssize(signalled);
  for (const ParameterSlot& slot : arena.layout().slots()) {
    if (slot.spec.group != ParameterGroup::Control) continue;
    const at::Tensor own = slot_view(arena.values(), slot).select(0, static_cast<std::int64_t>(e));
    const std::string& name = slot.spec.name;
    if (std::erase(started.fresh, name) > 0 || none) {
      own.zero_();
      started.zeroed.push_back(name);
      continue;
    }
    const bool prefix = name == "prefix.weight";  // (c, d); all other maps are (…, c)
    if (!name.ends_with(".weight") || own.size(prefix ? 0 : -1) != axes) continue;
    for (std::int64_t k = 0; k < axes; ++k) {
      if (signalled[static_cast<std::size_t>(k)]) continue;
      own.select(prefix ? 0 : -1, k).zero_();
      started.zeroed.push_back(fmt::format("{} of axis {}", name, k));
    }
  }
}

/// What clear_controls() needs to know of weights that a cell begins to be controlled with.
std::vector<bool> signalled_in_file(const CellConfig& cell, const std::filesystem::path& path) {
  const std::optional<CellConfig> source = exported_config(path);
  if (!source) return {};
  if (const std::string other = other_axes(*source, cell); !other.empty()) {
    throw UserError(ExitCode::BadData, path.string() + ": " + other);
  }
  if (cell.word("train.task") == "lm") return {};
  // What the cell that was exported had started from is not at hand: it may have got its maps
  // there.
  if (start_cell(*source)) return {};
  return signalled_axes(*source, {});
}

/// Names of its tensors that the next phase may lack.
std::vector<std::string> training_aids_in(const SafetensorsFile& file) {
  std::vector<std::string> out;
  for (const SafetensorsEntry& entry : file.entries()) {
    if (is_training_aid(entry.name)) out.push_back(entry.name);
  }
  return out;
}

/// "; 2 parameters HOW: a, b", or nothing.
std::string named(const std::vector<std::string>& names, const char* how) {
  if (names.empty()) return "";
  constexpr std::size_t kShown = 12;
  return fmt::format(
      "; {} parameters {}: {}{}", names.size(), how,
      fmt::join(names.begin(),
                names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kShown)), ", "),
      names.size() > kShown ? ", …" : "");
}

}  // namespace

std::string StartedFrom::line() const {
  return text + named(fresh, "drawn anew") + named(zeroed, "at zero");
}

std::vector<StartedFrom> warm_start(const std::vector<const CellConfig*>& cells,
                                    const ModelOptions& options, Arena& arena,
                                    const WeightsReader& read) {
  std::vector<StartedFrom> out(cells.size());
  std::optional<FinalWeights> source;  // cells of a job often share one
  for (std::size_t e = 0; e < cells.size(); ++e) {
    if (cells[e]->null("model.init.from")) continue;
    if (const auto id = start_cell(*cells[e])) {
      if (!source || source->cell.id != *id) source = read(*id);
      out[e].text = fmt::format("{} ({}) after {} steps, weights {}", source->cell.alias, *id,
                                source->step, source->sha256.substr(0, 12));
      out[e].fresh = load_cell(*source, *cells[e], e, arena);
      clear_controls(out[e], e, arena,
                     options.control.labelled ? source->signalled : std::vector<bool>());
      continue;
    }
    const std::filesystem::path path = cells[e]->word("model.init.from");
    out[e].text = path.string() + ", " + start_identity(*cells[e]).substr(0, 17);
    if (cells[e]->word("model.init.layout") == "hf-gpt2") {
      load_hf_gpt2(path, options, e, arena);
    } else {
      const SafetensorsFile file(start_files(path).back());
      out[e].fresh = load_weights(arena, static_cast<std::int64_t>(e),
                                  native_places(arena.layout()), file, training_aids_in(file));
      clear_controls(out[e], e, arena, signalled_in_file(*cells[e], path));
    }
  }
  arena.refresh_shadow();
  return out;
}

}  // namespace depthgrid
