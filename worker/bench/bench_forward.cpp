#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/randint.h>

#include "core/base/clock.hpp"
#include "core/base/json_text.hpp"
#include "core/base/output.hpp"
#include "models/cost_model.hpp"
#include "worker/bench/bench.hpp"
#include "worker/bench/bench_model.hpp"
#include "worker/process/provenance.hpp"

namespace depthgrid {
namespace {

using Json = nlohmann::ordered_json;

/// A part of the forward pass, or all of it.
struct Component {
  std::string name;
  double flops;  // per token
  std::function<void()> run;
  std::vector<double> milliseconds = {};

  double at(double share) {
    std::ranges::sort(milliseconds);
    const auto last = static_cast<double>(milliseconds.size() - 1);
    return milliseconds[static_cast<std::size_t>(share * last + 0.5)];
  }
};

/// Embedding, depth by what runs it, readout, and the whole pass.
std::vector<Component> components_of(const Model& model, const std::vector<DepthSegment>& depth,
                                     const ForwardContext& context, const at::Tensor& tokens) {
  const ModelOptions& o = model.options();
  const ForwardFlops flops = forward_flops(o, tokens.size(1), tokens.size(2));
  std::vector<Component> out = {{"embedding", 0, [&] { model.embed(tokens); }}};
  std::vector<std::function<void()>> layers, flow;
  at::Tensor x = model.embed(tokens);
  for (const DepthSegment& segment : depth) {
    auto& part = segment.flow && o.flow.replaced() > 0 ? flow : layers;
    part.emplace_back(
        [&, x] { segment.method->solve(*segment.field, segment.grid, x, model.control({})); });
    x = segment.method->solve(*segment.field, segment.grid, x, model.control({}));
  }
  const auto all_of = [](std::vector<std::function<void()>> parts) {
    return [parts = std::move(parts)] {
      for (const auto& part : parts) part();
    };
  };
  if (!layers.empty()) out.push_back({"layers", flops.layers, all_of(std::move(layers))});
  if (!flow.empty()) out.push_back({"flow", flops.flow, all_of(std::move(flow))});
  out.push_back({"readout", flops.readout, [&model, x] { model.readout(x); }});
  out.push_back({"pass", flops.layers + flops.flow + flops.readout,
                 [&, tokens] { model.logits(tokens, context); }});
  return out;
}

Json json_of(std::vector<Component>& components) {
  Json out = Json::array();
  for (Component& one : components) {
    out.push_back({{"component", one.name},
                   {"ms", one.at(0.5)},
                   {"ms_quartiles", {one.at(0.25), one.at(0.75)}},
                   {"flops_per_token", one.flops}});
  }
  return out;
}

}  // namespace

int bench_forward(const BenchCommand& command) {
  const at::NoGradGuard no_grad;
  const BenchModel built(command);
  const auto& [config, bench, o, arena, model] = built;
  const std::int64_t rows = config.integer("train.batch_size");
  const at::Tensor tokens =
      at::randint(0, o.vocabulary, {1, rows, config.integer("data.seq_len")}, at::kLong)
          .to(bench.device());
  const ForwardContext context;
  const std::vector<DepthSegment> depth = model.segments(context);
  std::vector<Component> components = components_of(model, depth, context, tokens);
  std::vector<Component*> order;
  for (Component& one : components) order.push_back(&one);
  std::mt19937 random(1);
  constexpr std::int64_t kWarmUp = 5;
  for (std::int64_t i = 0; i < command.steps + kWarmUp; ++i) {
    std::ranges::shuffle(order, random);
    for (Component* one : order) {
      bench.synchronize();
      const Stopwatch clock;
      one->run();
      bench.synchronize();
      if (i >= kWarmUp) one->milliseconds.push_back(clock.seconds() * 1e3);
    }
  }
  if (command.json) {
    print(json_text(Json{{"schema", 1},
                         {"name", "depthgrid"},
                         {"instruction_sets", instruction_sets()},
                         {"device", bench.name()},
                         {"precision", config.word("train.precision")},
                         {"rows", rows},
                         {"tokens", tokens.size(2)},
                         {"parameters", arena.size()},
                         {"repetitions", command.steps},
                         {"components", json_of(components)}}) +
          "\n");
    return 0;
  }
  print(fmt::format("{}, {} x {} tokens, {} parameters; {} repetitions in random order; {}, {}\n",
                    command.family, rows, tokens.size(2), arena.size(), command.steps,
                    instruction_sets(), bench.name()));
  print(fmt::format("{:<10} {:>10} {:>21} {:>16}\n", "component", "median ms", "quartiles",
                    "operations/token"));
  for (Component& one : components) {
    print(fmt::format("{:<10} {:>10.4g} {:>10.4g} … {:<8.4g} {:>16.6g}\n", one.name, one.at(0.5),
                      one.at(0.25), one.at(0.75), one.flops));
  }
  return 0;
}

}  // namespace depthgrid
