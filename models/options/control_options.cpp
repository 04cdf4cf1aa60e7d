#include "models/options/control_options.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "core/base/error.hpp"
#include "core/config/family_facts.hpp"

namespace depthgrid {
namespace {

template <class E, std::size_t N>
E meaning(const std::array<std::pair<std::string_view, E>, N>& table, std::string_view word) {
  const auto row = std::ranges::find(table, word, &std::pair<std::string_view, E>::first);
  if (row == table.end()) throw Error("no meaning for the word '" + std::string(word) + "'");
  return row->second;
}

constexpr std::array<std::pair<std::string_view, Injection>, 3> kInjections = {
    {{"additive", Injection::Additive}, {"film", Injection::Film}, {"concat", Injection::Concat}}};

constexpr std::array<std::pair<std::string_view, ControlProfileKind>, 4> kProfiles = {
    {{"constant", ControlProfileKind::Constant},
     {"ramp_up", ControlProfileKind::RampUp},
     {"ramp_down", ControlProfileKind::RampDown},
     {"window", ControlProfileKind::Window}}};

std::vector<std::int64_t> layers_of(const CellConfig& config) {
  std::vector<std::int64_t> out;
  const Value& chosen = config.at("model.control.layers");
  if (const auto* list = chosen.get_if<ValueList>()) {
    for (const Value& one : *list) out.push_back(*one.get_if<std::int64_t>());
    return out;
  }
  const ValueList& replaced = *config.at("model.replaced_layers").get_if<ValueList>();
  const bool flow = facts_of(config.word("model.family")).flow;
  for (std::int64_t i = 0; i < config.integer("model.n_layers"); ++i) {
    const bool inside = flow && i >= *replaced.front().get_if<std::int64_t>() &&
                        i < *replaced.back().get_if<std::int64_t>();
    if (!inside) out.push_back(i);
  }
  return out;
}

}  // namespace

bool ControlOptions::trained() const {
  return labelled || std::ranges::any_of(constant, [](const std::vector<double>& u) {
           return std::ranges::any_of(u, [](double one) { return one != 0; });
         });
}

ControlOptions control_options(const CellConfigs& cells) {
  const CellConfig& first = *cells.at(0);
  ControlOptions o;
  o.axes = first.integer("model.control.dim");
  if (o.axes == 0) return o;
  const std::string sites = first.word("model.control.sites");
  o.in_flow = sites == "flow" || sites == "both";
  o.as_prefix = sites == "token";
  if (sites == "layers" || sites == "both") o.layers = layers_of(first);
  o.injection = meaning(kInjections, first.word("model.control.injection"));
  o.bias = o.in_flow && first.word("model.control.neutral") == "bias";
  const bool mlp = first.word("model.field.kind") == "mlp";
  const Injection former = mlp ? Injection::Concat : Injection::Additive;
  o.labelled = first.word("train.task") != "lm";
  o.contrasts = o.labelled && first.real("train.control.contrastive") != 0;
  o.drawn = sites == "flow" && o.injection == former && !o.labelled;
  for (const CellConfig* cell : cells) {
    o.profile.push_back(meaning(kProfiles, cell->word("model.control.schedule")));
    const std::vector<double> window = numbers(cell->at("model.control.window"));
    o.window_from.push_back(window.at(0));
    o.window_to.push_back(window.at(1));
    std::vector<double> u = numbers(cell->at("model.control.u"));
    if (!u.empty()) o.constant.push_back(std::move(u));
  }
  return o;
}

}  // namespace depthgrid
