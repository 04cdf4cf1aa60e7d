#include "models/ops/sublayer.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/linspace.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/softmax.h>
#include <torch/csrc/autograd/autograd.h>

#include "models/ops/whole_block.hpp"

namespace depthgrid {
namespace sublayer_test {

struct Shape {
  std::int64_t cells, rows, tokens, width, heads, hidden;
};

struct SublayerCase {
  std::string name;
  Shape shape;
  NormRow::Form norm = NormRow::Form::Layer;
  bool bias = true;
  bool gate = false;
  bool rotary = false;
  RowActivation act = RowActivation::GeluErf;
};

void PrintTo(const SublayerCase& c, std::ostream* out) {
  *out << c.name;
}

at::Tensor random(at::IntArrayRef sizes, double scale) {
  return at::randn(sizes, at::kDouble) * scale;
}

SublayerTensors tensors(const SublayerCase& c, std::int64_t inner, std::int64_t back) {
  const Shape& s = c.shape;
  SublayerTensors w;
  w.form = c.norm;
  if (c.norm != NormRow::Form::None) w.scale = random({s.cells, s.width}, 0.3) + 1;
  if (c.norm == NormRow::Form::Layer) w.shift = random({s.cells, s.width}, 0.3);
  w.eps = at::full({s.cells}, 1e-5, at::kDouble);
  // Scores of a width keep the size of those at 64: a sharper softmax would enlarge rounding.
  const double scale = 0.2 * std::sqrt(std::min(1.0, 64.0 / static_cast<double>(s.width)));
  w.first.weight = random({s.cells, inner, s.width}, scale);
  w.second.weight = random({s.cells, s.width, back}, scale);
  if (c.bias) {
    w.first.bias = random({s.cells, 1, inner}, 0.5);
    w.second.bias = random({s.cells, 1, s.width}, 0.5);
  }
  if (c.gate) {
    w.first.gate = random({s.cells, inner, 1}, 0.3) + 0.5;
    w.second.gate = random({s.cells, s.width, 1}, 0.3) + 0.5;
  }
  return w;
}

std::vector<at::Tensor*> all_of(SublayerTensors& w) {
  std::vector<at::Tensor*> out;
  for (at::Tensor* v : {&w.scale, &w.shift, &w.first.weight, &w.first.gate, &w.first.bias,
                        &w.second.weight, &w.second.gate, &w.second.bias}) {
    if (v->defined()) out.push_back(v);
  }
  return out;
}

at::Tensor normed(const SublayerTensors& w, const at::Tensor& x) {
  if (w.form == NormRow::Form::None) return x;
  const at::Tensor c = w.form == NormRow::Form::Layer ? x - x.mean(-1, true) : x;
  at::Tensor y = c * (c.square().mean(-1, true) + 1e-5).rsqrt();
  const auto wide = [](const at::Tensor& v) { return v.unsqueeze(1).unsqueeze(1); };
  y = y * wide(w.scale);
  return w.shift.defined() ? y + wide(w.shift) : y;
}

at::Tensor mapped(const SublayerMap& m, const at::Tensor& x) {
  const at::Tensor weight = m.gate.defined() ? m.weight * m.gate : m.weight;
  const at::Tensor y = at::matmul(x, weight.transpose(1, 2).unsqueeze(1));
  return m.bias.defined() ? y + m.bias.unsqueeze(1) : y;
}

RotaryTables tables(const Shape& s, at::ScalarType dtype) {
  const std::int64_t half = s.width / s.heads / 2;
  const at::Tensor rate = at::arange(half, at::kDouble) * (-1.0 / static_cast<double>(half));
  const at::Tensor angle = at::arange(s.tokens, at::kDouble).unsqueeze(1) *
                           at::full({half}, 100.0, at::kDouble).pow(rate);
  const at::Tensor all = angle.unsqueeze(0).expand({s.cells, -1, -1}).contiguous();
  return {all.cos().to(dtype), all.sin().to(dtype)};
}

at::Tensor turned(const RotaryTables& r, const at::Tensor& x) {  // (E, B, H, T, D)
  const std::int64_t half = x.size(-1) / 2;
  const at::Tensor c = r.cosine.unsqueeze(1).unsqueeze(1), s = r.sine.unsqueeze(1).unsqueeze(1);
  const at::Tensor a = x.narrow(-1, 0, half), b = x.narrow(-1, half, half);
  return at::cat({a * c - b * s, b * c + a * s}, -1);
}

/// The formulas written out, in double.
at::Tensor reference_attention(const SublayerCase& c, const SublayerTensors& w,
                               const at::Tensor& x) {
  const Shape& s = c.shape;
  const std::int64_t channels = s.width / s.heads;
  const at::Tensor parts = mapped(w.first, normed(w, x))
                               .view({s.cells, s.rows, s.tokens, 3, s.heads, channels})
                               .permute({3, 0, 1, 4, 2, 5});
  at::Tensor q = parts[0], k = parts[1];
  if (c.rotary) {
    const RotaryTables r = tables(s, at::kDouble);
    q = turned(r, q);
    k = turned(r, k);
  }
  const at::Tensor future = at::ones({s.tokens, s.tokens}, at::kBool).triu(1);
  const at::Tensor scores =
      (at::matmul(q, k.transpose(-1, -2)) / std::sqrt(static_cast<double>(channels)))
          .masked_fill(future, -INFINITY);
  const at::Tensor mixed = at::matmul(at::softmax(scores, -1), parts[2])
                               .transpose(2, 3)
                               .reshape({s.cells, s.rows, s.tokens, s.width});
  return mapped(w.second, mixed);
}

at::Tensor reference_feed_forward(const SublayerCase& c, const SublayerTensors& w,
                                  const at::Tensor& x, const at::Tensor& addend) {
  const at::Tensor u = mapped(w.first, normed(w, x));
  const at::Tensor a = c.act == RowActivation::GeluErf    ? at::gelu(u)
                       : c.act == RowActivation::GeluTanh ? at::gelu(u, "tanh")
                       : c.act == RowActivation::Relu     ? at::relu(u)
                                                          : at::silu(u);
  return mapped(w.second, a) + addend;
}

using Body = std::function<at::Tensor(const SublayerTensors&, const at::Tensor&)>;

/// Result and gradients of everything, x first.
std::vector<at::Tensor> run(const SublayerTensors& given, const at::Tensor& input,
                            const at::Tensor& dy, at::ScalarType dtype, const Body& body) {
  SublayerTensors w = given;
  const auto leaf = [&](const at::Tensor& v) {
    return v.detach().to(dtype).clone().requires_grad_();
  };
  for (at::Tensor* v : all_of(w)) *v = leaf(*v);
  const at::Tensor x = leaf(input);
  const at::Tensor y = body(w, x);
  torch::autograd::backward({y}, {dy.to(dtype)});
  std::vector<at::Tensor> out = {y.detach(), x.grad()};
  for (at::Tensor* v : all_of(w)) out.push_back(v->grad());
  return out;
}

void expect_close(const std::vector<at::Tensor>& ours, const std::vector<at::Tensor>& reference) {
  ASSERT_EQ(ours.size(), reference.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const double size = reference[i].abs().max().item<double>();
    const double error = (ours[i].to(at::kDouble) - reference[i]).abs().max().item<double>();
    EXPECT_LE(error, 3e-6 * size) << "tensor " << i;
  }
}

class Sublayer : public ::testing::TestWithParam<SublayerCase> {
 protected:
  void SetUp() override {
    at::manual_seed(7);
    const Shape& s = GetParam().shape;
    if (s.width > widest_sublayer()) GTEST_SKIP() << "left to LibTorch's products here";
    x_ = random({s.cells, s.rows, s.tokens, s.width}, 1);
    dy_ = random(x_.sizes(), 1);
    addend_ = random(x_.sizes(), 1);
  }

