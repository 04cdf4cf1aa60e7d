#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <c10/core/InferenceMode.h>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/isa.hpp"
#include "core/base/json_text.hpp"
#include "core/base/machine.hpp"
#include "core/base/output.hpp"
#include "core/train/optimizer/adam.hpp"
#include "core/train/optimizer/block_sums.hpp"
#include "models/ops/cpu/depth_product_kernel.hpp"
#include "models/ops/cpu/lti_scan_kernel.hpp"
#include "models/ops/cpu/row_norm_kernel.hpp"
#include "models/ops/cpu/sublayer_kernel.hpp"
#include "models/ops/cpu/token_attention_kernel.hpp"
#include "sweeps/report/table.hpp"
#include "worker/bench/bench.hpp"
#include "worker/process/provenance.hpp"

namespace depthgrid {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kWidths[] = {16, 32, 64, 128, 256, 512};
constexpr std::int64_t kTokens[] = {16, 32, 64, 128, 256, 512};
constexpr double kRoundSeconds = 1e-3;  // at least, for a round of repetitions
constexpr int kTimedRounds = 7;         // of which the fastest counts

/// Seconds of one call.
double seconds_of(const std::function<void()>& run) {
  run();
  double best = std::numeric_limits<double>::infinity();
  for (int round = 0, calls = 1; round < kTimedRounds;) {
    const Stopwatch clock;
    for (int i = 0; i < calls; ++i) run();
    const double seconds = clock.seconds();
    if (seconds < kRoundSeconds) {
      calls *= 2;
      continue;
    }
    best = std::min(best, seconds / calls);
    ++round;
  }
  return best;
}

float* floats(const at::Tensor& x) {
  return x.mutable_data_ptr<float>();
}

at::Tensor random(std::int64_t rows, std::int64_t columns) {
  return at::randn({rows, columns}, at::kFloat);
}

at::Tensor zeros(std::int64_t count, at::ScalarType type = at::kFloat) {
  return at::zeros({count}, type);
}

/// What a kernel's rate is compared with.
enum class Beside : std::uint8_t { Product, Copy };

/// Sizes of one measurement: channels (of a head, for attention) and tokens.
struct Size {
  std::int64_t d, t;
};

/// Collects the measurements of all kernels.
class Measurements {
 public:
  explicit Measurements(const BenchCommand& command) : only_(command.only) {
    for (const Isa isa : supported_isas()) {
      if (isa <= isa_in_use()) variants_.push_back(isa);
    }
  }

  /// @param work  floating-point operations, or bytes read and written, of a call.
  void add(std::string_view kernel, Size size, Beside beside, double work,
           const std::function<void(Isa)>& run) {
    if (kernel.find(only_) == std::string_view::npos) return;
    const char* unit = beside == Beside::Product ? "GFLOP/s" : "GB/s";
    Json row = {{"kernel", kernel}, {"d", size.d}, {"tokens", size.t}, {"unit", unit}};
    std::vector<std::string> line = {std::string(kernel), std::to_string(size.d),
                                     std::to_string(size.t), unit};
    const double library =
        beside == Beside::Product ? product_rate(size) : copy_rate(static_cast<std::size_t>(work));
    double rate = 0;
    for (const Isa isa : variants_) {
      const double mine = work / seconds_of([&] { run(isa); }) * 1e-9;
      if (isa == variants_.front()) rate = mine;
      row[std::string(name_of(isa))] = mine;
      line.push_back(fmt::format("{:.3g}", mine));
    }
    row["library"] = library;
    row["ratio"] = rate / library;
    line.push_back(fmt::format("{:.3g}", library));
    line.push_back(fmt::format("{:.2f}", rate / library));
    rows_.push_back(std::move(row));
    table_.rows.push_back(std::move(line));
  }

