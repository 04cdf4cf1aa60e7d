#include "worker/bench_decode.hpp"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/train/train_options.hpp"
#include "models/decode/decoder.hpp"
#include "worker/bench_cells.hpp"
#include "worker/fused_model.hpp"

namespace depthgrid {
namespace {

constexpr std::int64_t kPrompt = 16;
constexpr int kRounds = 6;  // the first one warms up

double median(std::vector<double> x) {
  std::ranges::sort(x);
  return x[x.size() / 2];
}

at::Tensor last_logits(const Model& model, const at::Tensor& states) {
  return model.readout(states.narrow(2, states.size(2) - 1, 1));
}

using Next = std::function<void(std::int64_t)>;

/// Tokens a second of `steps` calls behind the prompt.
double rate(std::int64_t steps, const Next& next) {
  const Stopwatch clock;
  for (std::int64_t n = 0; n < steps; ++n) next(kPrompt + n);
  return static_cast<double>(steps) / clock.seconds();
}

/// A student whose decisions are drawn with probability γ, its router asked all the same, against
/// the same weights with every token executed; one after the other, round after round.
int against_dense(const BenchOrder& order, const Model& model, const at::Tensor& ids) {
  const RoutingOptions& o = model.options().routing;
  const at::Tensor masks =
      at::rand({1, 1, ids.size(2), model.options().layers}).lt(o.capacity.front());
  const Execution skips{
      .mode = ExecutionMode::Forced, .decider = {}, .thresholds = {}, .forced = masks};
  Decoder student(model, skips), dense(model, Execution{.mode = ExecutionMode::Dense});
  double executed = 0;
  for (const std::int64_t layer : o.layers) {
    executed += masks.select(3, layer).to(at::kDouble).mean().item<double>();
  }
  executed /= static_cast<double>(o.layers.size());
  std::vector<double> of_student, of_dense, ratios;
  for (int round = 0; round < kRounds; ++round) {
    const auto timed = [&](Decoder& decoder) {
      decoder.restart();
      decoder.advance(ids.narrow(2, 0, kPrompt));
      return rate(order.steps, [&](std::int64_t at) {
        last_logits(model, decoder.advance(ids.narrow(2, at, 1)));
      });
    };
    const double slow = timed(dense), fast = timed(student);
    if (round == 0) continue;
    of_dense.push_back(slow);
    of_student.push_back(fast);
    ratios.push_back(fast / slow);
  }
  const double share =
      static_cast<double>(o.layers.size()) / static_cast<double>(model.options().layers);
  const double ideal = 1 / (1 - share + share * executed);
  if (order.json) {
    std::puts(nlohmann::ordered_json{{"schema", 1},
                                     {"family", model.options().family},
                                     {"tokens", order.steps},
                                     {"tokens_per_second", median(of_student)},
                                     {"tokens_per_second_dense", median(of_dense)},
                                     {"speedup", median(ratios)},
                                     {"ideal_speedup", ideal},
                                     {"dynamic_layers", o.layers},
                                     {"executed_share", executed},
                                     {"cache_bytes", student.bytes()},
                                     {"cache_bytes_dense", dense.bytes()}}
                  .dump()
                  .c_str());
    return 0;
  }
  fmt::print(
      "{}: {:.4g} tokens/s executing {:.3f} of the tokens in {} of {} layers, {:.4g} executing all "
      "({:.3g}x; blocks alone would give {:.3g}x); caches of {} and {} bytes\n",
      model.options().family, median(of_student), executed, o.layers.size(), model.options().layers,
      median(of_dense), median(ratios), ideal, student.bytes(), dense.bytes());
  return 0;
}

}  // namespace

int bench_decode(const BenchOrder& order) {
  const at::NoGradGuard no_grad;
  BenchOrder one = order;
  one.cells = 1;
  const CellConfig config = bench_cells(one).front();
  at::set_num_threads(static_cast<int>(config.integer_if("resources.threads").value_or(1)));
  const ModelOptions options = model_options({&config});
  Arena arena(layout_of(options), train_options({&config}).model_seed, at::kFloat);
  const Model model(arena, options);
  Decoder decoder(model);
  const std::int64_t all = kPrompt + order.steps;
  if (all > decoder.room()) {
    throw UserError(ExitCode::Usage,
                    fmt::format("bench decode: {} tokens behind a prompt of {} do not fit the {} "
                                "learned positions; set data.seq_len or --steps",
                                order.steps, kPrompt, decoder.room()));
  }
  const at::Tensor ids = at::randint(0, options.vocabulary, {1, 1, all}, at::kLong);
  if (!options.routing.layers.empty()) return against_dense(order, model, ids);
  std::vector<double> cached, recomputed;
  for (int round = 0; round < kRounds; ++round) {
    decoder.restart();
    decoder.advance(ids.narrow(2, 0, kPrompt));
    const double fast = rate(order.steps, [&](std::int64_t at) {
      last_logits(model, decoder.advance(ids.narrow(2, at, 1)));
    });
    const double slow = rate(order.steps, [&](std::int64_t at) {
      last_logits(model, model.states(ids.narrow(2, 0, at + 1), {}));
    });
    if (round == 0) continue;
    cached.push_back(fast);
    recomputed.push_back(slow);
  }
  const double fast = median(cached), slow = median(recomputed);
  if (order.json) {
    std::puts(nlohmann::ordered_json{{"schema", 1},
                                     {"family", options.family},
                                     {"tokens", order.steps},
                                     {"tokens_per_second", fast},
                                     {"tokens_per_second_recomputed", slow},
                                     {"cache_bytes", decoder.bytes()}}
                  .dump()
                  .c_str());
    return 0;
  }
  fmt::print(
      "{}, {} parameters: {:.4g} tokens/s with caches, {:.4g} by recomputation ({:.3g}x); caches "
      "of {} bytes\n",
      options.family, arena.size(), fast, slow, fast / slow, decoder.bytes());
  return 0;
}

}  // namespace depthgrid
