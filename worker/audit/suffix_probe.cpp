#include "worker/audit/suffix_probe.hpp"

#include <algorithm>
#include <cmath>

#include <ATen/TensorOperators.h>

namespace depthgrid {
namespace {

constexpr std::int64_t kCuts = 8;
constexpr std::uint64_t kKey = 11;

std::vector<std::int64_t> spread(const std::vector<std::int64_t>& cuts, std::size_t most) {
  if (cuts.size() <= most) return cuts;
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i < most; ++i) {
    out.push_back(cuts[most == 1 ? 0 : i * (cuts.size() - 1) / (most - 1)]);
  }
  return out;
}

/// Replaces every token from the cut onwards by a different one.
void change_from(const at::Tensor& row, std::int64_t cut, std::int64_t vocabulary) {
  at::Tensor tail = row.narrow(-1, cut, row.size(-1) - cut);
  const at::Tensor shift =
      1 + audit_tokens(vocabulary - 1, {tail.size(-1)}, kKey + static_cast<std::uint64_t>(cut));
  tail.copy_((tail + shift) % vocabulary);
}

}  // namespace

std::vector<std::int64_t> cut_points(std::int64_t tokens) {
  std::vector<std::int64_t> cuts;
  for (std::int64_t k = 0; k < kCuts; ++k) {
    const std::int64_t cut = 1 + k * (tokens - 2) / (kCuts - 1);
    if (cut < tokens && (cuts.empty() || cuts.back() < cut)) cuts.push_back(cut);
  }
  return cuts;
}

SuffixEffect change_suffixes(const AuditModel& model, std::int64_t rows, std::int64_t tokens,
                             const ForwardContext& context, std::size_t most) {
  const std::int64_t vocabulary = model.options().vocabulary;
  const std::vector<std::int64_t> cuts = spread(cut_points(tokens), most);
  const at::Tensor unchanged =
      audit_tokens(vocabulary, {1, 1, tokens}, kKey).expand({1, rows, tokens}).contiguous();
  const at::Tensor expected = model.logits(unchanged, context);
  SuffixEffect effect;
  for (std::size_t first = 0; first < cuts.size(); first += static_cast<std::size_t>(rows)) {
    const std::size_t count = std::min(cuts.size() - first, static_cast<std::size_t>(rows));
    const at::Tensor changed = unchanged.clone();
    for (std::size_t r = 0; r < count; ++r) {
      change_from(changed.select(1, static_cast<std::int64_t>(r)), cuts[first + r], vocabulary);
    }
    const at::Tensor got = model.logits(changed, context);
    for (std::size_t r = 0; r < count; ++r) {
      const auto row = static_cast<std::int64_t>(r);
      const std::int64_t cut = cuts[first + r];
      const auto part = [&](const at::Tensor& x, std::int64_t from, std::int64_t length) {
        return x.select(1, row).narrow(1, from, length);
      };
      if (!same_bits(part(expected, 0, cut), part(got, 0, cut))) {
        if (effect.same) effect.cut = cut;
        effect.same = false;
        const double change = largest_difference(part(expected, 0, cut), part(got, 0, cut));
        effect.before = std::isnan(change) ? change : std::max(effect.before, change);
      }
      const std::int64_t rest = tokens - cut;
      effect.after = effect.after || !same_bits(part(expected, cut, rest), part(got, cut, rest));
    }
  }
  return effect;
}

}  // namespace depthgrid