  void show(bool json) {
    if (rows_.empty())
      throw UserError(ExitCode::Usage,
                      "bench kernels: no kernel is called '" + only_ + "', or contains it");
    if (json) {
      print(json_text(Json{{"schema", 1},
                           {"name", "depthgrid kernels"},
                           {"processor", cpu_model()},
                           {"instruction_sets", instruction_sets()},
                           {"rows", rows_}}) +
            '\n');
      return;
    }
    for (const char* title : {"kernel", "d", "tokens", "unit"}) table_.columns.push_back({title});
    for (const Isa isa : variants_) {
      table_.columns.push_back({std::string(name_of(isa)), Align::Right});
    }
    table_.columns.push_back({"library", Align::Right});
    table_.columns.push_back({"ratio", Align::Right});
    print(text_of(table_));
    print(fmt::format(
        "library: LibTorch's product of (tokens, d) by (d, d), its call included, or a copy "
        "of as many bytes; ratio: {} to it; one thread of {}\n",
        name_of(variants_.front()), cpu_model()));
  }

 private:
  /// GFLOP/s of LibTorch's product (t, d) (d, d), measured once per size.
  double product_rate(Size size) {
    double& rate = products_[{size.d, size.t}];
    if (rate == 0) {
      const at::Tensor x = random(size.t, size.d), w = random(size.d, size.d);
      at::Tensor y = at::empty({size.t, size.d}, at::kFloat);
      const auto flops = static_cast<double>(2 * size.t * size.d * size.d);
      rate = flops / seconds_of([&] { at::mm_out(y, x, w); }) * 1e-9;
    }
    return rate;
  }

  /// GB/s of copying, bytes read and written counted.
  double copy_rate(std::size_t bytes) {
    double& rate = copies_[bytes];
    if (rate == 0) {
      const auto half = static_cast<std::int64_t>(bytes / 8 + 1);
      const at::Tensor from = random(1, half), to = zeros(half);
      const double seconds = seconds_of([&] { std::memcpy(floats(to), floats(from), bytes / 2); });
      rate = static_cast<double>(bytes) / seconds * 1e-9;
    }
    return rate;
  }

