#include <cmath>
#include <limits>
#include <numbers>

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn_like.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include "tests/support/model_cases.hpp"
#include "tests/support/toy_training.hpp"

namespace depthgrid::testing {
namespace layer_loop_test {

/// One cell's parameters by name, as a reference written for a single model reads them.
struct Weights {
  const Arena& arena;
  at::Tensor operator()(const std::string& name) const {
    return slot_view(const_cast<Arena&>(arena).values(), arena.layout().find(name))[0];
  }
};

at::Tensor norm(const Weights& w, const std::string& name, const at::Tensor& x) {
  return at::layer_norm(x, {x.size(-1)}) * w(name + ".scale") + w(name + ".shift");
}

at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  return at::matmul(x, weight.t()) + bias;
}

at::Tensor attention(const at::Tensor& qkv, std::int64_t heads) {
  const std::int64_t b = qkv.size(0), t = qkv.size(1), c = qkv.size(2) / 3;
  const auto split = [&](std::int64_t i) {
    return qkv.narrow(2, i * c, c).reshape({b, t, heads, c / heads}).transpose(1, 2);
  };
  const at::Tensor scores =
      at::matmul(split(0), split(1).transpose(2, 3)) / std::sqrt(static_cast<double>(c / heads));
  const at::Tensor future = at::ones({t, t}, at::kBool).triu(1);
  const at::Tensor p =
      at::softmax(scores.masked_fill(future, -std::numeric_limits<double>::infinity()), -1);
  return at::matmul(p, split(2)).transpose(1, 2).reshape({b, t, c});
}

at::Tensor features(const ModelOptions& o, double t) {
  const at::Tensor k =
      at::arange(1, o.time.frequencies + 1, at::kDouble) * (2 * std::numbers::pi * t);
  return at::cat({k.sin(), k.cos(), at::ones({1}, at::kDouble) * t}).to(at::kFloat);
}

/// The network g of one target at depth-time t.
at::Tensor network(const Weights& w, const ModelOptions& o, const std::string& target, double t) {
  const at::Tensor e = features(o, t);
  const std::string name = "modulation." + target;
  const at::Tensor hidden = at::relu(at::matmul(w(name + ".w1"), e) + w(name + ".b1").squeeze(0));
  return at::matmul(w(name + ".w2"), hidden) + w(name + ".b2").squeeze(0);
}

/// σ(g); rows of the weight are scaled by it.
at::Tensor gate(const Weights& w, const ModelOptions& o, const std::string& target, double t) {
  return at::sigmoid(network(w, o, target, t)).unsqueeze(1);
}

/// A = −softplus(base), B, C, D with a gate per row, Δ without one; zero-order hold with A's
/// inverse, token by token. x (B, T, C)
at::Tensor state_space(const Weights& w, const ModelOptions& o, const at::Tensor& x, double t) {
  const auto base = [&](const std::string& part) { return w("block.ssm." + part); };
  const auto gated = [&](const at::Tensor& value, const std::string& part) {
    return value * gate(w, o, "ssm." + part, t);
  };
  const at::Tensor a = gated(-(base("A").exp() + 1).log(), "A");  // (N, 1)
  const at::Tensor raw = network(w, o, "ssm.delta", t).unsqueeze(1);
  const at::Tensor delta = (raw.exp() + 1).log() + o.ssm.dt_min[0];
  const at::Tensor keep = (delta * a).exp();
  const at::Tensor b = (keep - 1) / a * gated(base("B"), "B");
  const at::Tensor c = gated(base("C"), "C"), d = gated(base("D"), "D").squeeze(1);
  at::Tensor h = at::zeros({x.size(0), o.ssm.states});
  std::vector<at::Tensor> rows;
  for (std::int64_t i = 0; i < x.size(1); ++i) {
    const at::Tensor token = x.select(1, i);
    h = h * keep.squeeze(1) + at::matmul(token, b.t());
    rows.push_back(at::matmul(h, c.t()) + d * token);
  }
  return at::stack(rows, 1);
}

/// Weight and bias of one target of tong at depth-time t, entry by entry of its hidden vector.
std::pair<at::Tensor, at::Tensor> generated(const Weights& w, const ModelOptions& o,
                                            const std::string& target, std::int64_t in, double t) {
  const std::string name = "block." + target;
  const at::Tensor a = at::matmul(w(name + ".time.w1"), features(o, t)) + w(name + ".time.b1")[0];
  const at::Tensor m =
      at::matmul(w(name + ".time.w2"), a * at::sigmoid(a)) + w(name + ".time.b2")[0];
  at::Tensor weight = w(name + ".base")[0];
  at::Tensor bias = w(name + ".bias_generator").select(0, 0) * m[0];
  for (std::int64_t k = 0; k < o.hypernet.hidden; ++k) {
    weight = weight + w(name + ".generator").select(0, k) * m[k];
    if (k > 0) bias = bias + w(name + ".bias_generator").select(0, k) * m[k];
  }
  return {weight.view({-1, in}), bias};
}

/// The residual transformer of one cell, written out layer by layer. tokens (B, T)
at::Tensor written_out(const Arena& arena, const ModelOptions& o, const at::Tensor& tokens,
                       const std::vector<double>& dt) {
  const Weights w{arena};
  at::Tensor x = w("embedding.weight")
                     .index_select(0, tokens.flatten())
                     .view({tokens.size(0), tokens.size(1), o.width});
  x = x + w("position.weight").narrow(0, 0, tokens.size(1));
  for (std::int64_t i = 0; i < o.layers; ++i) {
    const bool shared = o.family == "time_indexed", tong = o.family == "tong";
    const std::string b = shared || tong ? "block" : "layers." + std::to_string(i);
    const double t = static_cast<double>(i + 1) / static_cast<double>(o.layers);
    const auto map = [&](const at::Tensor& in, const std::string& part, const std::string& target) {
      if (tong) {
        const auto [weight, bias] = generated(w, o, part, in.size(-1), t);
        return linear(in, weight, bias);
      }
      const at::Tensor base = w(b + "." + part + ".weight");
      return linear(in, shared ? base * gate(w, o, target, t) : base,
                    w(b + "." + part + ".bias").squeeze(0));
    };
    const auto projected = [&](const at::Tensor& in) {
      if (tong) {
        return at::cat({map(in, "attn.q", ""), map(in, "attn.k", ""), map(in, "attn.v", "")}, -1);
      }
      at::Tensor weight = w(b + ".attn.qkv.weight");
      if (shared) {
        weight = weight * at::cat({gate(w, o, "q", t), gate(w, o, "k", t), gate(w, o, "v", t)});
      }
      return linear(in, weight, w(b + ".attn.qkv.bias").squeeze(0));
    };
    const at::Tensor qkv = projected(norm(w, b + ".norm1", x));
    const at::Tensor a = map(attention(qkv, o.heads), "attn.out", "out");
    const double h = dt[static_cast<std::size_t>(i)];
    const bool sequential = o.sublayers == Sublayers::Sequential;
    const at::Tensor y = sequential ? x + h * a : x;
    const at::Tensor normed = norm(w, b + ".norm2", y);
    const at::Tensor f = o.mixer == Mixer::Ssm
                             ? state_space(w, o, normed, t)
                             : map(at::gelu(map(normed, "mlp.up", "up")), "mlp.down", "down");
    x = sequential ? y + h * f : x + h * (a + f);
  }
  return at::matmul(norm(w, "final_norm", x), w("head.weight").t());
}

struct LoopCase {
  std::string name, family;
  Sublayers sublayers;
  ScaleKind kind;
  double scale;
  Mixer mixer = Mixer::Mlp;
};

/// Moves every parameter off its start, where scales are 1, and shifts and biases 0, and so could
/// be left out or exchanged unseen.
void move_weights(Arena& arena) {
  at::Tensor values = arena.values();
  values.add_(at::randn_like(values), 0.1);
}

class LayerLoop : public ::testing::TestWithParam<LoopCase> {};

TEST_P(LayerLoop, EulerEqualsTheLoopWrittenOut) {
  const LoopCase& c = GetParam();
  ModelOptions o = small_options(c.family);
  o.sublayers = c.sublayers;
  o.residual = {c.kind, {c.scale}};
  if (c.mixer == Mixer::Ssm) with_state_space(o);
  Built built(o, {7});
  move_weights(*built.arena);
  std::vector<double> dt(static_cast<std::size_t>(o.layers), c.scale);
  if (c.kind == ScaleKind::Learned) {
    slot_view(built.arena->values(), built.arena->layout().find("residual.scale")).fill_(c.scale);
  }
  if (c.kind == ScaleKind::LearnedPerLayer) {
    const at::Tensor learned =
        slot_view(built.arena->values(), built.arena->layout().find("residual.scale"));
    for (std::int64_t i = 0; i < o.layers; ++i) {
      dt[static_cast<std::size_t>(i)] = 0.3 + 0.2 * static_cast<double>(i);
      learned.select(1, i).fill_(dt[static_cast<std::size_t>(i)]);
    }
  }
  const at::Tensor tokens = at::randint(0, o.vocabulary, {2, 9}, at::kLong);

  const at::Tensor ours = built.model->logits(tokens.unsqueeze(0), {});

  const at::Tensor reference = written_out(*built.arena, o, tokens, dt);
  EXPECT_TRUE(at::allclose(ours[0], reference, 1e-4, 1e-5))
      << (ours[0] - reference).abs().max().item<float>();
}

std::vector<LoopCase> loop_cases() {
  std::vector<LoopCase> cases;
  for (const std::string family : {"standard", "time_indexed", "tong"}) {
    for (const Sublayers s : {Sublayers::Sequential, Sublayers::Parallel}) {
      const std::string name = family + (s == Sublayers::Sequential ? "_sequential" : "_parallel");
      cases.push_back({name + "_unit", family, s, ScaleKind::Fixed, 1});
      cases.push_back({name + "_one_over_L", family, s, ScaleKind::Fixed, 1.0 / 3});
      cases.push_back({name + "_learned", family, s, ScaleKind::Learned, 0.7});
      cases.push_back({name + "_per_layer", family, s, ScaleKind::LearnedPerLayer, 1});
    }
  }
  for (const Sublayers s : {Sublayers::Sequential, Sublayers::Parallel}) {
    const std::string name = s == Sublayers::Sequential ? "sequential" : "parallel";
    cases.push_back({"ssm_" + name, "time_indexed", s, ScaleKind::Fixed, 0.7, Mixer::Ssm});
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Families, LayerLoop, ::testing::ValuesIn(loop_cases()),
                         [](const auto& p) { return p.param.name; });

}  // namespace layer_loop_test
}  // namespace depthgrid::testing
