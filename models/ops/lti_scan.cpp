#include "models/ops/lti_scan.hpp"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/bmm.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>

#include "core/base/error.hpp"
#include "models/ops/cpu/lti_scan_kernel.hpp"
#include "models/ops/graph_node.hpp"
#include "models/ops/host_kernels.hpp"

namespace depthgrid {
namespace {

bool is_dense(const at::Tensor& transition) {
  return transition.dim() == 3;
}

/// Σ over sequences and tokens of l_t h_{t−1}ᵀ; both (E, B, T, N). @return (E, N, N)
at::Tensor outer_sum(const at::Tensor& l, const at::Tensor& h) {
  const std::int64_t pairs = l.size(2) - 1;
  const at::Tensor now = l.narrow(2, 1, pairs).flatten(1, 2);  // (E, B(T-1), N)
  const at::Tensor last = h.narrow(2, 0, pairs).flatten(1, 2);
  return at::bmm(now.transpose(1, 2), last);
}

/// Scans sequence by sequence, distributed over threads. A backward scan is that of Aᵀ.
at::Tensor by_kernel(ScanOrder order, const at::Tensor& transition, const at::Tensor& u) {
  const bool dense = is_dense(transition);
  const std::int64_t batch = u.size(1), tokens = u.size(2), states = u.size(3);
  at::Tensor h = at::empty_like(u);
  const at::Tensor factors =
      (dense && order == ScanOrder::Forward ? transition.transpose(1, 2) : transition).contiguous();
  AT_DISPATCH_FLOATING_TYPES(u.scalar_type(), "lti_scan", [&] {
    const scalar_t* a = factors.const_data_ptr<scalar_t>();
    const scalar_t* from = u.const_data_ptr<scalar_t>();
    scalar_t* to = h.mutable_data_ptr<scalar_t>();
    at::parallel_for(0, u.size(0) * batch, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) {
        const std::int64_t at = row * tokens * states;
        const scalar_t* mine = a + row / batch * (factors.numel() / factors.size(0));
        if (dense) {
          dense_scan(order, mine, from + at, to + at, tokens, states);
        } else {
          diagonal_scan(order, mine, from + at, to + at, tokens, states);
        }
      }
    });
  });
  return h;
}

/// dA of a diagonal scan, (E, N); a cell's sequences are added in order.
at::Tensor diagonal_gradient(const at::Tensor& l, const at::Tensor& h) {
  const std::int64_t batch = l.size(1), tokens = l.size(2), states = l.size(3);
  const at::Tensor each = at::empty({l.size(0), batch, states}, l.options());
  at::Tensor sum = at::zeros({l.size(0), states}, l.options());
  AT_DISPATCH_FLOATING_TYPES(l.scalar_type(), "lti_scan_backward", [&] {
    scalar_t* part = each.mutable_data_ptr<scalar_t>();
    at::parallel_for(0, l.size(0) * batch, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) {
        const std::int64_t at = row * tokens * states;
        diagonal_scan_gradient(l.const_data_ptr<scalar_t>() + at, h.const_data_ptr<scalar_t>() + at,
                               part + row * states, tokens, states);
      }
    });
    scalar_t* to = sum.mutable_data_ptr<scalar_t>();
    for (std::int64_t row = 0; row < l.size(0) * batch; ++row) {
      for (std::int64_t n = 0; n < states; ++n) {
        to[row / batch * states + n] += part[row * states + n];
      }
    }
  });
  return sum;
}

/// H after k rounds holds the sums over the last 2^k inputs; only positive powers of A appear, so
/// it is as stable as the recurrence.
at::Tensor by_doubling(ScanOrder order, const at::Tensor& transition, const at::Tensor& u) {
  const bool dense = is_dense(transition), forward = order == ScanOrder::Forward;
  at::Tensor h = forward ? u.clone() : u.flip(2);
  at::Tensor power = dense && forward ? transition.transpose(1, 2) : transition;
  const std::int64_t tokens = u.size(2);
  for (std::int64_t reach = 1; reach < tokens; reach *= 2) {
    const at::Tensor earlier = h.narrow(2, 0, tokens - reach);
    const at::Tensor moved = dense ? at::bmm(earlier.flatten(1, 2), power).view(earlier.sizes())
                                   : earlier * power.unsqueeze(1).unsqueeze(1);
    h = at::cat({h.narrow(2, 0, reach), h.narrow(2, reach, tokens - reach) + moved}, 2);
    if (2 * reach < tokens) power = dense ? at::bmm(power, power) : power * power;
  }
  return forward ? h : h.flip(2);
}

class LtiScan : public GraphNode<LtiScan> {
 public:
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& transition,
                            const at::Tensor& input, bool kernel) {
    const at::Tensor u = input.contiguous();
    const at::Tensor h = (kernel ? by_kernel : by_doubling)(ScanOrder::Forward, transition, u);
    ctx->save_for_backward({transition, h});
    ctx->saved_data["kernel"] = kernel;
    return h;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor &transition = saved[0], &h = saved[1];
    const bool kernel = ctx->saved_data["kernel"].toBool();
    if (kernel) expect_last_derivative("the scan");
    const at::Tensor dh = grads[0].contiguous();
    const at::Tensor l = (kernel ? by_kernel : by_doubling)(ScanOrder::Backward, transition, dh);
    at::Tensor d_transition;
    if (is_dense(transition)) {
      d_transition = outer_sum(l, h);
    } else if (kernel) {
      d_transition = diagonal_gradient(l, h);
    } else {
      const std::int64_t pairs = l.size(2) - 1;
      d_transition = (l.narrow(2, 1, pairs) * h.narrow(2, 0, pairs)).sum({1, 2});
    }
    return {d_transition, l, {}};
  }
};

}  // namespace

at::Tensor lti_scan(const at::Tensor& transition, const at::Tensor& u, ScanMethod method) {
  if (transition.scalar_type() != u.scalar_type() || transition.size(-1) != u.size(-1)) {
    throw ShapeError("lti_scan: transition and input differ in their type or number of states");
  }
  // One state: a 1 x 1 matrix, whose products would take another code path.
  if (is_dense(transition) && transition.size(-1) == 1) {
    return lti_scan(transition.squeeze(-1), u, method);
  }
  const bool kernel =
      method == ScanMethod::Automatic ? host_kernels_serve(u) : method == ScanMethod::Kernel;
  return LtiScan::apply(transition, u, kernel);
}

}  // namespace depthgrid
