#include "core/probe/trajectory/kept_states.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>

#include "core/cells/cell_rng.hpp"

namespace depthgrid {
namespace {

template <class T>
std::span<const T> span_of(const at::Tensor& values) {
  return {values.const_data_ptr<T>(), static_cast<std::size_t>(values.numel())};
}

std::span<const std::byte> bytes_of(const at::Tensor& values) {
  return {static_cast<const std::byte*>(values.const_data_ptr()), values.nbytes()};
}

}  // namespace

std::vector<std::int64_t> kept_channels(std::int64_t width, std::optional<std::int64_t> count,
                                        std::uint64_t seed) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(width));
  std::iota(out.begin(), out.end(), 0);
  if (!count || *count >= width) return out;
  const at::Tensor draws = at::empty({1, 1, width}, at::kFloat);
  fill_uniform(draws, {seed}, {.stream = stream_id("probe/state_channels")});
  const auto* order = draws.const_data_ptr<float>();
  std::ranges::stable_sort(out, {}, [order](std::int64_t channel) { return order[channel]; });
  out.resize(static_cast<std::size_t>(*count));
  std::ranges::sort(out);
  return out;
}

void KeptStates::add(const std::vector<at::Tensor>& states, std::int64_t first) {
  if (what_.sequences <= 0) return;
  for (const at::Tensor& state : states) {  // also of sequences that are not kept
    const at::Tensor sound = at::isfinite(state).flatten(1).all(1).cpu();
    sound_ = sound_.defined() ? sound_.logical_and(sound) : sound;
  }
  const std::int64_t count = std::min(what_.sequences - first, states[0].size(1));
  if (count <= 0) return;
  const std::int64_t width = states[0].size(3);
  if (channels_.empty()) channels_ = kept_channels(width, what_.channels, what_.seed);
  const bool all = static_cast<std::int64_t>(channels_.size()) == width;
  const at::Tensor chosen = at::tensor(channels_, at::kLong).to(states[0].device());
  std::vector<at::Tensor> edges;
  for (const at::Tensor& state : states) {
    const at::Tensor part = state.narrow(1, 0, count);
    const at::Tensor kept = all ? part : part.index_select(3, chosen);
    edges.push_back(kept.to(what_.half ? at::kHalf : at::kFloat).cpu());
  }
  passes_.push_back(at::stack(edges, 1));
}

void KeptStates::hand_over(std::int64_t step, const ProbeSubject& subject, RecordSink& out) const {
  if (passes_.empty()) return;
  std::int64_t sequences = 0;
  for (const at::Tensor& pass : passes_) sequences += pass.size(2);
  const ProbeSet& set = subject.set();
  const at::Tensor ids =
      set.windows.narrow(0, 0, sequences).narrow(1, 0, set.tokens()).to(at::kInt).contiguous();
  const at::Tensor times = subject.edge_times();
  for (std::int64_t e = 0; e < sound_.size(0); ++e) {
    if (!sound_[e].item<bool>()) continue;
    std::vector<at::Tensor> parts;  // one cell after the other: no copy of all of them
    for (const at::Tensor& pass : passes_) parts.push_back(pass[e]);
    const at::Tensor time = times[e].contiguous(), states = at::cat(parts, 1);
    out.keep(static_cast<std::size_t>(e), {.step = step,
                                           .half = what_.half,
                                           .sequences = sequences,
                                           .edge_times = span_of<double>(time),
                                           .channels = channels_,
                                           .token_ids = span_of<std::int32_t>(ids),
                                           .states = bytes_of(states)});
  }
}

}  // namespace depthgrid
