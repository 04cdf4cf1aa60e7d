#include "models/ops/sublayer.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

namespace depthgrid {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;
using OptionalTensor = std::optional<at::Tensor>;

constexpr std::int64_t kHalves = 2;      // parts of a cell's rows that may run side by side
constexpr std::int64_t kRowsOfRun = 64;  // rows of a feed-forward run
constexpr std::int64_t kMostTokens = 256;
constexpr std::int64_t kWidest = 128;  // beyond, a large library's blocking pays

const float* cell(const at::Tensor& v, std::int64_t e) {
  return v.defined() ? v.const_data_ptr<float>() + e * v.stride(0) : nullptr;
}

/// Inner dimensions side by side; cells may lie apart, as in an arena.
at::Tensor dense_inside(const at::Tensor& v) {
  return !v.defined() || v.select(0, 0).is_contiguous() ? v : v.contiguous();
}

/// Everything a node's graph sees, in one order.
constexpr std::size_t kInputs = 8;
using Inputs = std::array<at::Tensor, kInputs>;

Inputs inputs_of(const SublayerTensors& t) {
  return {t.scale,      t.shift,         t.first.weight, t.first.gate,
          t.first.bias, t.second.weight, t.second.gate,  t.second.bias};
}

SublayerTensors tensors_of(std::int64_t form, const at::Tensor& eps, const Inputs& v) {
  return {
      static_cast<NormRow::Form>(form), v[0], v[1], eps, {v[2], v[3], v[4]}, {v[5], v[6], v[7]}};
}

enum class Way { There, Back };

/// The tensors of a call, its weights as the kernels want them, and how rows fall into runs.
class Call {
 public:
  Call(Way way, const at::Tensor& x, const SublayerTensors& w, std::int64_t run)
      : cells_(x.size(0)), rows_(x.size(1) * x.size(2)), run_(run) {
    Inputs v = inputs_of(w);
    for (at::Tensor& each : v) each = dense_inside(each);
    tensors_ = tensors_of(static_cast<std::int64_t>(w.form), w.eps, v);
    first_ = prepared(way, tensors_.first);
    second_ = prepared(way, tensors_.second);
    zeros_ = at::zeros({std::max(v[2].size(1), v[5].size(1))}, x.options());
  }

  const SublayerTensors& tensors() const { return tensors_; }

  SublayerWeights weights(std::int64_t e) const {
    const SublayerTensors& t = tensors_;
    const auto map = [&](const SublayerMap& m, const at::Tensor& ready) {
      const float* at = cell(ready, e);
      return AffineRows{at, at, m.bias.defined() ? cell(m.bias, e) : zeros_.const_data_ptr<float>(),
                        m.weight.size(2), m.weight.size(1)};
    };
    return {{t.form, cell(t.scale, e), cell(t.shift, e),
             static_cast<float>(t.eps.const_data_ptr<double>()[e])},
            map(t.first, first_),
            map(t.second, second_)};
  }

  /// Runs of a cell. With a single one, the second half has none.
  std::int64_t runs() const { return (rows_ + run_ - 1) / run_; }

  /// Calls work(cell, task, run of the task, first row, rows) for every run, in order.
  template <class Work>
  void for_runs(const Work& work) const {
    const std::int64_t runs = this->runs();
    at::parallel_for(0, cells_ * kHalves, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t task = begin; task < end; ++task) {
        const std::int64_t e = task / kHalves, half = task % kHalves;
        const std::int64_t from = (runs * half + 1) / kHalves,
                           to = (runs * (half + 1) + 1) / kHalves;
        for (std::int64_t r = from; r < to; ++r) {
          const std::int64_t row = r * run_;
          work(e, task, r - from, e * rows_ + row, std::min(run_, rows_ - row));
        }
      }
    });
  }

 private:
  /// Gated weights: transposed on the way there, as they lie on the way back.
  static at::Tensor prepared(Way way, const SublayerMap& m) {
    if (way == Way::Back && !m.gate.defined()) return m.weight;
    const std::int64_t out = m.weight.size(1), in = m.weight.size(2);
    const at::Tensor ready = at::empty({m.weight.size(0), out * in}, at::kFloat);
    at::parallel_for(0, m.weight.size(0), 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t e = begin; e < end; ++e) {
        float* to = ready.mutable_data_ptr<float>() + e * out * in;
        way == Way::There ? turn_weights(cell(m.weight, e), cell(m.gate, e), out, in, to)
                          : gate_weights(cell(m.weight, e), cell(m.gate, e), out, in, to);
      }
    });
    return ready;
  }

  SublayerTensors tensors_;
  std::int64_t cells_, rows_, run_;
  at::Tensor first_, second_, zeros_;
};

