#include "models/decode/token_choice.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/base/error.hpp"

namespace depthgrid {

std::int64_t choose_token(std::span<const float> logits, const TokenChoice& choice, double draw) {
  if (logits.empty() || !std::ranges::all_of(logits, [](float x) { return std::isfinite(x); })) {
    throw Error("choose_token: logits are missing or not finite");
  }
  if (choice.temperature == 0) return std::ranges::max_element(logits) - logits.begin();
  std::vector<std::int64_t> ids(logits.size());
  std::iota(ids.begin(), ids.end(), 0);
  const auto logit = [&](std::int64_t id) {
    return static_cast<double>(logits[static_cast<std::size_t>(id)]);
  };
  const auto before = [&](std::int64_t a, std::int64_t b) {
    return logit(a) != logit(b) ? logit(a) > logit(b) : a < b;
  };
  if (choice.top_k > 0 && choice.top_k < static_cast<std::int64_t>(ids.size())) {
    std::ranges::partial_sort(ids, ids.begin() + choice.top_k, before);
    ids.resize(static_cast<std::size_t>(choice.top_k));
  } else {
    std::ranges::sort(ids, before);
  }
  std::vector<double> weight(ids.size());
  std::ranges::transform(ids, weight.begin(), [&](std::int64_t id) {
    return std::exp((logit(id) - logit(ids.front())) / choice.temperature);
  });
  const double all = std::accumulate(weight.begin(), weight.end(), 0.0);
  double kept = 0;
  std::size_t n = 0;
  while (n < weight.size() && (n == 0 || kept < choice.top_p * all)) kept += weight[n++];
  double left = draw * kept;
  for (std::size_t i = 0; i + 1 < n; ++i) {
    if (left < weight[i]) return ids[i];
    left -= weight[i];
  }
  return ids[n - 1];
}

}  // namespace depthgrid
