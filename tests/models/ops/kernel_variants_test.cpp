// Every kernel's variants against each other. Kernels without sums over lanes and without products
// that FMA could fuse have the same bits for all instruction sets; the others have the same bits
// for AVX2 and AVX-512, and without FMA the same numbers up to rounding.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/isa.hpp"
#include "core/train/optimizer/block_sums.hpp"
#include "models/ops/cpu/depth_product_kernel.hpp"
#include "models/ops/cpu/lti_scan_kernel.hpp"
#include "models/ops/cpu/row_norm_kernel.hpp"
#include "models/ops/cpu/softplus_kernel.hpp"
#include "models/ops/cpu/sublayer_kernel.hpp"
#include "models/ops/cpu/token_attention_kernel.hpp"

namespace depthgrid {
namespace kernel_variants_test {

using Numbers = std::vector<float>;

/// Deterministic numbers in (-1, 1).
template <class T = float>
std::vector<T> waves(std::int64_t count, double pitch) {
  std::vector<T> x(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<T>(std::sin(pitch * static_cast<double>(i + 1)));
  }
  return x;
}

using Results = std::vector<std::vector<double>>;  // of each output

template <class... Outputs>
Results results(const Outputs&... outputs) {
  return {std::vector<double>(outputs.begin(), outputs.end())...};
}

struct KernelCase {
  std::string name;
  bool rounds_alike;  // also without FMA
  std::function<Results(Isa)> run;
  double rounding = 2e-5;  // of the largest number of an output, without FMA
};

void PrintTo(const KernelCase& c, std::ostream* out) {
  *out << c.name;
}

/// A block of both sublayers: forward and backward, all results.
/// @param rotary  also with rotated heads, and sublayers that are not sequential
Results block(Isa isa, RowActivation act, bool layer_norm, std::int64_t tokens,
              bool rotary = false) {
  const std::int64_t n = 48, hidden = 80, heads = 2, rows = 2 * tokens;
  const NormRow::Form form = layer_norm ? NormRow::Form::Layer : NormRow::Form::Rms;
  const Numbers scale = waves(n, 0.3), shift = waves(n, 0.7);
  const auto map = [&](std::int64_t in, std::int64_t out, Numbers& weight, Numbers& turned,
                       Numbers& bias, double pitch) {
    weight = waves(in * out, pitch);
    for (float& w : weight) w *= 0.2F;
    turned.resize(weight.size());
    turn_weights(weight.data(), nullptr, out, in, turned.data(), isa);
    bias = waves(out, 2 * pitch);
    return AffineRows{weight.data(), turned.data(), bias.data(), in, out};
  };
  Numbers w[4], t[4], b[4];
  const Numbers angles = waves(tokens * n / heads / 2 + 100, 0.7);
  const NormRow norm{form, scale.data(), layer_norm ? shift.data() : nullptr, 1e-5F};
  const BlockWeightsOfCell weights{
      {norm, map(n, 3 * n, w[0], t[0], b[0], 0.11), map(n, n, w[1], t[1], b[1], 0.13)},
      {norm, map(n, hidden, w[2], t[2], b[2], 0.17), map(hidden, n, w[3], t[3], b[3], 0.19)},
      {heads, tokens, rotary ? angles.data() : nullptr, rotary ? angles.data() + 100 : nullptr,
       false},
      act,
      0.5F};
  const Numbers x = waves(rows * n, 0.37), dy = waves(rows * n, 0.41);
  Numbers qkv(static_cast<std::size_t>(rows * 3 * n)), mixed(x.size()), middle(x.size());
  Numbers normaliser(static_cast<std::size_t>(2 * rows * heads)), inner(qkv.size());
  Numbers statistics(static_cast<std::size_t>(4 * rows)), y(x.size()), dx(x.size());
  const SublayerRows attention{rows,
                               x.data(),
                               qkv.data(),
                               mixed.data(),
                               normaliser.data(),
                               statistics.data(),
                               statistics.data() + rows};
  float* const between = rotary ? nullptr : middle.data();
  const SublayerRows forward{rows,
                             rotary ? x.data() : middle.data(),
                             inner.data(),
                             nullptr,
                             nullptr,
                             statistics.data() + 2 * rows,
                             statistics.data() + 3 * rows};
  Numbers workspace(static_cast<std::size_t>(
      2 * rows * n + sublayer_workspace(rows, n, 3 * n, heads, tokens) + 3 * rows * hidden));
  block_rows_forward(weights, {attention, forward, between}, y.data(), workspace.data(), isa);
  Numbers sums(static_cast<std::size_t>(4 * n + 4 * n * n + 4 * n + 2 * n * hidden + hidden + n));
  float* at = sums.data();
  const auto take = [&](std::int64_t count) {
    float* from = at;
    at += count;
    return from;
  };
  const auto affine = [&](std::int64_t in, std::int64_t out) {
    float* const weight = take(in * out);
    return AffineSums{weight, take(out)};
  };
  const auto norm_sums = [&] {
    float* const first = take(n);
    float* const second = take(n);
    return NormSums{first, layer_norm ? second : nullptr};
  };
  const NormSums first_norm = norm_sums(), second_norm = norm_sums();
  const AffineSums a = affine(n, 3 * n), o = affine(n, n);
  const AffineSums up = affine(n, hidden), down = affine(hidden, n);
  block_rows_backward(weights, {attention, forward, between}, dy.data(), dx.data(),
                      {first_norm, a, o, true}, {second_norm, up, down, true}, workspace.data(),
                      isa);
  return results(y, dx, sums, statistics, qkv, normaliser);
}

struct AffineCase {
  std::int64_t rows, in, out;
};

/// y, dx, the gradients of weight and bias, and the last two again, added to themselves.
Results affine(const AffineCase& c, Isa isa) {
  const Numbers w = waves(c.in * c.out, 0.11), bias = waves(c.out, 0.7);
  const Numbers x = waves(c.rows * c.in, 0.37), dy = waves(c.rows * c.out, 0.41);
  Numbers turned(w.size()), y(dy.size()), dx(x.size()), dw(w.size()), db(bias.size());
  turn_weights(w.data(), nullptr, c.out, c.in, turned.data(), isa);
  const AffineRows map{w.data(), turned.data(), bias.data(), c.in, c.out};
  affine_rows_forward(map, c.rows, x.data(), y.data(), isa);
  affine_rows_backward(map, c.rows, x.data(), dy.data(), dx.data(), {dw.data(), db.data()}, true,
                       isa);
  const Numbers dw_once = dw, db_once = db;
  affine_rows_backward(map, c.rows, x.data(), dy.data(), dx.data(), {dw.data(), db.data()}, false,
                       isa);
  return results(y, dx, dw_once, db_once, dw, db);
}

/// The same by the formulas, in double.
Results affine_reference(const AffineCase& c) {
  const Numbers w = waves(c.in * c.out, 0.11), bias = waves(c.out, 0.7);
  const Numbers x = waves(c.rows * c.in, 0.37), dy = waves(c.rows * c.out, 0.41);
  const auto at = [](const Numbers& m, std::int64_t row, std::int64_t width, std::int64_t column) {
    return static_cast<double>(m[static_cast<std::size_t>(row * width + column)]);
  };
  std::vector<double> y, dx, dw, db;
  for (std::int64_t r = 0; r < c.rows; ++r) {
    for (std::int64_t o = 0; o < c.out; ++o) {
      double sum = at(bias, 0, c.out, o);
      for (std::int64_t i = 0; i < c.in; ++i) sum += at(x, r, c.in, i) * at(w, o, c.in, i);
      y.push_back(sum);
    }
    for (std::int64_t i = 0; i < c.in; ++i) {
      double sum = 0;
      for (std::int64_t o = 0; o < c.out; ++o) sum += at(dy, r, c.out, o) * at(w, o, c.in, i);
      dx.push_back(sum);
    }
  }
  for (std::int64_t o = 0; o < c.out; ++o) {
    double bias_sum = 0;
    for (std::int64_t r = 0; r < c.rows; ++r) bias_sum += at(dy, r, c.out, o);
    db.push_back(bias_sum);
    for (std::int64_t i = 0; i < c.in; ++i) {
      double sum = 0;
      for (std::int64_t r = 0; r < c.rows; ++r) sum += at(dy, r, c.out, o) * at(x, r, c.in, i);
      dw.push_back(sum);
    }
  }
  Results all = {y, dx, dw, db, dw, db};
  for (const std::size_t twice : {4U, 5U}) {
    for (double& v : all[twice]) v *= 2;
  }
  return all;
}

template <GeluForm form>
Results gelu(Isa isa) {
  constexpr std::int64_t kCount = 1003;  // no multiple of a register
  Numbers x = waves(kCount, 0.37), y(kCount), dx(kCount);
  for (float& v : x) v *= 9;
  const Numbers dy = waves(kCount, 0.23);
  gelu_forward(form, x.data(), y.data(), kCount, isa);
  gelu_backward(form, x.data(), dy.data(), dx.data(), kCount, isa);
  return results(y, dx);
}

/// In bfloat16: the upper halves of the same numbers.
template <GeluForm form>
Results half_gelu(Isa isa) {
  constexpr std::int64_t kCount = 1003;
  const auto halves = [](const Numbers& x) {
    std::vector<std::uint16_t> out;
    for (const float v : x) {
      out.push_back(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(9 * v) >> 16U));
    }
    return out;
  };
  const auto x = halves(waves(kCount, 0.37)), dy = halves(waves(kCount, 0.23));
  std::vector<std::uint16_t> y(kCount), dx(kCount);
  gelu_forward(form, x.data(), y.data(), kCount, isa);
  gelu_backward(form, x.data(), dy.data(), dx.data(), kCount, isa);
  const auto wide = [](const std::vector<std::uint16_t>& from) {
    Numbers out;
    for (const std::uint16_t v : from) {
      out.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(v) << 16U));
    }
    return out;
  };
  return results(wide(y), wide(dx));
}