/// Gradients of weights, apart for each task; added up at the end.
class Sums {
 public:
  Sums(const SublayerTensors& t, std::int64_t runs)
      : halves_(runs < kHalves ? 1 : kHalves), inputs_(inputs_of(t)) {
    std::int64_t total = 0;
    for (std::size_t i = 0; i < kInputs; ++i) {
      begin_[i] = total;
      total += (size(i) + 15) / 16 * 16;
    }
    all_ = at::empty({t.first.weight.size(0), kHalves, total}, at::kFloat);
  }

  SublayerSums of(std::int64_t task, std::int64_t run) const {
    float* from = all_.mutable_data_ptr<float>() + task * all_.stride(1);
    const auto part = [&](std::size_t i) { return from + begin_[i]; };
    return {{inputs_[0].defined() ? part(0) : nullptr, inputs_[1].defined() ? part(1) : nullptr},
            {part(2), part(4)},
            {part(5), part(7)},
            run == 0};
  }

  /// In the order of `inputs_of`; undefined where the input is.
  Inputs result() const {
    at::parallel_for(0, all_.size(0), 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t e = begin; e < end; ++e) {
        float* from = all_.mutable_data_ptr<float>() + e * all_.stride(0);
        if (halves_ > 1) add_halves(from, from + all_.stride(1), all_.stride(1));
        through_gate(from, e, 2);
        through_gate(from, e, 5);
      }
    });
    Inputs out;
    for (std::size_t i = 0; i < kInputs; ++i) {
      if (!inputs_[i].defined()) continue;
      out[i] = all_.select(1, 0).narrow(1, begin_[i], size(i)).view(inputs_[i].sizes());
    }
    return out;
  }

 private:
  /// Elements a cell; biases are summed whether or not the map has one.
  std::int64_t size(std::size_t i) const {
    if (i == 4 || i == 7) return inputs_[i == 4 ? 2 : 5].size(1);
    return inputs_[i].defined() ? inputs_[i].numel() / inputs_[i].size(0) : 0;
  }

  void through_gate(float* from, std::int64_t e, std::size_t weight) const {
    const at::Tensor &w = inputs_[weight], &gate = inputs_[weight + 1];
    if (!gate.defined()) return;
    gate_weights_backward(cell(w, e), cell(gate, e), w.size(1), w.size(2), from + begin_[weight],
                          from + begin_[weight + 1]);
  }

  std::int64_t halves_;
  Inputs inputs_;
  std::array<std::int64_t, kInputs> begin_{};
  at::Tensor all_;
};

/// Tensors kept for the way back, rows of all cells below each other.
struct Kept {
  at::Tensor x, inner, mixed, normaliser, statistics;

  SublayerRows rows(std::int64_t first, std::int64_t count, std::int64_t heads) const {
    const auto at = [&](const at::Tensor& v, std::int64_t width) -> float* {
      return v.defined() ? v.mutable_data_ptr<float>() + first * width : nullptr;
    };
    return {count,
            x.const_data_ptr<float>() + first * x.size(-1),
            at(inner, inner.size(-1)),
            at(mixed, x.size(-1)),
            at(normaliser, 2 * heads),
            at(statistics, 1),
            at(statistics, 1) + statistics.size(1)};
  }
};

at::Tensor aside(std::int64_t rows, const SublayerTensors& t, std::int64_t heads) {
  const at::Tensor& w = t.first.weight;
  return at::empty({sublayer_workspace(rows, w.size(2), w.size(1), heads)}, at::kFloat);
}

Kept kept_for(const at::Tensor& x, const SublayerTensors& w) {
  const std::int64_t rows = x.numel() / x.size(-1);
  return {x,
          at::empty({rows, w.first.weight.size(1)}, x.options()),
          {},
          {},
          at::empty({2, rows}, x.options())};
}

