#include "models/decode/skipping_step.hpp"

#include <algorithm>
#include <string>

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include "core/base/error.hpp"
#include "models/blocks/decode_block.hpp"
#include "models/routing/decisions.hpp"

namespace depthgrid {
namespace {

/// Masks (E, B, T) of the new tokens from masks of the whole text, (E, B, all, layers).
at::Tensor given_mask(const Execution& execution, const at::Tensor& like, std::int64_t layer,
                      std::int64_t first) {
  const at::Tensor& all = execution.forced;
  Execution here = execution;
  if (all.defined() && all.dim() == 4 && first + like.size(2) <= all.size(2)) {
    here.forced = all.narrow(2, first, like.size(2));
  }
  return forced_mask(here, like, layer);
}

/// @param logits  (E, B, T). @return (E, B, T) bool
at::Tensor decide(const RoutingOptions& o, const Execution& e, const at::Tensor& logits,
                  std::int64_t dynamic, std::int64_t layer, std::int64_t first,
                  const at::Tensor& earlier) {
  const auto sequence_start = [&](const at::Tensor& mask) {
    return first == 0 ? with_first(o, mask) : mask;
  };
  const at::TensorOptions flags = logits.options().dtype(at::kBool);
  switch (e.mode) {
    case ExecutionMode::SkipAll:
      return at::zeros_like(logits, flags);
    case ExecutionMode::Forced:
      return given_mask(e, logits, layer, first);
    case ExecutionMode::Random: {
      const at::Tensor all =
          at::zeros({logits.size(0), logits.size(1), first + logits.size(2)}, logits.options());
      return sequence_start(
          random_mask(o, all, layer, 0).narrow(2, first, logits.size(2)).contiguous());
    }
    case ExecutionMode::Student:
      if (e.decider == Decider::Forced) return given_mask(e, logits, layer, first);
      return sequence_start(student_mask(o, e, logits, dynamic, earlier));
    default:
      throw Error("tokens cannot be decoded one by one in mode '" + std::string(name_of(e.mode)) +
                  "'");
  }
}

/// Which of its N = B·T tokens each cell executes: their indices in order, padded with skipped ones
/// to equal numbers per cell.
struct Gathered {
  explicit Gathered(const at::Tensor& executed)
      : cells(executed.size(0)), rows(executed.size(1)), tokens(executed.size(2)) {
    const at::Tensor host = executed.to(at::kCPU).contiguous();
    const bool* mask = host.const_data_ptr<bool>();
    const std::int64_t n = rows * tokens;
    for (std::int64_t r = 0; r < cells * rows; ++r) {
      counts.push_back(std::count(mask + r * tokens, mask + (r + 1) * tokens, true));
    }
    for (std::int64_t e = 0; e < cells; ++e) {
      width = std::max(width, std::count(mask + e * n, mask + (e + 1) * n, true));
    }
    for (std::int64_t e = 0; e < cells; ++e) {
      std::int64_t held = 0;
      for (const bool wanted : {true, false}) {
        for (std::int64_t i = 0; i < n && held < width; ++i) {
          if (mask[e * n + i] != wanted) continue;
          places.push_back(i);
          valid.push_back(wanted ? 1 : 0);
          ++held;
        }
      }
    }
  }
  bool everything() const { return width == rows * tokens && whole(); }
  bool whole() const { return std::ranges::find(valid, 0) == valid.end(); }

