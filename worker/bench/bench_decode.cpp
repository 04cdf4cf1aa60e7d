#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/argsort.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/output.hpp"
#include "core/train/train_options.hpp"
#include "models/decode/decoder.hpp"
#include "worker/bench/bench.hpp"
#include "worker/model/fused_model.hpp"

namespace depthgrid {
namespace {

constexpr std::int64_t kPrompt = 16;
constexpr int kRounds = 10;  // the first one warms up

using Json = nlohmann::ordered_json;

double median(std::vector<double> x) {
  std::ranges::sort(x);
  return x[x.size() / 2];
}

/// One of the two ways to get a token's logits, which are timed alternately.
struct Way {
  std::function<void()> start;             // reads the prompt
  std::function<void(std::int64_t)> next;  // the token at a position
};

/// Tokens per second in each round, and the speedup of the first way.
struct Rates {
  std::vector<double> first, second, ratio;
};

Rates in_turns(const Way& first, const Way& second, std::int64_t steps) {
  const auto rate = [&](const Way& way) {
    way.start();
    const Stopwatch clock;
    for (std::int64_t n = 0; n < steps; ++n) way.next(kPrompt + n);
    return static_cast<double>(steps) / clock.seconds();
  };
  Rates out;
  for (int round = 0; round < kRounds; ++round) {
    const double slow = rate(second), fast = rate(first);
    if (round == 0) continue;
    out.first.push_back(fast);
    out.second.push_back(slow);
    out.ratio.push_back(fast / slow);
  }
  return out;
}

/// A decoder that reads the prompt, then one token at a time.
Way decoding(Decoder& decoder, const Model& model, const at::Tensor& ids) {
  return {[&] {
            decoder.restart();
            decoder.advance(ids.narrow(2, 0, kPrompt));
          },
          [&](std::int64_t at) { model.readout(decoder.advance(ids.narrow(2, at, 1))); }};
}

std::string with_spread(const std::vector<double>& ratio) {
  return fmt::format("{:.3g}x, {:.3g} … {:.3g}", median(ratio), *std::ranges::min_element(ratio),
                     *std::ranges::max_element(ratio));
}

/// Prints the text, or as JSON the rates, the second under `other`, and `more`.
int print_rates(const BenchOrder& order, const Model& model, const Rates& rates,
                const std::string& other, const Json& more, const std::string& text) {
  Json json = {{"schema", 1},
               {"family", model.options().family},
               {"tokens", order.steps},
               {"tokens_per_second", median(rates.first)},
               {"tokens_per_second_" + other, median(rates.second)},
               {"speedup", median(rates.ratio)},
               {"speedups", rates.ratio}};
  json.update(more);
  print(fmt::format("{}\n", order.json ? json.dump() : text));
  return 0;
}

/// (1, 1, tokens, layers) bool: in every layer exactly the share γ of the tokens, drawn at random.
at::Tensor drawn_masks(std::int64_t tokens, std::int64_t layers, double share) {
  const auto k = static_cast<std::int64_t>(std::llround(share * static_cast<double>(tokens)));
  return at::rand({1, 1, tokens, layers}).argsort(2, false).argsort(2, false).lt(k);
}

/// Compares a student with random decisions, whose router is evaluated all the same, with the same
/// weights executing every token.
int against_dense(const BenchOrder& order, const Model& model, const at::Tensor& ids) {
  const RoutingOptions& o = model.options().routing;
  const std::int64_t layers = model.options().layers;
  const at::Tensor timed = drawn_masks(order.steps, layers, o.capacity.front());
  const at::Tensor masks = at::cat({drawn_masks(kPrompt, layers, o.capacity.front()), timed}, 2);
  Decoder student(model, Execution{.mode = ExecutionMode::Forced, .forced = masks});
  Decoder dense(model, Execution{.mode = ExecutionMode::Dense});
  double executed = 0;
  for (const std::int64_t layer : o.layers) {
    executed += timed.select(3, layer).to(at::kDouble).mean().item<double>();
  }
  executed /= static_cast<double>(o.layers.size());
  const Rates rates =
      in_turns(decoding(student, model, ids), decoding(dense, model, ids), order.steps);
  const double share = static_cast<double>(o.layers.size()) / static_cast<double>(layers);
  const double ideal = 1 / (1 - share + share * executed);
  return print_rates(
      order, model, rates, "dense",
      {{"ideal_speedup", ideal},
       {"dynamic_layers", o.layers},
       {"executed_share", executed},
       {"cache_bytes", student.bytes()},
       {"cache_bytes_dense", dense.bytes()}},
      fmt::format("{}: {:.4g} tokens/s executing {:.3f} of the tokens in {} of {} layers, {:.4g} "
                  "executing all ({}; blocks alone would give {:.3g}x); caches of {} and {} bytes",
                  model.options().family, median(rates.first), executed, o.layers.size(), layers,
                  median(rates.second), with_spread(rates.ratio), ideal, student.bytes(),
                  dense.bytes()));
}

int against_recomputation(const BenchOrder& order, const Model& model, const at::Tensor& ids) {
  Decoder decoder(model);
  const Way recomputing{[] {},
                        [&](std::int64_t at) {
                          const at::Tensor states = model.states(ids.narrow(2, 0, at + 1), {});
                          model.readout(states.narrow(2, at, 1));
                        }};
  const Rates rates = in_turns(decoding(decoder, model, ids), recomputing, order.steps);
  return print_rates(
      order, model, rates, "recomputed", Json::object({{"cache_bytes", decoder.bytes()}}),
      fmt::format(
          "{}: {:.4g} tokens/s with caches, {:.4g} by recomputation ({}); caches of {} bytes",
          model.options().family, median(rates.first), median(rates.second),
          with_spread(rates.ratio), decoder.bytes()));
}

}  // namespace

int bench_decode(const BenchOrder& order) {
  const at::NoGradGuard no_grad;
  const CellConfig config = bench_cell(order);
  const ModelOptions options = model_options({&config});
  Arena arena(layout_of(options), train_options({&config}).model_seed, at::kFloat);
  const Model model(arena, options);
  const std::int64_t all = kPrompt + order.steps, room = Decoder(model).room();
  if (all > room) {
    throw UserError(ExitCode::Usage,
                    fmt::format("bench decode: {} tokens behind a prompt of {} do not fit the {} "
                                "learned positions; set data.seq_len or --steps",
                                order.steps, kPrompt, room));
  }
  const at::Tensor ids = at::randint(0, options.vocabulary, {1, 1, all}, at::kLong);
  return options.routing.layers.empty() ? against_recomputation(order, model, ids)
                                        : against_dense(order, model, ids);
}

}  // namespace depthgrid
