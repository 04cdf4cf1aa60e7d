#include "worker/session/gradient_watch.hpp"

#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/base/nan.hpp"
#include "models/layer_parameters.hpp"

namespace depthgrid {
namespace {

constexpr const char* kClipped = "gradient_clipped";
constexpr std::string_view kVanished = "gradient_vanished_";
constexpr std::string_view kExploded = "gradient_exploded_";

}  // namespace

GradientWatch::GradientWatch(const CellConfig& leaves, const ModelOptions& model,
                             const Arena& arena, const TrainOptions& train)
    : model_(model),
      arena_(arena),
      train_(train),
      gradients_(static_cast<std::size_t>(model.cells), layer_count(model),
                 GradientBounds{leaves.real("probes.gradients.vanish_below"),
                                leaves.real("probes.gradients.explode_above")}) {}

void GradientWatch::attach(Trainer& trainer) const {
  trainer.watch(
      LayerSquares(arena_.layout(), train_.frozen, gradients_.layers(),
                   [this](const std::string& parameter) { return layer_of(model_, parameter); }));
}

void GradientWatch::step(const StepReport& report, const std::function<bool(std::size_t)>& made) {
  const auto layers = static_cast<std::size_t>(gradients_.layers());
  for (std::size_t e = 0; e < static_cast<std::size_t>(model_.cells); ++e) {
    if (!made(e)) continue;
    const auto row = [&](const std::vector<double>& all) {
      return std::span(all).subspan(e * layers, layers);
    };
    gradients_.step(e, row(report.layers.norm), row(report.layers.norm_clipped),
                    report.optimizer.norms.factor[e]);
  }
}

void GradientWatch::save(std::size_t e, std::map<std::string, double>& numbers) const {
  const TrainingGradients::Counts& counts = gradients_.counts(e);
  numbers[kClipped] = counts.clipped;
  for (std::size_t l = 0; l < counts.vanished.size(); ++l) {
    numbers[fmt::format("{}{}", kVanished, l)] = counts.vanished[l];
    numbers[fmt::format("{}{}", kExploded, l)] = counts.exploded[l];
  }
}

void GradientWatch::restore(std::size_t e, const std::map<std::string, double>& numbers) {
  const auto number = [&](const std::string& name) {
    const auto at = numbers.find(name);
    return at == numbers.end() ? kNaN : at->second;
  };
  TrainingGradients::Counts counts{.vanished = {}, .exploded = {}, .clipped = number(kClipped)};
  for (std::int64_t l = 0; l < gradients_.layers(); ++l) {
    counts.vanished.push_back(number(fmt::format("{}{}", kVanished, l)));
    counts.exploded.push_back(number(fmt::format("{}{}", kExploded, l)));
  }
  gradients_.restore(e, counts);
}

}  // namespace depthgrid