  std::int64_t cells, rows, tokens;
  std::int64_t width = 0;                 // tokens per cell, including padding
  std::vector<std::int64_t> counts = {};  // (E·B) executed tokens of each sequence
  std::vector<std::int64_t> places = {};  // (E, width) in B·T
  std::vector<std::int64_t> valid = {};   // (E, width) 0: padding
};

/// Angles of gathered tokens: (E, 1, 1, width, D/2).
RotaryAngles angles_of(const RotaryAngles& all, const Gathered& g) {
  if (!all.cosine.defined() || g.tokens == 1) return all;
  std::vector<std::int64_t> times;
  for (const std::int64_t place : g.places) times.push_back(place % g.tokens);
  return at_places(all,
                   at::tensor(times, at::kLong).to(all.cosine.device()).view({g.cells, 1, -1}));
}

/// Attention of gathered tokens, each sequence over its own cache. @param qkv (E, 1, width, 3C)
at::Tensor attend_rows(const ModelOptions& o, const at::Tensor& qkv, const RotaryAngles& angles,
                       const Gathered& g, std::vector<KvCache>& caches) {
  if (g.cells * g.rows == 1) return caches.front().attend(o, qkv, angles);
  at::Tensor mixed;
  for (std::int64_t e = 0; e < g.cells; ++e) {
    std::int64_t at = 0;
    for (std::int64_t b = 0; b < g.rows; ++b) {
      const auto r = static_cast<std::size_t>(e * g.rows + b);
      const std::int64_t n = g.counts[r];
      if (n == 0) continue;
      const auto own = [&](const at::Tensor& x) { return x.narrow(0, e, 1).narrow(2, at, n); };
      const auto turned = [&](const at::Tensor& x) {  // (E, 1, 1, T, D/2), the same for all
        if (!x.defined()) return x;
        return x.narrow(0, e, 1).narrow(3, x.size(3) == 1 ? 0 : at, x.size(3) == 1 ? 1 : n);
      };
      const at::Tensor y =
          caches[r].attend(o, own(qkv), {turned(angles.cosine), turned(angles.sine)});
      if (!mixed.defined()) {
        mixed = at::zeros({qkv.size(0), 1, qkv.size(2), y.size(3)}, y.options());
      }
      own(mixed).copy_(y);
      at += n;
    }
  }
  return mixed;
}

}  // namespace

at::Tensor skipping_step(const ModelOptions& o, const DecodeBlock& block, const at::Tensor& x,
                         const DepthPoint& at, const RotaryAngles& angles,
                         const Execution& execution, std::int64_t first, SkippingState& state) {
  const TokenRouting& routing = *block.routing;
  const std::int64_t cells = x.size(0), width = x.size(3);
  if (state.rows.empty()) state.rows.resize(static_cast<std::size_t>(cells * x.size(1)));
  const at::Tensor logits = routing.logits(x, state.memory);
  state.executed =
      decide(o.routing, execution, logits, routing.dynamic, at.step, first, state.earlier);
  if (execution.decider.value_or(o.routing.decider) == Decider::RunningTopk) {
    state.earlier = state.earlier.defined() ? at::cat({state.earlier, logits}, 2) : logits;
  }
  const Gathered g(state.executed);
  if (g.width == 0) return at::zeros_like(x);
  const bool everything = g.everything();
  at::Tensor places;
  at::Tensor rows = x.reshape({cells, 1, -1, width});
  if (!everything) {
    places = at::tensor(g.places, at::kLong)
                 .to(x.device())
                 .view({cells, g.width, 1})
                 .expand({cells, g.width, width});
    rows = x.flatten(1, 2).gather(1, places).unsqueeze(1);
  }
  const RotaryAngles turned = angles_of(angles, g);
  const Attend attend = [&](const at::Tensor& qkv) {
    return attend_rows(o, qkv, turned, g, state.rows);
  };
  at::Tensor f = block_step(o, block, rows, at.h, attend, nullptr);
  if (routing.gate) f = f * routing.gate(rows).unsqueeze(-1);
  if (everything) return f.view(x.sizes());
  f = f.squeeze(1);
  if (!g.whole()) {
    const at::Tensor fills =
        at::tensor(g.valid, at::kLong).to(x.device()).eq(0).view({cells, g.width, 1});
    f = f.masked_fill(fills, 0);
  }
  return at::zeros_like(x.flatten(1, 2)).scatter_(1, places, f).view(x.sizes());
}

}  // namespace depthgrid