Results softplus_of_states(Isa isa) {
  constexpr std::int64_t kCount = 1003;
  Numbers x = waves(kCount, 0.37), y(kCount), dx(kCount);
  for (float& v : x) v *= 9;
  const Numbers dy = waves(kCount, 0.23);
  softplus_forward(x.data(), y.data(), kCount, isa);
  softplus_backward(x.data(), dy.data(), dx.data(), kCount, isa);
  return results(y, dx);
}

Results rotated_attention(Isa isa) {
  constexpr std::int64_t kTokens = 37, kChannels = 24, kRow = 3 * kChannels;
  const Numbers qkv = waves(kTokens * kRow, 0.31), g = waves(kTokens * kChannels, 0.17);
  const Numbers cosine = waves(kTokens * kChannels / 2, 0.5);
  const Numbers sine = waves(kTokens * kChannels / 2, 0.6);
  const float* from = qkv.data();
  const AttentionHead head{{from, kRow},
                           {from + kChannels, kRow},
                           {from + 2 * kChannels, kRow},
                           kTokens,
                           kChannels,
                           0.2F,
                           cosine.data(),
                           sine.data()};
  Numbers y(g.size()), normaliser(2 * kTokens), d(qkv.size());
  Numbers workspace(static_cast<std::size_t>(attention_workspace(kTokens, kChannels)));
  attention_forward(head, {y.data(), kChannels}, normaliser.data(), workspace.data(), isa);
  float* to = d.data();
  attention_backward(head, {y.data(), kChannels}, {g.data(), kChannels}, normaliser.data(),
                     {to, kRow}, {to + kChannels, kRow}, {to + 2 * kChannels, kRow},
                     workspace.data(), isa);
  return results(y, d, normaliser);
}

