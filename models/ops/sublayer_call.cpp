#include "models/ops/sublayer_call.hpp"

#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>

namespace depthgrid {
namespace {

/// Contiguous within each cell; cells may be strided, as in an arena.
at::Tensor dense_inside(const at::Tensor& v) {
  return !v.defined() || v.select(0, 0).is_contiguous() ? v : v.contiguous();
}

/// Gated weights: transposed for the forward pass, not for the backward pass.
at::Tensor prepared(Pass pass, const SublayerMap& m) {
  if (pass == Pass::Backward && !m.gate.defined()) return m.weight;
  const std::int64_t cells = m.weight.size(0), out = m.weight.size(1), in = m.weight.size(2);
  const at::Tensor ready = at::empty({cells, out * in}, at::kFloat);
  at::parallel_for(0, cells, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t e = begin; e < end; ++e) {
      const float *weight = cell_data(m.weight, e), *gate = cell_data(m.gate, e);
      float* to = ready.mutable_data_ptr<float>() + e * out * in;
      pass == Pass::Forward ? turn_weights(weight, gate, out, in, to)
                            : gate_weights(weight, gate, out, in, to);
    }
  });
  return ready;
}

}  // namespace

const float* cell_data(const at::Tensor& v, std::int64_t cell) {
  return v.defined() ? v.const_data_ptr<float>() + cell * v.stride(0) : nullptr;
}

SublayerInputs inputs_of(const SublayerTensors& t) {
  return {t.scale,      t.shift,         t.first.weight, t.first.gate,
          t.first.bias, t.second.weight, t.second.gate,  t.second.bias};
}

SublayerTensors tensors_of(NormRow::Form form, const at::Tensor& eps, const at::Tensor* v) {
  return {form, v[0], v[1], eps, {v[2], v[3], v[4]}, {v[5], v[6], v[7]}};
}

PreparedSublayer::PreparedSublayer(Pass pass, const SublayerTensors& w) {
  SublayerInputs v = inputs_of(w);
  for (at::Tensor& each : v) each = dense_inside(each);
  tensors_ = tensors_of(w.form, w.eps, v.data());
  first_ = prepared(pass, tensors_.first);
  second_ = prepared(pass, tensors_.second);
  zeros_ = at::zeros({std::max(v[2].size(1), v[5].size(1))}, at::kFloat);
}

SublayerWeights PreparedSublayer::weights(std::int64_t cell) const {
  const SublayerTensors& t = tensors_;
  const auto map = [&](const SublayerMap& m, const at::Tensor& ready) {
    const float* at = cell_data(ready, cell);
    return AffineRows{at, at,
                      m.bias.defined() ? cell_data(m.bias, cell) : zeros_.const_data_ptr<float>(),
                      m.weight.size(2), m.weight.size(1)};
  };
  return {{t.form, cell_data(t.scale, cell), cell_data(t.shift, cell),
           static_cast<float>(t.eps.const_data_ptr<double>()[cell])},
          map(t.first, first_),
          map(t.second, second_)};
}

SublayerGradients::SublayerGradients(const SublayerTensors& t, const RowRuns& runs)
    : halves_(runs.halves()), inputs_(inputs_of(t)) {
  std::int64_t total = 0;
  for (std::size_t i = 0; i < kSublayerInputs; ++i) {
    begin_[i] = total;
    total += (size(i) + 15) / 16 * 16;
  }
  all_ = at::empty({runs.cells, kHalves, total}, at::kFloat);
}

/// Elements per cell; bias gradients are summed whether or not the map has one.
std::int64_t SublayerGradients::size(std::size_t i) const {
  if (i == 4 || i == 7) return inputs_[i == 4 ? 2 : 5].size(1);
  return inputs_[i].defined() ? inputs_[i].numel() / inputs_[i].size(0) : 0;
}

SublayerSums SublayerGradients::of(const RowRuns::Run& run) const {
  float* from = all_.mutable_data_ptr<float>() + run.task * all_.stride(1);
  const auto part = [&](std::size_t i) { return from + begin_[i]; };
  return {{inputs_[0].defined() ? part(0) : nullptr, inputs_[1].defined() ? part(1) : nullptr},
          {part(2), part(4)},
          {part(5), part(7)},
          run.index == 0};
}

void SublayerGradients::through_gate(float* from, std::int64_t cell, std::size_t weight) const {
  const at::Tensor &w = inputs_[weight], &gate = inputs_[weight + 1];
  if (!gate.defined()) return;
  gate_weights_backward(cell_data(w, cell), cell_data(gate, cell), w.size(1), w.size(2),
                        from + begin_[weight], from + begin_[weight + 1]);
}

SublayerInputs SublayerGradients::result() const {
  at::parallel_for(0, all_.size(0), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t e = begin; e < end; ++e) {
      float* from = all_.mutable_data_ptr<float>() + e * all_.stride(0);
      if (halves_ > 1) add_halves(from, from + all_.stride(1), all_.stride(1));
      through_gate(from, e, 2);
      through_gate(from, e, 5);
    }
  });
  SublayerInputs out;
  for (std::size_t i = 0; i < kSublayerInputs; ++i) {
    if (!inputs_[i].defined()) continue;
    out[i] = all_.select(1, 0).narrow(1, begin_[i], size(i)).view(inputs_[i].sizes());
  }
  return out;
}

KeptRows::KeptRows(const at::Tensor& input, std::int64_t inner_width, std::int64_t heads)
    : x(input) {
  const std::int64_t rows = x.numel() / x.size(-1);
  inner = at::empty({rows, inner_width}, x.options());
  statistics = at::empty({2, rows}, x.options());
  if (heads == 0) return;
  mixed = at::empty_like(x);
  normaliser = at::empty({rows, 2 * heads}, x.options());
}

KeptRows::KeptRows(const std::vector<at::Tensor>& saved, std::size_t from)
    : x(saved[from]),
      inner(saved[from + 1]),
      mixed(saved[from + 2]),
      normaliser(saved[from + 3]),
      statistics(saved[from + 4]) {}

SublayerRows KeptRows::rows(const RowRuns::Run& run, std::int64_t heads) const {
  const auto at = [&](const at::Tensor& v, std::int64_t width) -> float* {
    return v.defined() ? v.mutable_data_ptr<float>() + run.row * width : nullptr;
  };
  return {run.rows,
          x.const_data_ptr<float>() + run.row * x.size(-1),
          at(inner, inner.size(-1)),
          at(mixed, x.size(-1)),
          at(normaliser, 2 * heads),
          at(statistics, 1),
          at(statistics, 1) + statistics.size(1)};
}

std::int64_t rows_of_run(std::int64_t tokens) {
  return tokens * std::max<std::int64_t>(64 / tokens, 1);
}

HeadOptions heads_of(std::int64_t heads, std::int64_t tokens, const RotaryTables& rotary,
                     const RowRuns::Run& run) {
  const bool own = rotary.cosine.defined() && rotary.cosine.dim() == 4;
  const auto rows = [&](const at::Tensor& table) {
    return own ? table.const_data_ptr<float>() + run.row * table.size(3)
               : cell_data(table, run.cell);
  };
  return {heads, tokens, rows(rotary.cosine), rows(rotary.sine), own};
}

}  // namespace depthgrid
