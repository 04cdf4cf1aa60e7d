#include "models/control_secant.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/zeros_like.h>

#include "core/base/error.hpp"
#include "core/cells/cell_rng.hpp"
#include "core/cells/queued_tensor.hpp"
#include "models/regularisers/dominant_direction.hpp"

namespace depthgrid {
namespace {

/// Below every square of a slope; its root keeps the gradient finite where nothing moves.
constexpr double kSmallest = 1e-20;

}  // namespace

at::Tensor control_secant(const Model& model, const at::Tensor& tokens,
                          const ForwardContext& context, const at::Tensor& states) {
  const ModelOptions& o = model.options();
  if (context.seeds == nullptr) throw Error("a draw of control signals needs the cells' seeds");
  const at::TensorOptions plain = states.options().dtype(at::kFloat).requires_grad(false);
  const std::int64_t cells = states.size(0), rows = states.size(1);
  const at::Tensor e = at::empty({cells, rows, 1, o.control.axes}, plain);
  fill_normal(e, *context.seeds,
              {stream_id("regularisers/control_smoothness"), context.step, context.first_row});
  const auto by_cell = [&](const std::vector<double>& values) {
    return queued_tensor(values, plain.dtype(states.scalar_type()));
  };
  const at::Tensor delta = by_cell(o.regularisers.delta);
  const Control& given = model.control(context.control);
  const at::Tensor move = e.to(states.scalar_type()) * delta.view({-1, 1, 1, 1});
  ForwardContext moved = context;
  moved.watch = {};
  moved.losses = nullptr;
  moved.control.u = given.u.defined() ? given.u.to(move.scalar_type()) + move : move;
  at::Tensor from = states;
  if (!given.u.defined() && o.control.bias) {  // a map with a bias: no signal is not u = 0
    ForwardContext zero = moved;
    zero.control.u = at::zeros_like(move);
    from = model.states(tokens, zero);
  }
  const at::Tensor change = model.states(tokens, moved) - from;
  const auto size = static_cast<double>(states.size(2) * states.size(3));
  const at::Tensor square = inner_product(change, change) / (size * delta.square().unsqueeze(1));
  const at::Tensor slope = (square + kSmallest).sqrt();
  const at::Tensor low = by_cell(o.regularisers.band_low).unsqueeze(1),
                   high = by_cell(o.regularisers.band_high).unsqueeze(1);
  const at::Tensor penalty = at::relu(low - slope).square() + at::relu(slope - high).square();
  return penalty.sum(1) * static_cast<double>(states.size(2));
}

}  // namespace depthgrid