Results one_token(Isa isa) {
  constexpr std::int64_t kSlots = 21, kChannels = 40;
  const Numbers q = waves(3 * kChannels, 0.31);
  Numbers keys = waves(kSlots * kChannels, 0.41), values = waves(kSlots * kChannels, 0.43);
  Numbers y(kChannels);
  Numbers workspace(static_cast<std::size_t>(token_attention_workspace(kSlots, kChannels)));
  const Numbers angles = waves(kChannels, 0.7);
  Results all;
  for (const bool rotary : {false, true}) {
    token_attention({q.data(), q.data() + kChannels, q.data() + 2 * kChannels, keys.data(),
                     values.data(), kSlots, kChannels, 0.2F, rotary ? angles.data() : nullptr,
                     rotary ? angles.data() + kChannels / 2 : nullptr},
                    y.data(), workspace.data(), isa);
    for (auto& output : results(y, keys)) all.push_back(output);
  }
  return all;
}

template <class T>
Results norms(Isa isa) {
  constexpr std::int64_t kRowsHere = 5, kChannels = 77;
  const auto x = waves<T>(kRowsHere * kChannels, 0.37), dy = waves<T>(kRowsHere * kChannels, 0.2);
  const auto scale = waves<T>(kChannels, 0.3), shift = waves<T>(kChannels, 0.5);
  const auto w = waves<T>(3 * kChannels, 0.11);
  std::vector<T> y(x.size()), dx(x.size()), mean(kRowsHere), inverse(kRowsHere);
  std::vector<T> sums(2 * kChannels), out(3 * kRowsHere);
  const NormRows<T> rows{x.data(), scale.data(), shift.data(), kRowsHere, kChannels, 1e-5, true};
  norm_forward(rows, y.data(), mean.data(), inverse.data(), isa);
  norm_backward(rows, dy.data(), mean.data(), inverse.data(), dx.data(), sums.data(),
                sums.data() + kChannels, isa);
  norm_products(rows, w.data(), 3, out.data(), isa);
  // Without scale, shift and centring.
  const NormRows<T> bare{x.data(), nullptr, nullptr, kRowsHere, kChannels, 1e-5, false};
  std::vector<T> y2(x.size()), dx2(x.size()), mean2(kRowsHere), inverse2(kRowsHere);
  norm_forward(bare, y2.data(), mean2.data(), inverse2.data(), isa);
  norm_backward(bare, dy.data(), mean2.data(), inverse2.data(), dx2.data(),
                static_cast<T*>(nullptr), static_cast<T*>(nullptr), isa);
  return results(y, dx, mean, inverse, sums, out, y2, dx2, inverse2);
}

