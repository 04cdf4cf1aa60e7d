#include "models/blocks/timed_field.hpp"

#include <utility>

namespace depthgrid {
namespace {

/// The same block wherever it is evaluated.
class OneBlock final : public BlockField {
 public:
  /// @param records  the states of the state-space layer, if the pass asks for them.
  OneBlock(const ModelOptions& o, const ForwardContext& c, const DecodeBlock& block, bool records)
      : BlockField(o, c), block_(block), records_(records) {}

 protected:
  BlockWeights weights(const DepthPoint&) const override { return block_.weights; }
  bool feeds_forward() const override { return !block_.ssm; }

  at::Tensor second_sublayer(const BlockWeights& w, const at::Tensor& normed,
                             const DepthPoint& at) const override {
    if (feeds_forward()) return BlockField::second_sublayer(w, normed, at);
    std::vector<at::Tensor>* const record = records_ ? context().state_space : nullptr;
    return mix(*block_.ssm, normed, nullptr, record ? &record->emplace_back() : nullptr);
  }

 private:
  const DecodeBlock& block_;
  bool records_;
};

}  // namespace

TimedField::TimedField(const ModelOptions& options, const ForwardContext& context, Maker make)
    : options_(options), context_(context), make_(std::move(make)) {}

FieldValue TimedField::evaluate(const at::Tensor& x, const DepthPoint& at, const Control& u) const {
  const DecodeBlock block = make_(at.t);
  DepthPoint own = at;
  const std::int64_t steps = options_.depth_steps();
  own.step = at.step + at.stage * steps;  // keys the draws
  // What stands at the beginning of a step: reversible Heun evaluates it at the end of the one
  // before.
  const bool begins =
      at.stage == 0 || (options_.solver.method->reversible() && at.step + 1 < steps);
  return OneBlock(options_, context_, block, begins).evaluate(x, own, u);
}

}  // namespace depthgrid