void save(AutogradContext* ctx, const SublayerTensors& w, const Kept& k, const RotaryTables& r) {
  const Inputs inputs = inputs_of(w);
  variable_list all(inputs.begin(), inputs.end());
  for (const at::Tensor& v :
       {w.eps, k.x, k.inner, k.mixed, k.normaliser, k.statistics, r.cosine, r.sine}) {
    all.push_back(v);
  }
  ctx->save_for_backward(std::move(all));
  ctx->saved_data["form"] = static_cast<std::int64_t>(w.form);
}

struct Saved {
  SublayerTensors weights;
  Kept kept;
  RotaryTables rotary;

  explicit Saved(AutogradContext* ctx) {
    const variable_list v = ctx->get_saved_variables();
    Inputs inputs;
    std::copy_n(v.begin(), kInputs, inputs.begin());
    weights = tensors_of(ctx->saved_data["form"].toInt(), v[8], inputs);
    kept = {v[9], v[10], v[11], v[12], v[13]};
    rotary = {v[14], v[15]};
  }
};

HeadOptions heads_of(std::int64_t heads, const RotaryTables& rotary, std::int64_t e) {
  return {heads, cell(rotary.cosine, e), cell(rotary.sine, e)};
}

at::Tensor or_none(const OptionalTensor& v) {
  return v.value_or(at::Tensor());
}

OptionalTensor if_defined(const at::Tensor& v) {
  return v.defined() ? OptionalTensor(v) : std::nullopt;
}

class AttentionNode : public torch::autograd::Function<AttentionNode> {
 public:
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& input,
                            const OptionalTensor& scale, const OptionalTensor& shift,
                            const at::Tensor& first, const OptionalTensor& first_gate,
                            const OptionalTensor& first_bias, const at::Tensor& second,
                            const OptionalTensor& second_gate, const OptionalTensor& second_bias,
                            const at::Tensor& eps, std::int64_t form, std::int64_t heads,
                            const OptionalTensor& cosine, const OptionalTensor& sine) {
    const at::Tensor x = input.contiguous();
    const RotaryTables rotary{or_none(cosine), or_none(sine)};
    const Call call(
        Way::There, x,
        tensors_of(form, eps,
                   {or_none(scale), or_none(shift), first, or_none(first_gate), or_none(first_bias),
                    second, or_none(second_gate), or_none(second_bias)}),
        x.size(2));
    Kept kept = kept_for(x, call.tensors());
    kept.mixed = at::empty_like(x);
    kept.normaliser = at::empty({x.numel() / x.size(3), 2 * heads}, x.options());
    const at::Tensor y = at::empty_like(x);
    call.for_runs(
        [&](std::int64_t e, std::int64_t, std::int64_t, std::int64_t row, std::int64_t count) {
          const at::Tensor space = aside(count, call.tensors(), heads);
          attention_rows_forward(
              call.weights(e), heads_of(heads, rotary, e), kept.rows(row, count, heads),
              y.mutable_data_ptr<float>() + row * x.size(3), space.mutable_data_ptr<float>());
        });
    save(ctx, call.tensors(), kept, rotary);
    ctx->saved_data["heads"] = heads;
    return y;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const Saved saved(ctx);
    const at::Tensor& x = saved.kept.x;
    const std::int64_t heads = ctx->saved_data["heads"].toInt();
    const at::Tensor dy = grads[0].contiguous();
    const at::Tensor dx = at::empty_like(x);
    const Call call(Way::Back, x, saved.weights, x.size(2));
    const Sums sums(call.tensors(), call.runs());
    call.for_runs([&](std::int64_t e, std::int64_t task, std::int64_t run, std::int64_t row,
                      std::int64_t count) {
      const at::Tensor space = aside(count, call.tensors(), heads);
      attention_rows_backward(call.weights(e), heads_of(heads, saved.rotary, e),
                              saved.kept.rows(row, count, heads),
                              dy.const_data_ptr<float>() + row * x.size(3),
                              dx.mutable_data_ptr<float>() + row * x.size(3), sums.of(task, run),
                              space.mutable_data_ptr<float>());
    });
    const Inputs d = sums.result();
    return {dx, d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7], {}, {}, {}, {}, {}};
  }
};

