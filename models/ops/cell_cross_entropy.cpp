#include "models/ops/cell_cross_entropy.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/_log_softmax.h>

#include "core/cells/cell_set.hpp"
#include "models/ops/graph_node.hpp"

namespace depthgrid {
namespace {

/// (E, B, T) negative log-likelihoods of log-probabilities (E, B, T, V).
at::Tensor picked(const at::Tensor& log_probabilities, const at::Tensor& targets) {
  return log_probabilities.gather(-1, targets.unsqueeze(-1)).squeeze(-1).neg();
}

/// A single graph node: the log-probabilities become the gradient in place.
class CrossEntropy : public GraphNode<CrossEntropy> {
 public:
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& logits,
                            const at::Tensor& targets) {
    const at::Tensor log_p = at::_log_softmax(logits, -1, /*half_to_float=*/false);
    ctx->save_for_backward({log_p, targets});
    // In two stages: a single full reduction would be split among threads.
    return picked(log_p, targets).sum(-1, false, at::kDouble).sum(-1).to(logits.scalar_type());
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    expect_last_derivative("the cross-entropy");
    const variable_list saved = ctx->get_saved_variables();
    at::Tensor d = saved[0].exp_();  // softmax; backward runs only once
    const at::Tensor target = saved[1].unsqueeze(-1);
    d.scatter_add_(-1, target, at::Tensor(target.to(d.options())).fill_(-1));
    d.mul_(per_cell(grads[0], d));
    return {d, at::Tensor()};
  }
};

}  // namespace

at::Tensor cell_cross_entropy(const at::Tensor& logits, const at::Tensor& targets) {
  return CrossEntropy::apply(logits, targets);
}

at::Tensor token_losses(const at::Tensor& logits, const at::Tensor& targets) {
  return picked(at::_log_softmax(logits, -1, false), targets);
}

}  // namespace depthgrid
