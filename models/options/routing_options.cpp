#include "models/options/routing_options.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/error.hpp"
#include "core/config/facts/gathered_execution.hpp"
#include "core/config/family_facts.hpp"

namespace depthgrid {
namespace {

Decider decider_of(std::string_view word) {
  const std::size_t at = label_index(kDeciderNames, word);
  if (at == kDeciderNames.size()) throw Error("no decider '" + std::string(word) + "'");
  return static_cast<Decider>(at);
}

}  // namespace

std::optional<std::int64_t> RoutingOptions::index(std::int64_t layer) const {
  const auto at = std::ranges::find(layers, layer);
  if (at == layers.end()) return std::nullopt;
  return at - layers.begin();
}

std::int64_t transition_width(double ratio, std::int64_t least, std::int64_t width) {
  const auto wanted = static_cast<std::int64_t>(std::ceil(ratio * static_cast<double>(width)));
  const std::int64_t chosen = std::max(wanted, least);
  return chosen + chosen % 2;
}

RoutingOptions routing_options(const CellConfigs& cells) {
  const CellConfig& first = *cells.at(0);
  const std::string family = first.word("model.family");
  RoutingOptions o;
  const FamilyFacts& facts = facts_of(family);
  if (!facts.skips) return o;
  const std::string under = "model." + family;
  o.layers = dynamic_layers(first.by_path());
  o.capacity = reals(cells, under + ".capacity");
  o.gathered = first.word(under + ".execution") == "gathered";
  o.gathered_length = first.integer("data.seq_len");
  o.min_k.assign(cells.size(), 0);
  o.threshold.assign(cells.size(), 0.5);
  if (!facts.teaches) return o;
  o.threshold = reals(cells, "model.tdt.threshold");
  for (std::size_t e = 0; e < cells.size(); ++e) o.min_k[e] = cells[e]->integer("model.tdt.min_k");
  o.decider = decider_of(first.word("model.tdt.decider"));
  o.calibration_tokens = first.integer("model.tdt.calibration_tokens");
  o.always_first = first.flag("model.tdt.always_execute_first");
  return o;
}

TdtOptions tdt_options(const CellConfigs& cells) {
  const CellConfig& first = *cells.at(0);
  TdtOptions o;
  if (!facts_of(first.word("model.family")).teaches) return o;
  const std::string path = first.word("model.tdt.train_path");
  o.path = path == "dense"        ? TrainPath::Dense
           : path == "gated_soft" ? TrainPath::GatedSoft
                                  : TrainPath::GatedSt;
  for (const CellConfig* c : cells) {
    const double share = c->real("model.tdt.dense_fraction");
    o.dense_steps.push_back(static_cast<std::int64_t>(
        std::floor(share * static_cast<double>(c->integer("train.steps")) + 1e-9)));
    const double gamma = c->real("model.tdt.capacity");
    const bool logit = c->word("model.tdt.router.bias_init") == "logit_capacity";
    const double inside = std::clamp(gamma, 1e-6, 1 - 1e-6);
    o.router_bias_init.push_back(logit ? std::log(inside / (1 - inside)) : 0);
  }
  o.window = first.integer("model.tdt.ma_window");
  o.exclusive = first.flag("model.tdt.ma_exclusive");
  o.o_ce = reals(cells, "model.tdt.o_ce_init");
  o.m_cu = reals(cells, "model.tdt.m_cu_init");
  o.beta_ce = reals(cells, "model.tdt.beta_ce_init");
  o.beta_cu = reals(cells, "model.tdt.beta_cu_init");
  o.positive_scalars = first.word("model.tdt.scalars") == "softplus";
  o.layer_rms = first.word("model.tdt.surprise_norm") == "layer_rms";
  o.gate_grad_to_trunk = first.flag("model.tdt.gate_grad_to_trunk");
  o.tpn_width =
      transition_width(first.real("model.tdt.tpn.ratio"), first.integer("model.tdt.tpn.min_width"),
                       first.integer("model.d_model"));
  o.tpn_norm = first.word("model.tdt.tpn.norm") == "rms";
  const std::string& start = first.word("model.tdt.tpn.output_init");
  o.tpn_start = start == "zero"     ? TpnStart::Zero
                : start == "xavier" ? TpnStart::Xavier
                                    : TpnStart::Normal;
  o.tpn_detach_input = first.flag("model.tdt.tpn.detach_input");
  o.router_norm = first.word("model.tdt.router.input_norm") == "rms";
  o.router_bias = first.flag("model.tdt.router.bias");
  o.router_detach_input = first.flag("model.tdt.router.detach_input");
  o.lambda_tpn = reals(cells, "model.tdt.lambda_tpn");
  o.lambda_causal = reals(cells, "model.tdt.lambda_causal");
  return o;
}

ModOptions mod_options(const CellConfigs& cells) {
  ModOptions o;
  if (!facts_of(cells.at(0)->word("model.family")).predicts) return o;
  o.predictor_hidden = cells[0]->integer("model.mod.predictor_hidden");
  o.lambda_predictor = reals(cells, "model.mod.lambda_predictor");
  return o;
}

}  // namespace depthgrid
