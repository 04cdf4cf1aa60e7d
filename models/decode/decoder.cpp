#include "models/decode/decoder.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/ones.h>

#include "core/base/error.hpp"
#include "core/depth/integrator.hpp"
#include "models/blocks/attention.hpp"
#include "models/blocks/decode_block.hpp"

namespace depthgrid {
namespace {

constexpr std::int64_t kFirstAngles = 256;

/// Gates are applied once, not per token.
DecodeBlock with_effective_weights(DecodeBlock block) {
  BlockWeights& w = block.weights;
  for (AffineMap* map : {&w.qkv, &w.out, &w.up, &w.down}) {
    if (map->gate.defined()) *map = {effective_weight(*map), map->bias};
  }
  return block;
}

/// The blocks over new tokens only. Unlike other fields it has state: each evaluation of a pass
/// (step and stage) happens once per call.
class CachedField final : public VectorField {
 public:
  CachedField(const Model& model, DecodeEvaluations& evaluations, const Execution& execution,
              std::int64_t first, RotaryAngles angles)
      : model_(model),
        evaluations_(evaluations),
        execution_(execution),
        first_(first),
        angles_(std::move(angles)) {}

  at::Tensor enter(const at::Tensor& x, const DepthPoint& at, const Control& u) const override {
    return model_.layer_control().enter(x, at.step, u);
  }

  FieldValue evaluate(const at::Tensor& x, const DepthPoint& at, const Control& u) const override {
    const ModelOptions& o = model_.options();
    auto here = evaluations_.find({at.step, at.stage});
    if (here == evaluations_.end()) {
      DecodeBlock made = with_effective_weights(model_.family().block_at(at.t));
      here = evaluations_.insert({{at.step, at.stage}, {std::move(made), {}}}).first;
    }
    const DecodeBlock& block = here->second.block;
    DecodeState& state = here->second.state;
    const TokenRouting* const routing = block.routing.get();
    const bool dense = execution_.mode == ExecutionMode::Dense;  // asks no router
    if (routing && !dense) {
      return {skipping_step(o, block, x, at, angles_, execution_, first_, state.skipping), {}};
    }
    const Attend attend = [&](const at::Tensor& qkv) {
      return state.cache.attend(o, qkv, angles_);
    };
    if (block.field) return {block.field(x, attend, u), {}};
    const at::Tensor f = block_step(o, block, x, at.h, attend, &state.recurrent);
    if (!routing) return {f, {}};
    state.skipping.executed = at::ones({x.size(0), x.size(1), x.size(2)}, at::kBool);
    return {routing->gate ? f * routing->gate(x).unsqueeze(-1) : f, {}};
  }

 private:
  const Model& model_;
  DecodeEvaluations& evaluations_;
  const Execution& execution_;
  std::int64_t first_;
  RotaryAngles angles_;
};

}  // namespace

Decoder::Decoder(const Model& model, std::optional<Execution> execution, Control control)
    : model_(model),
      execution_(execution.value_or(Execution{.mode = model.options().routing.own_mode()})),
      control_(model.control(control)) {
  const at::NoGradGuard no_grad;
  segments_ = model.family().segments(context_);
  std::int64_t steps = 0;
  for (DepthSegment& segment : segments_) {
    segment.field = nullptr;  // the blocks are decoded
    steps += segment.grid.steps();
  }
  std::vector<DecodeBlock> blocks = model.family().blocks(model.family().grid(context_));
  if (!blocks.empty() && static_cast<std::int64_t>(blocks.size()) != steps) {
    throw Error("family '" + model.options().family + "' has not a block for every step");
  }
  steps_ = static_cast<std::int64_t>(blocks.size());
  for (std::int64_t i = 0; i < steps_; ++i) {
    DecodeBlock& block = blocks[static_cast<std::size_t>(i)];
    evaluations_.insert({{i, 0}, {with_effective_weights(std::move(block)), {}}});
  }
  if (model.options().control.as_prefix && control_.u.defined()) {
    const at::Tensor steered = control_.u.ne(0).any(3);
    prefixed_ = steered.all().item<bool>();
    // Rows with and without a prefix have no common positions: they are decoded as a whole.
    if (!prefixed_ && steered.any().item<bool>()) steps_ = 0;
  }
  restart();
}

void Decoder::restart() {
  for (auto& [at, evaluation] : evaluations_) evaluation.state = {};
  tokens_ = at::Tensor();
  length_ = 0;
  ahead_ = 0;
  rows_ = 0;
}

std::int64_t Decoder::remaining() const {
  const ModelOptions& o = model_.options();
  if (o.positions != Positions::Learned) return std::numeric_limits<std::int64_t>::max();
  return o.max_tokens - length_;
}

at::Tensor Decoder::advance(const at::Tensor& tokens) {
  const at::NoGradGuard no_grad;
  rows_ = tokens.size(0) * tokens.size(1);
  if (steps_ == 0) {
    tokens_ = tokens_.defined() ? at::cat({tokens_, tokens}, 2) : tokens;
    length_ = tokens_.size(2);
    return model_.states(tokens_, {.control = control_.piece(0, length_), .execution = execution_})
        .narrow(2, length_ - tokens.size(2), tokens.size(2));
  }
  const at::Tensor x = model_.embed(tokens, length_);
  if (prefixed_ && ahead_ == 0) {
    const at::Tensor before = model_.prefix(control_, x.size(1)).to(x.scalar_type());
    step(before, control_);
    ahead_ = before.size(2);
  }
  at::Tensor out = step(x, control_.piece(length_, tokens.size(2)));
  length_ += tokens.size(2);
  return out;
}

at::Tensor Decoder::step(const at::Tensor& x, const Control& u) {
  const CachedField field(model_, evaluations_, execution_, length_ + ahead_, angles(x.size(2), x));
  at::Tensor state = x;
  for (const DepthSegment& segment : segments_) {
    state = segment.method->solve(field, segment.grid, state, u);
  }
  return state;
}

RotaryAngles Decoder::angles(std::int64_t tokens, const at::Tensor& like) {
  if (model_.options().positions != Positions::Rope) return {};
  const std::int64_t first = length_ + ahead_, end = first + tokens,
                     known = angles_.cosine.defined() ? angles_.cosine.size(3) : 0;
  if (end > known) {
    angles_ = rotary_angles(model_.options(), 0, std::max({end, 2 * known, kFirstAngles}), like);
  }
  return {angles_.cosine.narrow(3, first, tokens), angles_.sine.narrow(3, first, tokens)};
}

std::vector<std::int64_t> Decoder::lengths(std::int64_t step) const {
  const DecodeState& state = evaluations_.at({step, 0}).state;
  if (state.skipping.rows.empty()) {
    return std::vector<std::int64_t>(static_cast<std::size_t>(rows_), state.cache.length());
  }
  std::vector<std::int64_t> out;
  for (const KvCache& row : state.skipping.rows) out.push_back(row.length());
  return out;
}

std::int64_t Decoder::bytes() const {
  std::int64_t bytes = 0;
  for (const auto& [at, evaluation] : evaluations_) {
    const DecodeState& state = evaluation.state;
    bytes += state.cache.bytes();
    for (const KvCache& row : state.skipping.rows) bytes += row.bytes();
    for (const at::Tensor& t : {state.recurrent, state.skipping.memory, state.skipping.earlier}) {
      if (t.defined()) bytes += static_cast<std::int64_t>(t.nbytes());
    }
  }
  if (tokens_.defined()) bytes += static_cast<std::int64_t>(tokens_.nbytes());
  return bytes;
}

}  // namespace depthgrid