Results depth(Isa isa) {
  // Rows that are computed together, and a rest of each.
  constexpr std::int64_t kLayers = 8, kHidden = 7, kCount = 45;
  const auto g = waves(kHidden * kCount, 0.3), base = waves(kCount, 0.5);
  const auto m = waves(kLayers * kHidden, 0.7), dy = waves(kLayers * kCount, 0.9);
  Numbers y(kLayers * kCount), dg = waves(kHidden * kCount, 0.1), db(kCount), dm(m.size());
  const DepthBlock b{g.data(), base.data(), m.data(), kLayers, kHidden, kCount, kCount};
  depth_block_forward(b, y.data(), isa);
  depth_block_backward(b, {dy.data(), dg.data(), db.data(), dm.data()}, isa);
  return results(y, dg, db, dm);
}

template <class T>
Results scans(Isa isa) {
  constexpr std::int64_t kCount = 45, kSteps = 9;
  const auto a = waves<T>(kCount, 0.2), u = waves<T>(kSteps * kCount, 0.4);
  auto matrix = waves<T>(kCount * kCount, 0.6);
  for (T& x : matrix) x *= T(0.1);
  std::vector<T> h(u.size()), da(kCount), dense(u.size());
  diagonal_scan(ScanOrder::Forward, a.data(), u.data(), h.data(), kSteps, kCount, isa);
  diagonal_scan_gradient(u.data(), h.data(), da.data(), kSteps, kCount, isa);
  dense_scan(ScanOrder::Backward, matrix.data(), u.data(), dense.data(), kSteps, kCount, isa);
  std::vector<T> back(u.size());
  diagonal_scan(ScanOrder::Backward, a.data(), u.data(), back.data(), kSteps, kCount, isa);
  return results(h, da, dense, back);
}

Results weights(Isa isa) {
  constexpr std::int64_t kOut = 48, kIn = 32;
  const Numbers w = waves(kOut * kIn, 0.3), gate = waves(kOut, 0.7);
  Numbers turned(w.size()), gated(w.size()), halves = waves(kOut * kIn, 0.9);
  turn_weights(w.data(), gate.data(), kOut, kIn, turned.data(), isa);
  gate_weights(w.data(), gate.data(), kOut, kIn, gated.data(), isa);
  add_halves(halves.data(), w.data(), kOut * kIn, isa);
  return results(turned, gated, halves);
}

Results gate_gradient(Isa isa) {
  constexpr std::int64_t kOut = 16, kIn = 43;
  const Numbers w = waves(kOut * kIn, 0.3), gate = waves(kOut, 0.7);
  Numbers gradient = waves(kOut * kIn, 0.9), d_gate(kOut);
  gate_weights_backward(w.data(), gate.data(), kOut, kIn, gradient.data(), d_gate.data(), isa);
  return results(gradient, d_gate);
}

Results sums(Isa isa) {
  const Numbers x = waves(1999, 0.3);
  return {{sum_of_squares(x.data(), 1999, isa)}};
}

