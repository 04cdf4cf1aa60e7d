#include "sweeps/plan/structure_cost.hpp"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "core/base/json_members.hpp"
#include "core/base/json_text.hpp"
#include "core/config/axis_labels.hpp"
#include "core/config/facts/gathered_execution.hpp"
#include "core/config/facts/state_volume.hpp"
#include "core/config/family_facts.hpp"
#include "storage/columns/variables.hpp"

namespace depthgrid {
namespace {

using Json = nlohmann::ordered_json;

using C = StructureCost;
constexpr auto kCounts = json_members("structure", &C::structure, "parameters", &C::parameters);
constexpr auto kCosts =
    json_members("flops_per_token", &C::flops_per_token, "recomputed_flops_per_token",
                 &C::recomputed_flops_per_token, "fixed_bytes", &C::fixed_bytes, "bytes_per_cell",
                 &C::bytes_per_cell, "activation_bytes_per_cell", &C::activation_bytes_per_cell,
                 "moment_bytes_per_cell", &C::moment_bytes_per_cell, "seconds_per_cell_step",
                 &C::seconds_per_cell_step, "seconds_per_eval_token", &C::seconds_per_eval_token,
                 "max_fused", &C::max_fused, "depends_on_h", &C::depends_on_h);

StructureCost cost_of(const Json& j) {
  StructureCost c;
  take_members(j, c, kCounts);
  take_members(j, c, kCosts,
               {"recomputed_flops_per_token", "fixed_bytes", "activation_bytes_per_cell",
                "moment_bytes_per_cell", "seconds_per_eval_token", "depends_on_h"});
  if (j.contains("parameter_groups")) {
    for (const auto& [group, count] : j["parameter_groups"].items()) {
      c.parameter_groups.emplace_back(group, count.get<std::int64_t>());
    }
  }
  if (j.contains("student_flops")) {
    const Json& s = j["student_flops"];
    c.student_flops = StudentFlops{s.at(0), s.at(1), s.at(2)};
  }
  for (const Json& t : j.value("tensors", Json::array())) {
    c.tensors.push_back({t.at(0), t.at(1), t.at(2)});
  }
  for (const Json& p : j.value("probes", Json::array())) {
    const double bytes = p.size() > 4 ? p.at(4).get<double>() : 0;
    c.probes.push_back({p.at(0), p.at(1), p.at(2), p.at(3), bytes});
  }
  if (j.contains("time_feature_rank") && j["time_feature_rank"].is_number()) {
    c.time_feature_rank = j["time_feature_rank"].get<std::int64_t>();
  }
  return c;
}

// Claim, journal, checkpoint, result and their syncs, measured on a local disk.
constexpr double kSecondsPerCell = 0.035;

// One core of 2024, forward. In small models the passes over activations take longer than the
// products (`depthgrid bench step` at d_model 16 … 128).
constexpr double kSecondsPerFlop = 1.1e-11;
constexpr double kSecondsPerToken = 1e-6, kSecondsPerTokenAndLayer = 2.7e-7;

// Of docs/store-format.md: a frame's head, a number of a row, one of a series.
constexpr double kFrame = 24, kNumber = 8, kPackedNumber = 4;
constexpr double kResultHead = 85e3;         // variables of a cell, their attributes, the plan
constexpr double kCheckpointHead = 5e3;      // in addition to the weights
constexpr double kCheckpointParameter = 12;  // value and two moments

/// Passes over `valid` that compare the modes of layers that skip tokens: a student per decider.
double mode_passes(const CellConfig& config) {
  const bool many = facts_of(config.word("model.family")).teaches;
  double out = 0;
  for (const std::string& mode : config.words("eval.modes")) {
    out +=
        mode == "student" && many ? static_cast<double>(config.words("eval.deciders").size()) : 1;
  }
  return out;
}

/// Passes over the held-out text before an evaluation: each finds the thresholds of all layers.
double calibration_passes(const CellConfig& config) {
  if (!facts_of(config.word("model.family")).teaches) return 0;
  const auto names = [&](const char* leaf, std::string_view word) {
    return std::ranges::count(config.words(leaf), word) > 0;
  };
  const bool student = config.word("model.tdt.decider") == "calibrated" ||
                       (names("eval.modes", "student") && names("eval.deciders", "calibrated"));
  return (student ? 1 : 0) + (names("eval.modes", "teacher_threshold") ? 1 : 0);
}

/// Windows of one evaluation. @param windows  per split. @param splits  number of them.
double evaluated_windows(const CellConfig& config, double windows, double splits, bool final) {
  double out = windows * splits;
  if (!facts_of(config.word("model.family")).skips) return out;
  const double length = config.real("data.seq_len");
  const std::optional<std::int64_t> few = config.integer_if("eval.mode_windows");
  if (!final && few) windows = std::min(windows, static_cast<double>(*few));
  out += windows * mode_passes(config);
  const double held_out =
      std::max(1.0, std::floor(config.real("model.tdt.calibration_tokens") / length));
  out += calibration_passes(config) * (final ? held_out : std::min(windows, held_out));
  return out;
}

double number_or_zero(const CellConfig& config, const char* leaf) {
  return static_cast<double>(config.integer_if(leaf).value_or(0));
}

/// Tokens of the periodic evaluations of a cell. Passes over a whole split are left out, as a plan
/// needs no corpus.
double periodic_tokens(const CellConfig& config) {
  const double steps = number_or_zero(config, "train.steps");
  const double every = number_or_zero(config, "eval.every");
  const double times = (config.flag("eval.at_start") ? 1 : 0) +  // the last step always
                       (every > 0 ? std::ceil(steps / every) : 1);
  const auto splits = static_cast<double>(config.words("eval.splits").size());
  if (splits == 0) return 0;
  double windows =
      times * evaluated_windows(config, number_or_zero(config, "eval.windows"), splits, false);
  constexpr double kPublishedWindows = 80;
  if (config.word("eval.protocol") == "published_1") windows += times * kPublishedWindows;
  return windows * config.real("data.seq_len");
}

/// Tokens of the final evaluation, if eval.final_windows bounds it.
double final_tokens(const CellConfig& config) {
  const double windows =
      evaluated_windows(config, number_or_zero(config, "eval.final_windows"),
                        static_cast<double>(config.words("eval.final_splits").size()), true);
  return windows * config.real("data.seq_len");
}

/// What a step costs beside one on windows of text: prompts are short; further terms of the loss
/// make passes of their own over a share of the rows.
double step_share(const CellConfig& config) {
  constexpr double kPromptTokens = 16, kForward = 1.0 / 3;  // of forward and backward
  if (config.word("train.task") == "steering") {
    return std::min(1.0, kPromptTokens / config.real("data.seq_len"));
  }
  if (config.word("train.task") != "control") return 1;
  const auto uses = [&](const char* term) { return config.real(term) > 0 ? 1.0 : 0.0; };
  return 1 + config.real("train.control.contrastive_rows") *
                 (2 * uses("train.control.contrastive") + uses("train.control.attribute") +
                  (1 + kForward) * uses("train.control.anchor"));
}

}  // namespace

const StructureCost* known_cost(const CostTable& costs, const std::string& structure) {
  const auto at = costs.find(structure);
  return at == costs.end() ? nullptr : &at->second;
}

double final_passes(const CellConfig& config) {
  if (config.word("train.task") != "control") return 1;
  return 5 + 2 * config.real("model.control.dim");
}

double expected_flops(const StructureCost& cost, const CellConfig& config) {
  const std::optional<std::int64_t> k = capacity_count(config.by_path());
  if (!k || !cost.student_flops) return cost.flops_per_token;
  const double tokens = config.real("data.seq_len");
  return cost.student_flops->at(static_cast<double>(*k) / tokens);
}

PredictedTime& PredictedTime::operator+=(const PredictedTime& other) {
  training += other.training;
  ending += other.ending;
  fixed += other.fixed;
  return *this;
}

PredictedTime predicted_times(const CellConfig& config, const StructureCost& cost) {
  const double steps = config.real("train.steps");
  PredictedTime out{steps * cost.seconds_per_cell_step * step_share(config), 0, kSecondsPerCell};
  out.training += periodic_tokens(config) * cost.seconds_per_eval_token;
  for (const ProbeCost& probe : cost.probes) {
    out.training += static_cast<double>(probe.measurements) * probe.seconds;
  }
  out.ending = final_tokens(config) * final_passes(config) * cost.seconds_per_eval_token;
  return out;
}

void set_rough_times(StructureCost& cost, const CellConfig& config) {
  const std::int64_t tokens = config.integer("train.batch_size") * config.integer("data.seq_len");
  cost.seconds_per_eval_token =
      kSecondsPerFlop * cost.flops_per_token + kSecondsPerToken +
      kSecondsPerTokenAndLayer * static_cast<double>(depth_steps(config.by_path()));
  cost.seconds_per_cell_step =
      (3 * cost.seconds_per_eval_token + kSecondsPerFlop * cost.recomputed_flops_per_token) *
      static_cast<double>(tokens);
}

double predicted_cell_seconds(const CellConfig& config, const StructureCost& cost) {
  return predicted_times(config, cost).sum();
}

double stored_bytes(const ProbeCost& probe) {
  return static_cast<double>(probe.measurements) *
         (probe.numbers * (kNumber + kPackedNumber) + probe.bytes);
}

double predicted_stored_bytes(const CellConfig& config, std::int64_t parameters,
                              const std::vector<ProbeCost>& probes) {
  const double steps = config.real("train.steps");
  double evals = 1 + (config.flag("eval.at_start") ? 1 : 0);
  if (!config.null("eval.every")) {
    evals = std::ceil(steps / config.real("eval.every")) + evals - 1;
  }
  auto eval_numbers = static_cast<double>(row_numbers("eval_step"));
  if (config.flag("eval.by_position")) {
    eval_numbers += static_cast<double>(kSplitNames.size()) * config.real("data.seq_len");
  }
  const double numbers = steps * static_cast<double>(row_numbers("step")) + evals * eval_numbers;
  const double journal = (steps + evals) * kFrame + numbers * kNumber;
  const bool best =
      config.null("checkpoint.keep_best") || config.integer("checkpoint.keep_best") > 0;
  const auto* at = config.at("checkpoint.keep_at").get_if<ValueList>();
  const double kept = (config.flag("checkpoint.keep_final") ? 1 : 0) + (best ? 1 : 0) +
                      (at == nullptr ? 0.0 : static_cast<double>(at->size()));
  double measurements = 0;
  for (const ProbeCost& probe : probes) measurements += stored_bytes(probe);
  return journal + kResultHead + numbers * kPackedNumber + measurements +
         kept * (kCheckpointHead + kCheckpointParameter * static_cast<double>(parameters));
}

CostTable parse_costs(std::string_view json) {
  try {
    const Json root = parse_ordered_json(json);
    if (root.at("schema") != 1) throw Error("describe: the answer has an unknown schema");
    CostTable table;
    for (const Json& j : root.at("structures")) {
      StructureCost cost = cost_of(j);
      table[cost.structure] = std::move(cost);
    }
    return table;
  } catch (const nlohmann::json::exception& e) {
    throw Error(std::string("describe: the answer cannot be read: ") + e.what());
  }
}

std::string costs_json(const CostTable& costs) {
  Json structures = Json::array();
  for (const auto& [key, c] : costs) {
    Json groups = Json::object();
    for (const auto& [group, count] : c.parameter_groups) groups[group] = count;
    Json& out = structures.emplace_back(object_of<Json>(c, kCounts));
    out["structure"] = key;
    out["parameter_groups"] = std::move(groups);
    put_members(out, c, kCosts);
    out["time_feature_rank"] = c.time_feature_rank < 0 ? Json() : Json(c.time_feature_rank);
    if (const auto& s = c.student_flops) {
      out["student_flops"] = {s->always, s->products, s->attention};
    }
    for (const ProbeCost& p : c.probes) {
      out["probes"].push_back({p.name, p.measurements, p.seconds, p.numbers, p.bytes});
    }
    for (const TensorInfo& t : c.tensors) out["tensors"].push_back({t.name, t.shape, t.group});
  }
  return json_text(Json{{"schema", 1}, {"structures", structures}});
}

}  // namespace depthgrid
