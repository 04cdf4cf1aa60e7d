#include "core/config/facts/probe_sample.hpp"

#include <algorithm>

#include "core/base/error.hpp"
#include "core/config/facts/state_volume.hpp"

namespace depthgrid {
namespace {

constexpr std::int64_t kUsual = 8;

constexpr ProbeSampleLeaf kLeaves[] = {
    {"routing", "probes.routing.mask_sequences", "probes.routing.schedule"},
    {"lyapunov", "probes.lyapunov.sequences", "probes.lyapunov.schedule"},
};

}  // namespace

std::span<const ProbeSampleLeaf> probe_sample_leaves() {
  return kLeaves;
}

std::int64_t sample_sequences(const ValueOfLeaf& leaf, std::string_view path) {
  const Value& given = leaf(path);
  if (given.is_null()) return std::min(kUsual, probe_set_sequences(leaf));
  const auto* number = given.get_if<std::int64_t>();
  if (number == nullptr) throw Error("no integer: " + canonical_json(given));
  return *number;
}

std::string sample_refusal(const ValueOfLeaf& leaf, std::string_view path) {
  const std::int64_t wanted = sample_sequences(leaf, path), set = probe_set_sequences(leaf);
  if (wanted <= set) return {};
  return "`" + std::string(path) + ": " + std::to_string(wanted) +
         "` takes sequences of the probe set, which has " + std::to_string(set) +
         ": take fewer, or enlarge it by `probes.set.sequences`";
}

}  // namespace depthgrid