class FeedForwardNode : public torch::autograd::Function<FeedForwardNode> {
 public:
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& input,
                            const OptionalTensor& scale, const OptionalTensor& shift,
                            const at::Tensor& first, const OptionalTensor& first_gate,
                            const OptionalTensor& first_bias, const at::Tensor& second,
                            const OptionalTensor& second_gate, const OptionalTensor& second_bias,
                            const at::Tensor& eps, std::int64_t form, std::int64_t act,
                            const OptionalTensor& addend) {
    const at::Tensor x = input.contiguous();
    const at::Tensor more = addend ? addend->contiguous() : at::Tensor();
    const Call call(
        Way::There, x,
        tensors_of(form, eps,
                   {or_none(scale), or_none(shift), first, or_none(first_gate), or_none(first_bias),
                    second, or_none(second_gate), or_none(second_bias)}),
        kRowsOfRun);
    const Kept kept = kept_for(x, call.tensors());
    const at::Tensor y = at::empty_like(x);
    const std::int64_t n = x.size(3);
    call.for_runs(
        [&](std::int64_t e, std::int64_t, std::int64_t, std::int64_t row, std::int64_t count) {
          const at::Tensor space = aside(count, call.tensors(), 0);
          feed_forward_rows_forward(
              call.weights(e), static_cast<RowActivation>(act), kept.rows(row, count, 0),
              more.defined() ? more.const_data_ptr<float>() + row * n : nullptr,
              y.mutable_data_ptr<float>() + row * n, space.mutable_data_ptr<float>());
        });
    save(ctx, call.tensors(), kept, {});
    ctx->saved_data["act"] = act;
    ctx->saved_data["addend"] = addend.has_value();
    return y;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const Saved saved(ctx);
    const at::Tensor& x = saved.kept.x;
    const auto act = static_cast<RowActivation>(ctx->saved_data["act"].toInt());
    const at::Tensor dy = grads[0].contiguous();
    const at::Tensor dx = at::empty_like(x);
    const Call call(Way::Back, x, saved.weights, kRowsOfRun);
    const Sums sums(call.tensors(), call.runs());
    const std::int64_t n = x.size(3);
    call.for_runs([&](std::int64_t e, std::int64_t task, std::int64_t run, std::int64_t row,
                      std::int64_t count) {
      const at::Tensor space = aside(count, call.tensors(), 0);
      feed_forward_rows_backward(call.weights(e), act, saved.kept.rows(row, count, 0),
                                 dy.const_data_ptr<float>() + row * n,
                                 dx.mutable_data_ptr<float>() + row * n, sums.of(task, run),
                                 space.mutable_data_ptr<float>());
    });
    const Inputs d = sums.result();
    const at::Tensor d_addend = ctx->saved_data["addend"].toBool() ? dy : at::Tensor();
    return {dx, d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7], {}, {}, {}, d_addend};
  }
};

}  // namespace

at::Tensor attention_sublayer(const at::Tensor& x, const SublayerTensors& w, std::int64_t heads,
                              const RotaryTables& rotary) {
  return AttentionNode::apply(x, if_defined(w.scale), if_defined(w.shift), w.first.weight,
                              if_defined(w.first.gate), if_defined(w.first.bias), w.second.weight,
                              if_defined(w.second.gate), if_defined(w.second.bias), w.eps,
                              static_cast<std::int64_t>(w.form), heads, if_defined(rotary.cosine),
                              if_defined(rotary.sine));
}

at::Tensor feed_forward_sublayer(const at::Tensor& x, const SublayerTensors& w, RowActivation act,
                                 const at::Tensor& addend) {
  return FeedForwardNode::apply(x, if_defined(w.scale), if_defined(w.shift), w.first.weight,
                                if_defined(w.first.gate), if_defined(w.first.bias), w.second.weight,
                                if_defined(w.second.gate), if_defined(w.second.bias), w.eps,
                                static_cast<std::int64_t>(w.form), static_cast<std::int64_t>(act),
                                if_defined(addend));
}

bool sublayer_serves(const at::Tensor& x, const SublayerTensors& w, std::int64_t heads) {
  const at::Tensor &a = w.first.weight, &b = w.second.weight;
  const auto plain = [](const at::Tensor& v) {
    return v.device().is_cpu() && v.scalar_type() == at::kFloat;
  };
  if (!plain(x) || !plain(a) || !plain(b)) return false;
  const bool lanes = x.size(3) % 16 == 0 && a.size(1) % 16 == 0;
  const bool fits = x.size(3) <= kWidest && (heads == 0 || x.size(2) <= kMostTokens);
  return lanes && fits && (heads > 0 || a.size(1) == b.size(2));
}

}  // namespace depthgrid
