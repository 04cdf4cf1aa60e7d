#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <ATen/core/Tensor.h>

namespace depthgrid {

// Shape legend, used throughout core/ and models/:
//   E cells, B batch, T tokens, C channels (d_model), H heads, L depth steps, U control channels,
//   K frequencies, M tangent directions, V vocabulary, R ranks.

/// Position of an evaluation on the depth axis.
struct DepthPoint {
  at::Tensor t;            // (E) depth, dimensionless, 0 at the embedding and 1 at the readout
  at::Tensor h;            // (E) step length, the residual scale: the step is x <- x + h F
  std::int64_t step = 0;   // index of the step being taken; layer-indexed fields read this
  std::int64_t stage = 0;  // evaluation within the step: 0 under Euler
  // (E, B, T) bool: what the field decided when it was evaluated here before, see FieldValue;
  // undefined: it decides now.
  at::Tensor decided = {};
};

/// External control of every token. An undefined tensor means "uncontrolled".
///
/// Size 1 along B or T, or stride 0 along T, means one signal for all of them: it is mapped once,
/// so a constant control costs no more than one token's.
struct Control {
  at::Tensor u;  // (E, B, T, U), (E, B, 1, U), (E, 1, T, U) or (E, 1, 1, U)

  /// What `tokens` tokens from the first one get: views, no copy.
  Control piece(std::int64_t first, std::int64_t tokens) const {
    const bool constant = !u.defined() || u.size(2) == 1;
    return constant ? *this : Control{u.narrow(2, first, tokens)};
  }
};

/// What a field returns at one point.
struct FieldValue {
  at::Tensor dx;         // (E, B, T, C) dx/dt
  at::Tensor gate = {};  // (E, B, T, 1) in [0, 1]; undefined if the field has no gate
  // (E) each: terms of the training loss that arise here; undefined where one does not. Empty if
  // the field has none.
  std::vector<at::Tensor> losses = {};
  at::Tensor decided = {};  // (E, B, T) bool: tokens that it chose; undefined if it chooses none
  // (E, B, T, C) dx without a learned factor of all of it; undefined: dx itself.
  at::Tensor unscaled = {};
};

/// Depth dynamics dx/dt = f(x, t, u), implemented by every family.
///
/// Implementations are pure functions of their arguments and parameters, without hidden state: an
/// integrator may evaluate a point twice, and a tangent map may differentiate it.
class VectorField : public std::enable_shared_from_this<VectorField> {
 public:
  virtual ~VectorField() = default;

  /// @param x   (E, B, T, C) hidden state.
  /// @param at  `at.t` and `at.h` may differ between cells, `at.step` may not.
  /// @param u   control.
  /// @throws ShapeError if x does not lead with the E this field was built for.
  virtual FieldValue evaluate(const at::Tensor& x, const DepthPoint& at,
                              const Control& u) const = 0;

  /// The state as a step begins, before the field acts: a signal that enters a layer's input moves
  /// it. Unless overridden, the state itself.
  virtual at::Tensor enter(const at::Tensor& x, const DepthPoint& /*at*/,
                           const Control& /*u*/) const {
    return x;
  }

  /// True if dx depends on at.h, as in a sequential block: such a field is meaningful only under
  /// Euler's method.
  virtual bool depends_on_h() const { return false; }
};

using FieldPtr = std::shared_ptr<const VectorField>;

}  // namespace depthgrid
