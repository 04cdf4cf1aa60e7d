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
#include <ATen/ops/tensor.h>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/json_text.hpp"
#include "core/base/output.hpp"
#include "core/train/train_options.hpp"
#include "models/decode/decoder.hpp"
#include "worker/bench/bench.hpp"
#include "worker/bench/bench_device.hpp"
#include "worker/bench/bench_model.hpp"
#include "worker/data_pool.hpp"
#include "worker/eval/mode_evaluation.hpp"
#include "worker/model/fused_model.hpp"
#include "worker/model/stored_model.hpp"
#include "worker/process/provenance.hpp"

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

Rates in_turns(const BenchDevice& bench, const Way& first, const Way& second, std::int64_t steps) {
  const auto rate = [&](const Way& way) {
    way.start();
    bench.synchronize();
    const Stopwatch clock;
    for (std::int64_t n = 0; n < steps; ++n) way.next(kPrompt + n);
    bench.synchronize();
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
int print_rates(const BenchCommand& command, const BenchDevice& bench, const Model& model,
                const Rates& rates, const std::string& other, const Json& more,
                const std::string& text) {
  Json json = {{"schema", 1},
               {"family", model.options().family},
               {"instruction_sets", instruction_sets()},
               {"device", bench.name()},
               {"peak_bytes", bench.peak_bytes()},
               {"tokens", command.steps},
               {"tokens_per_second", median(rates.first)},
               {"tokens_per_second_" + other, median(rates.second)},
               {"speedup", median(rates.ratio)},
               {"speedups", rates.ratio}};
  json.update(more);
  print(fmt::format("{}\n", command.json ? json_text(json) : text));
  return 0;
}

/// (1, 1, tokens, layers) bool: in every layer exactly the share γ of the tokens, drawn at random.
at::Tensor drawn_masks(std::int64_t tokens, std::int64_t layers, double share) {
  const auto k = static_cast<std::int64_t>(std::llround(share * static_cast<double>(tokens)));
  return at::rand({1, 1, tokens, layers}).argsort(2, false).argsort(2, false).lt(k);
}

/// Random decisions, in each layer for exactly the share γ of the tokens, before and behind the end
/// of the prompt. The router is evaluated all the same.
Execution at_random(const Model& model, std::int64_t tokens) {
  const double share = model.options().routing.capacity.front();
  const std::int64_t layers = model.options().layers;
  return {.mode = ExecutionMode::Forced,
          .forced =
              at::cat({drawn_masks(kPrompt, layers, share), drawn_masks(tokens, layers, share)}, 2)
                  .to(model.options().device)};
}

/// Share of the tokens behind the prompt that the dynamic layers execute.
double executed_share(Decoder& student, const Model& model, const at::Tensor& ids) {
  const std::vector<std::int64_t>& layers = model.options().routing.layers;
  double executed = 0;
  student.restart();
  student.advance(ids.narrow(2, 0, kPrompt));
  for (std::int64_t at = kPrompt; at < ids.size(2); ++at) {
    student.advance(ids.narrow(2, at, 1));
    for (const std::int64_t layer : layers) {
      executed += student.executed(layer).to(at::kDouble).mean().item<double>();
    }
  }
  return executed / static_cast<double>(layers.size()) / static_cast<double>(ids.size(2) - kPrompt);
}

/// Compares a student with the same weights executing every token.
int against_dense(const BenchCommand& command, const BenchDevice& bench, const Model& model,
                  const at::Tensor& ids, Execution decisions) {
  const RoutingOptions& o = model.options().routing;
  const std::int64_t layers = model.options().layers;
  Decoder student(model, std::move(decisions));
  Decoder dense(model, Execution{.mode = ExecutionMode::Dense});
  const double executed = executed_share(student, model, ids);
  const Rates rates =
      in_turns(bench, decoding(student, model, ids), decoding(dense, model, ids), command.steps);
  const double share = static_cast<double>(o.layers.size()) / static_cast<double>(layers);
  const double ideal = 1 / (1 - share + share * executed);
  return print_rates(
      command, bench, model, rates, "dense",
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

int against_recomputation(const BenchCommand& command, const BenchDevice& bench, const Model& model,
                          const at::Tensor& ids) {
  Decoder decoder(model);
  const Way recomputing{[] {},
                        [&](std::int64_t at) {
                          const at::Tensor states = model.states(ids.narrow(2, 0, at + 1), {});
                          model.readout(states.narrow(2, at, 1));
                        }};
  const Rates rates = in_turns(bench, decoding(decoder, model, ids), recomputing, command.steps);
  return print_rates(
      command, bench, model, rates, "recomputed", Json::object({{"cache_bytes", decoder.bytes()}}),
      fmt::format(
          "{}: {:.4g} tokens/s with caches, {:.4g} by recomputation ({}); caches of {} bytes",
          model.options().family, median(rates.first), median(rates.second),
          with_spread(rates.ratio), decoder.bytes()));
}

/// A trained student, with its own decisions, on the text that it was validated on.
int of_a_cell(const BenchCommand& command) {
  if (command.device != "cpu") {
    throw UserError(ExitCode::Usage,
                    "bench decode: a trained cell is decoded on the CPU only: leave out --device, "
                    "or --cell");
  }
  const StoredModel stored(command.from);
  const BenchDevice bench(command.device, stored.config);
  DataPool pool(stored.store, DataPool::Use::Reading);
  const auto data = pool.open(stored.config);
  const EvalPlan plan(stored.config, *data, 1);
  ModeEvaluation(*data, plan, *stored.model, *stored.language, {}).calibrate(false);
  const TokenStream& text = data->valid();
  const std::int64_t all = kPrompt + command.steps;
  const std::int64_t remaining = Decoder(*stored.model).remaining();
  if (!stored.language->execution || all > std::min(remaining, text.size())) {
    throw UserError(
        ExitCode::Usage,
        stored.language->execution
            ? fmt::format("bench decode: {} tokens behind a prompt of {} are more than the {} that "
                          "the model's positions and its text have; set --steps",
                          command.steps, kPrompt, std::min(remaining, text.size()))
            : "bench decode: " + stored.cell.alias +
                  " has no layers that skip tokens; its weights "
                  "do not change how fast it decodes");
  }
  std::vector<std::int64_t> ids;
  for (std::int64_t at = 0; at < all; ++at) ids.push_back(text[at]);
  return against_dense(command, bench, *stored.model, at::tensor(ids, at::kLong).view({1, 1, all}),
                       *stored.language->execution);
}

}  // namespace

int bench_decode(const BenchCommand& command) {
  const at::NoGradGuard no_grad;
  if (!command.from.cell.empty()) return of_a_cell(command);
  const BenchModel built(command);
  const auto& [config, bench, options, arena, model] = built;
  const std::int64_t all = kPrompt + command.steps, remaining = Decoder(model).remaining();
  if (all > remaining) {
    throw UserError(ExitCode::Usage,
                    fmt::format("bench decode: {} tokens behind a prompt of {} do not fit the {} "
                                "learned positions; set data.seq_len or --steps",
                                command.steps, kPrompt, remaining));
  }
  const at::Tensor ids =
      at::randint(0, options.vocabulary, {1, 1, all}, at::kLong).to(bench.device());
  return options.routing.layers.empty()
             ? against_recomputation(command, bench, model, ids)
             : against_dense(command, bench, model, ids, at_random(model, command.steps));
}

}  // namespace depthgrid
