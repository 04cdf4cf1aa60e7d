#include "core/probe/solver/prediction_distance.hpp"

#include <algorithm>

#include <ATen/TensorOperators.h>
#include <ATen/ops/log_softmax.h>

namespace depthgrid {
namespace {

constexpr std::int64_t kLogits = std::int64_t{1} << 19;  // of one cell at a time, 4 MiB

}  // namespace

PredictionDistance prediction_distance(const ContinuousDepth& depth, const at::Tensor& x,
                                       const at::Tensor& reference, const at::Tensor& targets) {
  const std::int64_t cells = x.size(0), tokens = x.size(2);
  const auto n = static_cast<double>(x.size(1) * tokens);
  PredictionDistance out{std::vector<double>(static_cast<std::size_t>(cells)),
                         std::vector<double>(static_cast<std::size_t>(cells))};
  const at::Tensor index = targets.to(x.device()).unsqueeze(2);
  for (std::int64_t b = 0; b < x.size(1); ++b) {
    const at::Tensor ours = depth.finish(x.narrow(1, b, 1));
    const at::Tensor theirs = depth.finish(reference.narrow(1, b, 1));
    std::int64_t count = 1;  // until the size of the vocabulary is known
    for (std::int64_t first = 0, next = 0; first < tokens; first = next) {
      next = std::min(first + count, tokens);
      const auto scores = [&](const at::Tensor& state) {
        return at::log_softmax(depth.logits(state.narrow(2, first, next - first)), -1);
      };
      const at::Tensor p = scores(ours), q = scores(theirs);
      for (std::int64_t e = 0; e < cells; ++e) {  // cell by cell: bits must not depend on E
        const at::Tensor log_p = p[e][0], log_q = q[e][0];
        const at::Tensor at = index[b].narrow(0, first, next - first);
        const auto cell = static_cast<std::size_t>(e);
        out.divergence[cell] += (log_q.exp() * (log_q - log_p)).sum().item<double>() / n;
        out.loss_change[cell] +=
            (log_q.gather(1, at) - log_p.gather(1, at)).sum().item<double>() / n;
      }
      count = std::max<std::int64_t>(1, kLogits / p.size(3));
    }
  }
  return out;
}

}  // namespace depthgrid
