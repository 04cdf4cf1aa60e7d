#include "worker/weights/weight_places.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>

#include "core/base/error.hpp"
#include "sweeps/plan/start_check.hpp"

namespace depthgrid {
namespace {

constexpr std::string_view kFloatTypes[] = {"F64", "F32", "F16", "BF16"};
constexpr std::size_t kShown = 40;  // problems listed in a message

}  // namespace

std::vector<WeightPlace> native_places(const ParameterLayout& layout) {
  std::vector<WeightPlace> places;
  for (const ParameterSlot& slot : layout.slots()) {
    places.push_back({.name = slot.spec.name, .parameter = slot.spec.name});
  }
  return places;
}

std::vector<std::int64_t> file_shape(const WeightPlace& place, const ParameterLayout& layout) {
  std::vector<std::int64_t> shape = layout.find(place.parameter).spec.shape;
  if (shape.size() == 2 && shape.front() == 1) shape.erase(shape.begin());
  if (place.transposed) std::ranges::reverse(shape);
  return shape;
}

std::vector<std::pair<std::string, at::Tensor>> weights_of(Arena& arena, std::int64_t e,
                                                           const std::vector<WeightPlace>& places) {
  const at::NoGradGuard no_grad;
  std::vector<std::pair<std::string, at::Tensor>> out;
  for (const WeightPlace& place : places) {
    at::Tensor x = slot_view(arena.values(), arena.layout().find(place.parameter))[e];
    if (place.transposed) x = x.t();
    out.emplace_back(place.name, x.contiguous().view(file_shape(place, arena.layout())));
  }
  return out;
}

std::vector<std::string> load_weights(Arena& arena, std::int64_t e,
                                      const std::vector<WeightPlace>& places,
                                      const SafetensorsFile& file,
                                      const std::vector<std::string>& ignored) {
  std::vector<std::string> problems, fresh;
  std::set<std::string> known(ignored.begin(), ignored.end()), set;
  for (const WeightPlace& place : places) {
    known.insert(place.name);
    if (!set.insert(place.parameter).second) {
      problems.push_back(fmt::format("{}: layers share {} here", place.name, place.parameter));
    }
    const SafetensorsEntry* entry = file.find(place.name);
    const std::vector<std::int64_t> shape = file_shape(place, arena.layout());
    const ParameterGroup group = arena.layout().find(place.parameter).spec.group;
    if (entry == nullptr && is_added_module(name_of(group))) {
      fresh.push_back(place.parameter);
    } else if (entry == nullptr) {
      problems.push_back(fmt::format("missing: {} ({})", place.name, fmt::join(shape, " x ")));
    } else if (entry->shape != shape) {
      problems.push_back(fmt::format("{}: {} in the file, {} in the model", place.name,
                                     fmt::join(entry->shape, " x "), fmt::join(shape, " x ")));
    } else if (std::ranges::find(kFloatTypes, entry->dtype) == std::end(kFloatTypes)) {
      problems.push_back(
          fmt::format("{}: type {}; weights are F64, F32, F16 or BF16", place.name, entry->dtype));
    }
  }
  for (const SafetensorsEntry& entry : file.entries()) {
    if (!known.contains(entry.name)) problems.push_back("unknown to the model: " + entry.name);
  }
  if (!problems.empty()) {
    const std::size_t all = problems.size();
    problems.resize(std::min(all, kShown));
    throw UserError(
        ExitCode::BadData,
        fmt::format("{}: these are not the weights of this model ({} differences):\n  {}{}",
                    file.path().string(), all, fmt::join(problems, "\n  "),
                    all > kShown ? "\n  …" : ""));
  }
  const at::NoGradGuard no_grad;
  for (const WeightPlace& place : places) {
    if (file.find(place.name) == nullptr) continue;
    const at::Tensor into = slot_view(arena.values(), arena.layout().find(place.parameter))[e];
    at::Tensor x = file.read(*file.find(place.name));
    if (place.transposed) x = x.t();
    into.copy_(x.reshape(into.sizes()).to(into.scalar_type()));
  }
  return fresh;
}

}  // namespace depthgrid
