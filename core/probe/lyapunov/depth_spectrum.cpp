#include "core/probe/lyapunov/depth_spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include "core/base/nan.hpp"
#include "core/probe/lyapunov/lanczos.hpp"
#include "core/probe/lyapunov/tong_procedure.hpp"
#include "core/probe/probe_subject.hpp"

namespace depthgrid {
namespace {

/// ln of the Frobenius norm of each sequence's state, (E, B), entries added in order.
at::Tensor log_norms(const at::Tensor& x) {
  const at::Tensor wide = x.to(at::kCPU, at::kDouble).contiguous();
  const std::int64_t entries = state_entries(x.sizes());
  const at::Tensor out = at::empty({x.size(0), x.size(1)}, at::kDouble);
  const double* from = wide.const_data_ptr<double>();
  auto* to = out.mutable_data_ptr<double>();
  for (std::int64_t i = 0; i < out.numel(); ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < entries; ++j, ++from) sum += *from * *from;
    to[i] = std::log(sum) / 2;
  }
  return out;
}

}  // namespace

at::Tensor advance_frame(const TangentMap& step, at::Tensor& frame) {
  const at::Tensor image =
      each_direction([&](const at::Tensor& v) { return step.forward(v); }, step.sizes(), frame);
  at::Tensor rates = at::full(frame.sizes().slice(0, 3), kNaN, frame.options());
  frame = at::full(frame.sizes(), kNaN, frame.options());
  for (std::int64_t e = 0; e < image.size(0); ++e) {
    for (std::int64_t b = 0; b < image.size(1); ++b) {
      if (!all_finite(image[e][b])) continue;
      const RowsQr qr = qr_of_rows(image[e][b]);
      frame[e][b].copy_(qr.q);
      rates[e][b].copy_(qr.r.diagonal().abs().log());
    }
  }
  return rates;
}

at::Tensor influence_on(const TangentMap& map, std::int64_t token, std::int64_t probes,
                        const DirectionDraw& draw) {
  const at::IntArrayRef state = map.sizes();
  const std::int64_t cells = state[0], batch = state[1], tokens = state[2], width = state[3];
  const at::Tensor draws = normal_directions({cells, batch, width}, probes, draw);
  const at::Tensor sum = at::zeros({cells, batch, tokens}, at::kDouble);
  auto sums = sum.accessor<double, 3>();
  for (std::int64_t i = 0; i < probes; ++i) {
    const at::Tensor w = at::zeros(state, at::kDouble);
    w.select(2, token).copy_(draws.select(2, i));
    const at::Tensor pulled = map.transposed(w).to(at::kCPU, at::kDouble).contiguous();
    const auto entries = pulled.accessor<double, 4>();
    for (std::int64_t e = 0; e < cells; ++e) {
      for (std::int64_t b = 0; b < batch; ++b) {
        for (std::int64_t t = 0; t < tokens; ++t) {
          for (std::int64_t c = 0; c < width; ++c) {
            sums[e][b][t] += entries[e][b][t][c] * entries[e][b][t][c];
          }
        }
      }
    }
  }
  return sum / static_cast<double>(probes);
}

DepthSpectrum depth_spectrum(const DepthTrack& track, std::int64_t steps, const at::Tensor& start,
                             const DepthSpectrumOptions& options) {
  SubspaceOptions subspace = options.subspace;
  const std::int64_t entries = state_entries(start.sizes());
  if (entries <= kCompleteEntries) subspace.oversampling = std::max(entries, subspace.oversampling);
  const auto draw = [&](std::string_view use) {
    return DirectionDraw{subspace.seed, use, subspace.first_sequence};
  };
  DepthSpectrum out;
  out.entries = entries;
  {
    const TangentMap whole([&](const at::Tensor& x) { return track.advance(x, 0, steps); }, start);
    out.raw = largest_stretches(whole, subspace);
    out.growth = log_norms(whole.value()) - log_norms(start);
    if (options.influence_probes > 0) {
      out.influence = influence_on(whole, start.size(2) - 1, options.influence_probes,
                                   draw("lyapunov/influence"));
    }
  }
  if (options.final_norm) {
    const TangentMap seen(
        [&](const at::Tensor& x) { return options.final_norm(track.advance(x, 0, steps)); }, start);
    out.normalised = largest_stretches(seen, subspace);
  }
  at::Tensor x = start;
  at::Tensor frame =
      out.raw.directions.narrow(2, 0, std::min(subspace.exponents, entries)).contiguous();
  std::vector<at::Tensor> stretch, log_norm_of, rate;
  TongProcedure tong;
  for (std::int64_t l = 0; l < steps; ++l) {
    const TangentMap step([&](const at::Tensor& y) { return track.advance(y, l, l + 1); }, x);
    const std::string place = "/" + std::to_string(l);
    stretch.push_back(largest_log_stretch(step, draw("lyapunov/stretch" + place)));
    log_norm_of.push_back(log_norm(step, draw("lyapunov/log_norm" + place)) - 1);
    rate.push_back(advance_frame(step, frame));
    if (options.tong) tong.advance(step);
    x = step.value();
  }
  out.step_stretch = at::stack(stretch, 2);
  out.step_log_norm = at::stack(log_norm_of, 2);
  out.step_rate = at::stack(rate, 2);
  if (options.tong) out.tong = tong.largest();
  return out;
}

}  // namespace depthgrid