  std::string only_;
  std::vector<Isa> variants_;
  std::map<std::pair<std::int64_t, std::int64_t>, double> products_;
  std::map<std::size_t, double> copies_;
  Json rows_ = Json::array();
  Table table_;
};

void affine(Measurements& out, Size s) {
  const at::Tensor x = random(s.t, s.d), w = random(s.d, s.d), turned = random(s.d, s.d);
  const at::Tensor bias = random(1, s.d), dy = random(s.t, s.d);
  const at::Tensor y = zeros(s.t * s.d), dx = zeros(s.t * s.d), dw = zeros(s.d * s.d);
  const at::Tensor db = zeros(s.d);
  const AffineRows rows{floats(w), floats(turned), floats(bias), s.d, s.d};
  const auto flops = static_cast<double>(2 * s.t * s.d * s.d);
  out.add("affine forward", s, Beside::Product, flops,
          [&](Isa isa) { affine_rows_forward(rows, s.t, floats(x), floats(y), isa); });
  out.add("affine backward", s, Beside::Product, 2 * flops, [&](Isa isa) {
    affine_rows_backward(rows, s.t, floats(x), floats(dy), floats(dx), {floats(dw), floats(db)},
                         true, isa);
  });
}

/// Norm, both maps and the activation of d channels, 4 d in between.
void feed_forward(Measurements& out, Size s) {
  const std::int64_t hidden = 4 * s.d;
  const at::Tensor w = random(hidden, s.d) * 0.05, turned = random(s.d, hidden) * 0.05;
  const at::Tensor ones = at::ones({s.d}, at::kFloat), bias = zeros(hidden);
  const at::Tensor x = random(s.t, s.d), dy = random(s.t, s.d);
  const at::Tensor inner = zeros(s.t * hidden), mean = zeros(s.t), inverse = zeros(s.t);
  const at::Tensor y = zeros(s.t * s.d), dw = zeros(2 * hidden * s.d), db = zeros(hidden + 3 * s.d);
  const at::Tensor workspace = zeros(sublayer_workspace(s.t, s.d, hidden, 0, s.t));
  const SublayerWeights weights{{NormRow::Form::Layer, floats(ones), floats(bias), 1e-5F},
                                {floats(w), floats(turned), floats(bias), s.d, hidden},
                                {floats(turned), floats(w), floats(bias), hidden, s.d}};
  const SublayerRows rows{s.t,     floats(x),    floats(inner),  nullptr,
                          nullptr, floats(mean), floats(inverse)};
  float* const sums = floats(db);
  const SublayerSums gradients{{sums, sums + s.d},
                               {floats(dw), sums + 2 * s.d},
                               {floats(dw) + hidden * s.d, sums + 2 * s.d + hidden},
                               true};
  const auto flops = static_cast<double>(4 * s.t * s.d * hidden);
  out.add("feed-forward sublayer forward", s, Beside::Product, flops, [&](Isa isa) {
    feed_forward_rows_forward(weights, RowActivation::GeluErf, rows, nullptr, floats(y),
                              floats(workspace), isa);
  });
  out.add("feed-forward sublayer backward", s, Beside::Product, 2 * flops, [&](Isa isa) {
    feed_forward_rows_backward(weights, RowActivation::GeluErf, rows, floats(dy), floats(y),
                               gradients, floats(workspace), isa);
  });
}

void attention(Measurements& out, Size s) {
  if (s.d > 128) return;  // channels of a head
  const at::Tensor qkv = random(s.t, 3 * s.d), g = random(s.t, s.d);
  const at::Tensor mixed = zeros(s.t * s.d), normaliser = zeros(2 * s.t);
  const at::Tensor d = zeros(s.t * 3 * s.d), workspace = zeros(attention_workspace(s.t, s.d));
  const float* from = floats(qkv);
  const AttentionHead head{{from, 3 * s.d},
                           {from + s.d, 3 * s.d},
                           {from + 2 * s.d, 3 * s.d},
                           s.t,
                           s.d,
                           1 / std::sqrt(static_cast<float>(s.d)),
                           nullptr,
                           nullptr};
  attention_forward(head, {floats(mixed), s.d}, floats(normaliser), floats(workspace));
  const auto flops = static_cast<double>(2 * s.t * (s.t + 1) * s.d);  // two products, half of each
  out.add("attention forward", s, Beside::Product, flops, [&](Isa isa) {
    attention_forward(head, {floats(mixed), s.d}, floats(normaliser), floats(workspace), isa);
  });
  out.add("attention backward", s, Beside::Product, 2.5 * flops, [&](Isa isa) {
    float* to = floats(d);
    attention_backward(head, {floats(mixed), s.d}, {floats(g), s.d}, floats(normaliser),
                       {to, 3 * s.d}, {to + s.d, 3 * s.d}, {to + 2 * s.d, 3 * s.d},
                       floats(workspace), isa);
  });
}

void token(Measurements& out, Size s) {
  if (s.d > 128) return;
  const at::Tensor qkv = random(3, s.d), keys = random(s.t, s.d), values = random(s.t, s.d);
  const at::Tensor y = zeros(s.d), workspace = zeros(token_attention_workspace(s.t, s.d));
  const TokenHead head{floats(qkv),
                       floats(qkv) + s.d,
                       floats(qkv) + 2 * s.d,
                       floats(keys),
                       floats(values),
                       s.t,
                       s.d,
                       1 / std::sqrt(static_cast<float>(s.d)),
                       nullptr,
                       nullptr};
  out.add("token attention", s, Beside::Copy, static_cast<double>(8 * s.t * s.d),
          [&](Isa isa) { token_attention(head, floats(y), floats(workspace), isa); });
}

void activation(Measurements& out, Size s) {
  const std::int64_t n = s.t * s.d;
  const at::Tensor x = random(1, n) * 2, dy = random(1, n), y = zeros(n);
  const at::Tensor half = x.to(at::kBFloat16), half_y = zeros(n, at::kBFloat16);
  const at::Tensor half_dy = dy.to(at::kBFloat16);
  const auto bits = [](const at::Tensor& v) { return static_cast<std::uint16_t*>(v.data_ptr()); };
  const auto bytes = static_cast<double>(n);
  for (const auto& [form, name] :
       {std::pair(GeluForm::Erf, "gelu erf"), std::pair(GeluForm::Tanh, "gelu tanh")}) {
    const std::string word = name;
    out.add(word + " forward", s, Beside::Copy, 8 * bytes,
            [&](Isa isa) { gelu_forward(form, floats(x), floats(y), n, isa); });
    out.add(word + " backward", s, Beside::Copy, 12 * bytes,
            [&](Isa isa) { gelu_backward(form, floats(x), floats(dy), floats(y), n, isa); });
    out.add(word + " forward, bf16", s, Beside::Copy, 4 * bytes,
            [&](Isa isa) { gelu_forward(form, bits(half), bits(half_y), n, isa); });
    out.add(word + " backward, bf16", s, Beside::Copy, 6 * bytes,
            [&](Isa isa) { gelu_backward(form, bits(half), bits(half_dy), bits(half_y), n, isa); });
  }
}

void norm(Measurements& out, Size s) {
  const std::int64_t n = s.t * s.d;
  const at::Tensor x = random(s.t, s.d), dy = random(s.t, s.d), scale = random(1, s.d);
  const at::Tensor shift = random(1, s.d), w = random(4, s.d);
  const at::Tensor y = zeros(n), mean = zeros(s.t), inverse = zeros(s.t), sums = zeros(2 * s.d);
  const NormRows<float> rows{floats(x), floats(scale), floats(shift), s.t, s.d, 1e-5, true};
  norm_forward(rows, floats(y), floats(mean), floats(inverse));
  out.add("norm forward", s, Beside::Copy, static_cast<double>(8 * n),
          [&](Isa isa) { norm_forward(rows, floats(y), floats(mean), floats(inverse), isa); });
  out.add("norm backward", s, Beside::Copy, static_cast<double>(12 * n), [&](Isa isa) {
    norm_backward(rows, floats(dy), floats(mean), floats(inverse), floats(y), floats(sums),
                  floats(sums) + s.d, isa);
  });
  out.add("norm products", s, Beside::Copy, static_cast<double>(4 * n),
          [&](Isa isa) { norm_products(rows, floats(w), 4, floats(y), isa); });
}

void weights(Measurements& out, Size s) {
  if (s.t != kTokens[0]) return;  // they depend on d alone
  const at::Tensor w = random(s.d, s.d), gate = random(1, s.d), to = zeros(s.d * s.d);
  const at::Tensor d_gate = zeros(s.d), gradient = random(s.d, s.d);
  const auto bytes = static_cast<double>(4 * s.d * s.d);
  out.add("transposed weights", s, Beside::Copy, 2 * bytes,
          [&](Isa isa) { turn_weights(floats(w), floats(gate), s.d, s.d, floats(to), isa); });
  out.add("gated weights", s, Beside::Copy, 2 * bytes,
          [&](Isa isa) { gate_weights(floats(w), floats(gate), s.d, s.d, floats(to), isa); });
  const at::Tensor one = at::ones({1, s.d}, at::kFloat);
  out.add("gated weights backward", s, Beside::Copy, 3 * bytes, [&](Isa isa) {
    gate_weights_backward(floats(w), floats(one), s.d, s.d, floats(gradient), floats(d_gate), isa);
  });
}

void along_depth(Measurements& out, Size s) {
  if (s.t != kTokens[0]) return;
  constexpr std::int64_t kLayers = 6, kHidden = 16;
  const std::int64_t n = 12 * s.d * s.d;  // weights of a layer
  const at::Tensor generator = random(kHidden, n), base = random(1, n);
  const at::Tensor m = random(kLayers, kHidden), y = random(kLayers, n);
  const at::Tensor d_generator = zeros(kHidden * n), d_base = zeros(n);
  const at::Tensor dm = zeros(kLayers * kHidden);
  const auto each_block = [&](const auto& run) {
    for (std::int64_t at = 0; at < n; at += kDepthBlock) {
      run(at, DepthBlock{floats(generator) + at, floats(base) + at, floats(m), kLayers, kHidden, n,
                         std::min(kDepthBlock, n - at)});
    }
  };
  const auto bytes = static_cast<double>(4 * n);
  out.add("depth product forward", s, Beside::Copy, (kHidden + 1 + kLayers) * bytes, [&](Isa isa) {
    each_block([&](std::int64_t at, const DepthBlock& block) {
      depth_block_forward(block, floats(y) + at, isa);
    });
  });
  out.add("depth product backward", s, Beside::Copy, (3 * kHidden + kLayers + 2) * bytes,
          [&](Isa isa) {
            each_block([&](std::int64_t at, const DepthBlock& block) {
              depth_block_backward(
                  block,
                  {floats(y) + at, floats(d_generator) + at, floats(d_base) + at, floats(dm)}, isa);
            });
          });
}

void scan(Measurements& out, Size s) {
  const at::Tensor a = random(1, s.d) * 0.1, u = random(s.t, s.d), h = random(s.t, s.d);
  const at::Tensor da = zeros(s.d), columns = random(s.d, s.d) * 0.01;
  const auto bytes = static_cast<double>(4 * s.t * s.d);
  out.add("diagonal scan", s, Beside::Copy, 2 * bytes, [&](Isa isa) {
    diagonal_scan(ScanOrder::Forward, floats(a), floats(u), floats(h), s.t, s.d, isa);
  });
  out.add("diagonal scan gradient", s, Beside::Copy, 2 * bytes, [&](Isa isa) {
    diagonal_scan_gradient(floats(u), floats(h), floats(da), s.t, s.d, isa);
  });
  out.add("dense scan", s, Beside::Product, static_cast<double>(2 * s.t * s.d * s.d), [&](Isa isa) {
    dense_scan(ScanOrder::Forward, floats(columns), floats(u), floats(h), s.t, s.d, isa);
  });
}

void optimiser(Measurements& out, Size s) {
  if (s.t != kTokens[0]) return;
  constexpr std::int64_t kBlock = 2048;
  const std::int64_t blocks = std::max<std::int64_t>(12 * s.d * s.d / kBlock, 1);  // of a layer
  const at::Tensor p = random(blocks, kBlock), m = random(blocks, kBlock);
  const at::Tensor v = random(blocks, kBlock).square(), g = random(blocks, kBlock);
  const AdamRates rates = adam_rates({.lr = 1e-6,
                                      .weight_decay = 0.1,
                                      .gradient_factor = 0.5,
                                      .step = 3,
                                      .own = {0.9, 0.99, 1e-8}},
                                     true);
  const auto bytes = static_cast<double>(4 * blocks * kBlock);
  const auto each = [&](const auto& update) {
    for (std::int64_t b = 0; b < blocks; ++b) update(b * kBlock);
  };
  out.add("adam", s, Beside::Copy, 8 * bytes, [&](Isa isa) {
    each([&](std::int64_t at) {
      adam_update(
          {floats(p) + at, {floats(m) + at, floats(v) + at}, floats(g) + at, nullptr, kBlock},
          rates, isa);
    });
  });
  out.add("sum of squares", s, Beside::Copy, bytes, [&](Isa isa) {
    each([&](std::int64_t at) { sum_of_squares(floats(p) + at, kBlock, isa); });
  });
}

}  // namespace

int bench_kernels(const BenchCommand& command) {
  const c10::InferenceMode no_graph;
  at::set_num_threads(1);
  const FlushDenormals flushed;  // as in training
  Measurements out(command);
  for (const auto kernel : {affine, feed_forward, attention, token, activation, norm, weights,
                            along_depth, scan, optimiser}) {
    for (const std::int64_t d : kWidths) {
      for (const std::int64_t t : kTokens) kernel(out, {d, t});
    }
  }
  out.show(command.json);
  return 0;
}

}  // namespace depthgrid
