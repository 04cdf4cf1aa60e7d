#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/randperm.h>
#include <ATen/ops/zeros_like.h>

#include "models/blocks/attention.hpp"
#include "worker/audit/audit_checks.hpp"
#include "worker/audit/audited_pass.hpp"

namespace depthgrid {
namespace {

constexpr double kPositionTolerance = 1e-10;
constexpr double kAngleTolerance = 1e-6;  // of a cosine in float32
constexpr std::int64_t kMostPositions = 512;
constexpr std::int64_t kPositionRows = 3;
constexpr TwinSize kPositionTwin{
    .width = 16, .layers = 4, .tokens = kMostPositions, .vocabulary = 31};

/// The largest difference between the gradient by a position's vector and those by the tokens
/// there, relative to the largest. Every token of the text is another one.
double gradient_apart(AuditModel& model, std::int64_t tokens, bool training) {
  const ModelOptions& o = model.options();
  const std::int64_t all = kPositionRows * tokens;
  at::Generator random = at::make_generator<at::CPUGeneratorImpl>(101);
  const at::Tensor text = at::randperm(all, random, at::kLong)
                              .view({1, kPositionRows, tokens})
                              .expand({o.cells, -1, -1});
  // The logits of a token that the text lacks: a tied head reads its row only.
  const at::Tensor weight = at::randn({o.cells, kPositionRows, tokens}, random, at::kDouble);
  const ForwardContext context{
      .training = training, .step = audited_step(0), .control = audit_control(o, text, 101)};
  model.arena().zero_gradients();
  (model.recorded_logits(text, context).select(3, all + 1) * weight).sum().backward();
  const auto gradient = [&](const char* name) {
    return slot_view(model.arena().gradients(), model.layout().find(name));
  };
  const at::Tensor by_token = gradient("embedding.weight")
                                  .index_select(1, text[0].reshape({-1}))
                                  .view({o.cells, kPositionRows, tokens, -1})
                                  .sum(1);
  const at::Tensor by_place = gradient("position.weight");
  const double scale = std::max(1e-300, by_token.abs().max().item<double>());
  const double off = largest_difference(by_place.narrow(1, 0, tokens), by_token) / scale;
  const at::Tensor rest = by_place.narrow(1, tokens, by_place.size(1) - tokens);
  return std::isnan(off) ? off : std::max(off, rest.abs().sum().item<double>());
}

/// Whether a text in pieces, as decoding reads it, gets the vectors of the whole.
bool pieces_agree(const AuditModel& model, std::int64_t tokens) {
  const at::Tensor text = audit_tokens(model.options().vocabulary, {1, 1, tokens}, 102)
                              .expand({model.options().cells, 1, tokens});
  const at::Tensor whole = model.model().embed(text).detach();
  for (std::int64_t t = 0; t < tokens; ++t) {
    const at::Tensor piece = model.model().embed(text.narrow(2, t, 1), t).detach();
    if (!same_bits(piece, whole.narrow(2, t, 1))) return false;
  }
  return true;
}

/// The largest deviation of the rotary tables, and of one rotation by them, from the definition:
/// channels c and c + D/2 of position p turn by p · base^(−2c/D).
double rotation_apart(const ModelOptions& o, std::int64_t tokens) {
  const std::int64_t head = o.width / o.heads, pairs = head / 2;
  at::Generator random = at::make_generator<at::CPUGeneratorImpl>(103);
  const at::Tensor x = at::randn({o.cells, 1, tokens, head}, random);
  const RotaryAngles angles = rotary_angles(o, 0, tokens, x);
  const at::Tensor got = rotate(angles, x).to(at::kDouble);
  at::Tensor expected = at::zeros_like(got);
  auto out = expected.accessor<double, 4>();
  const auto in = x.accessor<float, 4>();
  for (std::int64_t e = 0; e < o.cells; ++e) {
    const double base = o.rope_base[static_cast<std::size_t>(e)];
    for (std::int64_t p = 0; p < tokens; ++p) {
      for (std::int64_t c = 0; c < pairs; ++c) {
        const double turn = static_cast<double>(p) *
                            std::pow(base, -2 * static_cast<double>(c) / static_cast<double>(head));
        const double a = in[e][0][p][c], b = in[e][0][p][c + pairs];
        out[e][0][p][c] = a * std::cos(turn) - b * std::sin(turn);
        out[e][0][p][c + pairs] = a * std::sin(turn) + b * std::cos(turn);
      }
    }
  }
  return largest_difference(got, expected);
}

}  // namespace

AuditResult check_positions(AuditModels& models) {
  const std::int64_t tokens = std::min(models.tokens(), kMostPositions);
  const std::vector<std::size_t> cells = {0, 1};
  if (models.options().positions == Positions::Rope) {
    const double off = rotation_apart(models.options(), tokens);
    return judged(off <= kAngleTolerance, off, kAngleTolerance,
                  fmt::format("{} rotations, against their definition", tokens));
  }
  if (models.options().positions != Positions::Learned) {
    return judged(true, 0, kPositionTolerance, "no table of positions");
  }
  ModelOptions o = models.various(kPositionTwin, cells);
  o.vocabulary = kPositionRows * tokens + 2;
  o.max_tokens = std::max(o.max_tokens, tokens);
  AuditModel model = models.built(o, cells, {Arithmetic::Float64, true});
  double off = 0;
  for (const bool training : {true, false}) {
    const double here = gradient_apart(model, tokens, training);
    if (!(here <= off)) off = here;
  }
  if (!pieces_agree(model, tokens)) off = HUGE_VAL;
  return judged(off <= kPositionTolerance, off, kPositionTolerance,
                off <= kPositionTolerance
                    ? fmt::format("{} positions: each vector is added where it belongs", tokens)
                    : "the vector of a position is not added to the token at that position");
}

}  // namespace depthgrid
