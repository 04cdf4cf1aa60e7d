#include "core/train/optimizer/parameter_layout.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "core/base/error.hpp"
#include "core/cells/cell_rng.hpp"

namespace depthgrid {

at::Tensor ParameterLayout::parameter(const ParameterSpec& spec) {
  for (const ParameterSlot& s : slots_) {
    if (init_stream(s.spec.name) == init_stream(spec.name)) {
      throw Error("parameter '" + spec.name + "' has the name or the stream of '" + s.spec.name +
                  "'");
    }
  }
  const std::int64_t count =
      std::accumulate(spec.shape.begin(), spec.shape.end(), std::int64_t{1}, std::multiplies<>());
  slots_.push_back({spec, size_, count});
  size_ += count;
  return {};
}

const ParameterSlot& ParameterLayout::find(const std::string& name) const {
  const auto at =
      std::ranges::find(slots_, name, [](const ParameterSlot& s) { return s.spec.name; });
  if (at == slots_.end()) throw Error("the layout has no parameter '" + name + "'");
  return *at;
}

std::vector<std::int64_t> ParameterLayout::counts_by_group() const {
  std::vector<std::int64_t> counts(kParameterGroupCount, 0);
  for (const ParameterSlot& s : slots_) {
    if (!s.spec.average) counts[static_cast<std::size_t>(s.spec.group)] += s.count;
  }
  return counts;
}

std::int64_t ParameterLayout::parameters() const {
  const std::vector<std::int64_t> counts = counts_by_group();
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

std::int64_t trainable_parameters(const ParameterLayout& layout,
                                  const std::array<bool, kParameterGroupCount>& frozen) {
  std::int64_t out = 0;
  for (const ParameterSlot& slot : layout.slots()) {
    const bool trains = !slot.spec.average && !frozen.at(static_cast<std::size_t>(slot.spec.group));
    out += trains ? slot.count : 0;
  }
  return out;
}

std::uint32_t init_stream(const std::string& name) {
  return stream_id("init/" + name);
}

}  // namespace depthgrid