std::vector<KernelCase> cases() {
  return {
      {"block_erf_layer", false,
       [](Isa isa) { return block(isa, RowActivation::GeluErf, true, 16); }},
      {"block_tanh_rms", false,
       [](Isa isa) { return block(isa, RowActivation::GeluTanh, false, 13); }},
      {"block_relu", false, [](Isa isa) { return block(isa, RowActivation::Relu, true, 9); }},
      {"block_silu", false, [](Isa isa) { return block(isa, RowActivation::Silu, true, 21); }},
      {"block_rotary_parallel", false,
       [](Isa isa) { return block(isa, RowActivation::GeluErf, true, 11, true); }},
      {"affine_wide", false, [](Isa isa) { return affine({70, 304, 592}, isa); }},
      {"gelu_erf", false, gelu<GeluForm::Erf>},
      {"gelu_tanh", false, gelu<GeluForm::Tanh>},
      {"gelu_erf_bf16", false, half_gelu<GeluForm::Erf>, 1.0 / 256},
      {"gelu_tanh_bf16", false, half_gelu<GeluForm::Tanh>, 1.0 / 256},
      {"softplus", false, softplus_of_states},
      {"rotated_attention", false, rotated_attention},
      {"one_token", false, one_token},
      {"norms", false, norms<float>},
      {"norms_double", false, norms<double>},
      {"depth", false, depth},
      {"scans", false, scans<float>},
      {"scans_double", false, scans<double>},
      {"gate_gradient", false, gate_gradient},
      {"weights", true, weights},
      {"sum_of_squares", true, sums},
  };
}

TEST(AffineRows, AgreeWithTheFormulasForEverySizeAndInstructionSet) {
  // Sizes on both sides of tiles, and of what is copied together: 32 and 64 rows, 128 columns, 256
  // sums.
  for (const std::int64_t rows : {1, 7, 31, 33, 64, 70, 300}) {
    for (const std::int64_t in : {16, 48, 144, 272, 528}) {
      for (const std::int64_t out : {16, 80, 144}) {
        if (rows == 300 && in * out > 144 * 80) continue;
        const Results expected = affine_reference({rows, in, out});
        for (const Isa isa : supported_isas()) {
          const Results got = affine({rows, in, out}, isa);
          ASSERT_EQ(got.size(), expected.size());
          double worst = 0;
          for (std::size_t part = 0; part < got.size(); ++part) {
            ASSERT_EQ(got[part].size(), expected[part].size());
            for (std::size_t i = 0; i < got[part].size(); ++i) {
              worst = std::max(worst, std::abs(got[part][i] - expected[part][i]));
            }
          }
          EXPECT_LT(worst, 1e-4) << name_of(isa) << ": " << rows << ", " << in << ", " << out;
        }
      }
    }
  }
}

class KernelVariants : public ::testing::TestWithParam<KernelCase> {};

TEST_P(KernelVariants, HaveTheSameBitsForEveryInstructionSetWithFma) {
  const Results best = GetParam().run(supported_isas().front());
  for (const Isa isa : supported_isas()) {
    if (isa == Isa::Base && !GetParam().rounds_alike) continue;
    const Results other = GetParam().run(isa);
    ASSERT_EQ(other.size(), best.size());
    for (std::size_t part = 0; part < best.size(); ++part) {
      ASSERT_EQ(other[part].size(), best[part].size());
      EXPECT_EQ(
          std::memcmp(other[part].data(), best[part].data(), best[part].size() * sizeof(double)), 0)
          << name_of(isa) << " and " << name_of(supported_isas().front()) << ", output " << part;
    }
  }
}

TEST_P(KernelVariants, AgreeWithoutFmaUpToRounding) {
  const Results best = GetParam().run(supported_isas().front());
  const Results base = GetParam().run(Isa::Base);
  // Against the largest number of an output: sums whose terms cancel keep the rounding of these.
  // The formulas themselves are checked for every instruction set by models.kernels_base and
  // models.kernels_avx2.
  for (std::size_t part = 0; part < best.size(); ++part) {
    double largest = 0;
    for (const double x : best[part]) largest = std::max(largest, std::abs(x));
    for (std::size_t i = 0; i < best[part].size(); ++i) {
      ASSERT_NEAR(base[part][i], best[part][i], GetParam().rounding * largest)
          << "output " << part << ", number " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, KernelVariants, ::testing::ValuesIn(cases()),
                         [](const auto& c) { return c.param.name; });

}  // namespace kernel_variants_test
}  // namespace depthgrid