  std::vector<at::Tensor> attention(const SublayerTensors& w) const {
    const SublayerCase& c = GetParam();
    return run(w, x_, dy_, at::kFloat, [&](const SublayerTensors& t, const at::Tensor& x) {
      EXPECT_TRUE(sublayer_serves(x, t, c.shape.heads));
      return attention_sublayer(x, t, c.shape.heads,
                                c.rotary ? tables(c.shape, at::kFloat) : RotaryTables{});
    });
  }

  std::vector<at::Tensor> feed_forward(const SublayerTensors& w) const {
    return run(w, x_, dy_, at::kFloat, [&](const SublayerTensors& t, const at::Tensor& x) {
      EXPECT_TRUE(sublayer_serves(x, t, 0));
      return feed_forward_sublayer(x, t, GetParam().act, addend_.to(at::kFloat));
    });
  }

  at::Tensor x_, dy_, addend_;
};

TEST_P(Sublayer, AttentionAndItsGradientsAgreeWithTheFormulasInDouble) {
  const SublayerCase& c = GetParam();
  const SublayerTensors w = tensors(c, 3 * c.shape.width, c.shape.width);
  expect_close(attention(w),
               run(w, x_, dy_, at::kDouble, [&](const SublayerTensors& t, const at::Tensor& x) {
                 return reference_attention(c, t, x);
               }));
}

TEST_P(Sublayer, FeedForwardAndItsGradientsAgreeWithTheFormulasInDouble) {
  const SublayerCase& c = GetParam();
  const SublayerTensors w = tensors(c, c.shape.hidden, c.shape.hidden);
  expect_close(feed_forward(w),
               run(w, x_, dy_, at::kDouble, [&](const SublayerTensors& t, const at::Tensor& x) {
                 return reference_feed_forward(c, t, x, addend_);
               }));
}

TEST_P(Sublayer, ThreadsChangeNoBit) {
  const SublayerCase& c = GetParam();
  const SublayerTensors w = tensors(c, 3 * c.shape.width, c.shape.width);
  const SublayerTensors f = tensors(c, c.shape.hidden, c.shape.hidden);
  const int before = at::get_num_threads();
  std::vector<std::vector<at::Tensor>> results;
  for (const int threads : {1, 2}) {
    at::set_num_threads(threads);
    results.push_back(attention(w));
    for (at::Tensor& v : feed_forward(f)) results.back().push_back(v);
  }
  at::set_num_threads(before);
  for (std::size_t i = 0; i < results[0].size(); ++i) {
    EXPECT_TRUE(results[0][i].equal(results[1][i])) << "tensor " << i;
  }
}

/// Both sublayers as one node against one after the other, each proved against the formulas above.
TEST_P(Sublayer, AWholeBlockIsItsTwoSublayers) {
  const SublayerCase& c = GetParam();
  const Shape& s = c.shape;
  const RotaryTables rotary = c.rotary ? tables(s, at::kFloat) : RotaryTables{};
  const SublayerTensors attention = tensors(c, 3 * s.width, s.width);
  const SublayerTensors second = tensors(c, s.hidden, s.hidden);
  for (const bool sequential : {false, true}) {
    const at::Tensor h = sequential ? at::linspace(0.3, 0.9, s.cells, at::kFloat) : at::Tensor();
    std::vector<std::vector<at::Tensor>> results;
    for (const bool whole : {true, false}) {
      SublayerTensors a = attention;
      SublayerTensors f = second;
      const auto leaf = [](const at::Tensor& v) {
        return v.detach().to(at::kFloat).clone().requires_grad_();
      };
      for (SublayerTensors* w : {&a, &f}) {
        for (at::Tensor* v : all_of(*w)) *v = leaf(*v);
      }
      const at::Tensor x = leaf(x_);
      at::Tensor y;
      if (whole) {
        const WholeBlock block{a, f, s.heads, c.act, rotary, h};
        ASSERT_TRUE(whole_block_serves(x, block));
        y = whole_block(x, block);
      } else {
        const at::Tensor branch = attention_sublayer(x, a, s.heads, rotary);
        const at::Tensor middle = sequential ? x + h.view({-1, 1, 1, 1}) * branch : x;
        y = feed_forward_sublayer(middle, f, c.act, branch);
      }
      torch::autograd::backward({y}, {dy_.to(at::kFloat)});
      std::vector<at::Tensor> out = {y.detach(), x.grad()};
      for (SublayerTensors* w : {&a, &f}) {
        for (at::Tensor* v : all_of(*w)) out.push_back(v->grad());
      }
      results.push_back(std::move(out));
    }
    for (at::Tensor& v : results[1]) v = v.to(at::kDouble);
    expect_close(results[0], results[1]);
  }
}

TEST(PackedAttention, AgreesWithTheFormulasInDoubleAtAnyWidthOfAHead) {
  for (const auto& [tokens, channels] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 4}, {7, 6}, {33, 20}, {70, 48}}) {
    at::manual_seed(3);
    SublayerTensors w;
    w.form = NormRow::Form::None;
    const at::Tensor qkv = random({2, 2, tokens, 6 * channels}, 1);
    const at::Tensor dy = random({2, 2, tokens, 2 * channels}, 1);
    const auto ours = run(w, qkv, dy, at::kFloat, [&](const SublayerTensors&, const at::Tensor& x) {
      return packed_attention(x, 2, {});
    });
    expect_close(ours,
                 run(w, qkv, dy, at::kDouble, [&](const SublayerTensors&, const at::Tensor& x) {
                   const at::Tensor parts =
                       x.view({2, 2, tokens, 3, 2, channels}).permute({3, 0, 1, 4, 2, 5});
                   const at::Tensor future = at::ones({tokens, tokens}, at::kBool).triu(1);
                   const at::Tensor scores = (at::matmul(parts[0], parts[1].transpose(-1, -2)) /
                                              std::sqrt(static_cast<double>(channels)))
                                                 .masked_fill(future, -INFINITY);
                   return at::matmul(at::softmax(scores, -1), parts[2])
                       .transpose(2, 3)
                       .reshape({2, 2, tokens, 2 * channels});
                 }));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cases, Sublayer,
    ::testing::Values(
        SublayerCase{.name = "small", .shape = {2, 4, 16, 32, 2, 64}},
        SublayerCase{.name = "one_sequence", .shape = {3, 1, 5, 16, 1, 16}},
        SublayerCase{.name = "rows_that_fill_no_run", .shape = {2, 3, 37, 48, 3, 80}, .gate = true},
        SublayerCase{.name = "rms_without_bias",
                     .shape = {1, 2, 24, 32, 4, 128},
                     .norm = NormRow::Form::Rms,
                     .bias = false,
                     .act = RowActivation::GeluTanh},
        SublayerCase{.name = "no_norm_relu",
                     .shape = {1, 2, 9, 32, 1, 32},
                     .norm = NormRow::Form::None,
                     .gate = true,
                     .act = RowActivation::Relu},
        SublayerCase{.name = "rotary_silu",
                     .shape = {2, 2, 70, 64, 4, 96},
                     .rotary = true,
                     .act = RowActivation::Silu},
        SublayerCase{.name = "wide", .shape = {1, 2, 40, 128, 4, 272}},
        SublayerCase{.name = "wider", .shape = {1, 1, 64, 256, 4, 512}}),
    [](const auto& test) { return test.param.name; });

}  // namespace sublayer_test
}  // namespace depthgrid
