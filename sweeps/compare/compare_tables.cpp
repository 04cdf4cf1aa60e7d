#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/base/json_text.hpp"
#include "core/base/nan.hpp"
#include "sweeps/compare/compare_report.hpp"
#include "sweeps/compare/number_text.hpp"
#include "sweeps/compare/two_stage_report.hpp"
#include "sweeps/report/evaluation_windows.hpp"
#include "sweeps/report/provenance_notes.hpp"

namespace depthgrid {
namespace {

using TableJson = nlohmann::ordered_json;

TableJson limits(const ConfidenceLimits& of) {
  if (std::isnan(of.low) || std::isnan(of.high)) return {};
  return {of.low, of.high};
}

TableJson sample(const SampleSummary& of) {
  return {{"n", of.n}, {"mean", of.mean}, {"sd", of.sd}};
}

/// With Student's interval of the mean, unless seeds share a measurement.
TableJson sample_of(const ComparedRow& row) {
  TableJson out = sample(row.all);
  out["interval"] = row.shared ? TableJson() : limits(paired_contrast(row.values).interval);
  return out;
}

TableJson refusal(const BasisMismatch& refused) {
  if (!refused) return {};
  TableJson differs = TableJson::array();
  for (const auto& [name, mine, theirs] : refused.differences) {
    differs.push_back({{"what", name},
                       {"group", parse_ordered_json(canonical_json(mine))},
                       {"baseline", parse_ordered_json(canonical_json(theirs))}});
  }
  return {{"differs", differs},
          {"advice", refused.advice.empty() ? TableJson() : TableJson(refused.advice)}};
}

TableJson contrast(const PairedContrast& of) {
  return {{"n", of.n},
          {"mean", of.mean},
          {"sd", of.sd},
          {"interval", limits(of.interval)},
          {"degrees", of.degrees},
          {"t", of.t},
          {"p", of.p}};
}

TableJson evidence(const Listing& listing, const ContrastEvidence& of, bool in_family) {
  TableJson unpaired;
  if (of.unpaired) {
    unpaired = {{"mean", of.unpaired->value},
                {"interval", limits({of.unpaired->low, of.unpaired->high})},
                {"degrees", of.unpaired->degrees}};
  }
  TableJson cells = TableJson::array();
  for (const std::size_t row : of.pairs.unpaired) cells.push_back(listing.cells[row].id);
  const bool tested = !std::isnan(of.p());
  TableJson censored;
  if (of.censored) {
    censored = {
        {"reached", {{"group", of.censored->reached_a}, {"baseline", of.censored->reached_b}}},
        {"at_least", of.censored->low},
        {"at_most", of.censored->high}};
  }
  return {
      {"difference", contrast(of.contrast)},
      {"seeds", of.pairs.seeds},
      {"measurements", of.measurements},
      {"values", {{"group", of.pairs.mine}, {"baseline", of.pairs.theirs}}},
      {"baseline", sample(of.baseline)},
      {"compared_with", of.compared_with.empty() ? TableJson() : TableJson(of.compared_with)},
      {"combinations", of.pairs.combinations},
      {"left_out",
       {{"group", of.pairs.left_out}, {"baseline", of.pairs.baseline_left_out}, {"cells", cells}}},
      {"unpaired", unpaired},
      {"censored", censored},
      {"refused", refusal(of.pairs.refused)},
      {"holm_p", in_family ? of.holm : kNaN},
      {"simultaneous", in_family ? limits(of.simultaneous) : TableJson()},
      {"sign_flip",
       {{"p", of.flips.p}, {"smallest", of.flips.smallest}, {"exact", of.flips.exact}}},
      {"signs",
       {{"below", of.signs.below},
        {"ties", of.signs.ties},
        {"above", of.signs.above},
        {"p", of.signs.p}}},
      {"improved", {{"share", of.improved.share}, {"interval", limits(of.improved.interval)}}},
      {"effect",
       {{"d_z", of.effect.d_z},
        {"d_z_interval", limits(of.effect.d_z_interval)},
        {"g", of.effect.g},
        {"g_interval", limits(of.effect.g_interval)},
        {"g_av", of.g_av}}},
      {"equivalence_p", of.equivalence.p},
      {"detectable", of.detectable},
      {"seeds_needed", of.seeds_needed},
      {"verdict", tested ? TableJson(contrast_verdict_text(of.verdict)) : TableJson()}};
}

TableJson effects(const Listing& listing, const Comparison& comparison, const EffectTable& of) {
  TableJson rows = TableJson::array();
  for (const ComparedRow& row : of.rows) {
    const ComparedGroup& group = row.group;
    rows.push_back(
        {{"name", group.name},
         {"tag", group.tag.empty() ? TableJson() : TableJson(group.tag)},
         {"level", group.level ? parse_ordered_json(canonical_json(*group.level)) : TableJson()},
         {"baseline", group.baseline},
         {"cells", group.cells.size()},
         {"missing", group.missing()},
         {"diverged", group.count(CellStatus::Diverged)},
         {"all", sample_of(row)},
         {"contrast",
          row.evidence ? evidence(listing, *row.evidence, !of.exploratory) : TableJson()}});
  }
  TableJson trend;
  if (of.trend) {
    trend = {{"seeds", of.trend_seeds},          {"slope", contrast(of.trend->slope)},
             {"page_l", of.trend->page_l},       {"p_rising", of.trend->p_rising},
             {"p_falling", of.trend->p_falling}, {"p", of.trend->p},
             {"exact", of.trend->exact},         {"over", of.trend_over}};
  }
  return {{"factor", of.factor},
          {"within", of.within.empty() ? TableJson() : TableJson(of.within)},
          {"exploratory", of.exploratory || comparison.exploratory},
          {"baseline", of.baseline_name.empty() ? TableJson() : TableJson(of.baseline_name)},
          {"averaged_over", of.others},
          {"moves_with", of.moving_with},
          {"groups", rows},
          {"trend", trend}};
}

TableJson other_questions(const Listing& listing) {
  TableJson out = TableJson::array();
  for (const StoreQuestion& other : listing.other_questions) {
    out.push_back({{"store", listing.stores.at(other.store)},
                   {"metric", other.metric},
                   {"goal", other.goal}});
  }
  return out;
}

/// Cells whose files are damaged now.
TableJson damages(const Listing& listing) {
  TableJson out = TableJson::array();
  for (std::size_t row = 0; row < listing.cells.size(); ++row) {
    const CellSummary& cell = listing.cells[row];
    if (cell.damage.empty()) continue;
    out.push_back({{"cell", cell.alias},
                   {"status", name_of(cell.status)},
                   {"damage", damage_without_folders(listing, row)}});
  }
  return out;
}

TableJson shares(const BlockEffect& of) {
  return {{"eta2", of.eta2}, {"partial_eta2", of.partial_eta2}, {"omega2", of.omega2},
          {"f", of.f},       {"degrees", of.degrees},           {"error_degrees", of.error_degrees},
          {"p", of.p}};
}

TableJson variance(const VarianceTable& of) {
  TableJson interactions = TableJson::array();
  for (const InteractionContrast& one : of.interactions) {
    interactions.push_back({{"a", one.a}, {"b", one.b}, {"difference", contrast(one.contrast)}});
  }
  const bool there = of.refused.empty();
  return {
      {"a", of.a},
      {"b", of.b.empty() ? TableJson() : TableJson(of.b)},
      {"levels_a", of.levels_a},
      {"levels_b", of.levels_b},
      {"seeds", of.seeds},
      {"shares_a", there ? shares(of.effects.a) : TableJson()},
      {"shares_b", there && !of.b.empty() ? shares(of.effects.b) : TableJson()},
      {"shares_interaction", there && !of.b.empty() ? shares(of.effects.interaction) : TableJson()},
      {"interactions", interactions},
      {"refused", there ? TableJson() : TableJson(of.refused)}};
}

}  // namespace

Table comparison_csv_table(const Comparison& comparison) {
  Table out;
  for (const char* title : {"factor",
                            "within",
                            "exploratory",
                            "group",
                            "baseline",
                            "cells",
                            "missing",
                            "metric",
                            "sees_future",
                            "n",
                            "mean",
                            "sd",
                            "baseline_mean",
                            "difference",
                            "low",
                            "high",
                            "degrees",
                            "t",
                            "p",
                            "holm_p",
                            "simultaneous_low",
                            "simultaneous_high",
                            "sign_flip_p",
                            "g",
                            "g_low",
                            "g_high",
                            "d_z",
                            "g_av",
                            "improved",
                            "improved_low",
                            "improved_high",
                            "equivalence_p",
                            "detectable",
                            "seeds_needed",
                            "verdict",
                            "seeds",
                            "refused",
                            "compared_with"}) {
    out.columns.push_back({title});
  }
  for (const EffectTable& table : comparison.effects) {
    for (const ComparedRow& row : table.rows) {
      const ContrastEvidence e = row.evidence.value_or(ContrastEvidence{});
      const SampleSummary& own = row.shown();
      const bool family = row.evidence && !table.exploratory;
      const bool tested = !std::isnan(e.p());
      const MeanDifference w = e.unpaired.value_or(MeanDifference{});
      const bool welch = e.unpaired.has_value();
      out.rows.push_back({table.factor,
                          table.within,
                          table.exploratory || comparison.exploratory ? "true" : "false",
                          row.group.name,
                          row.group.baseline ? "true" : "false",
                          std::to_string(row.group.cells.size()),
                          std::to_string(row.group.missing()),
                          comparison.metric,
                          comparison.sees_future ? "true" : "false",
                          std::to_string(own.n),
                          exact_number(own.mean),
                          exact_number(own.sd),
                          exact_number(e.baseline.mean),
                          exact_number(welch ? w.value : e.contrast.mean),
                          exact_number(welch ? w.low : e.contrast.interval.low),
                          exact_number(welch ? w.high : e.contrast.interval.high),
                          exact_number(welch ? w.degrees : e.contrast.degrees),
                          exact_number(e.contrast.t),
                          exact_number(e.p()),
                          family ? exact_number(e.holm) : "",
                          family ? exact_number(e.simultaneous.low) : "",
                          family ? exact_number(e.simultaneous.high) : "",
                          exact_number(e.flips.p),
                          exact_number(e.effect.g),
                          exact_number(e.effect.g_interval.low),
                          exact_number(e.effect.g_interval.high),
                          exact_number(e.effect.d_z),
                          exact_number(e.g_av),
                          exact_number(e.improved.share),
                          exact_number(e.improved.interval.low),
                          exact_number(e.improved.interval.high),
                          exact_number(e.equivalence.p),
                          exact_number(e.detectable),
                          std::isfinite(e.seeds_needed) ? exact_number(e.seeds_needed) : "",
                          tested ? std::string(contrast_verdict_text(e.verdict)) : "",
                          fmt::format("{}", fmt::join(e.pairs.seeds, " ")),
                          e.pairs.refused.text(),
                          e.compared_with});
    }
  }
  return out;
}

std::string comparison_json(const Listing& listing, const Comparison& comparison,
                            const std::optional<NoContrast>& problem,
                            const std::vector<TwoStageAnswer>& staged) {
  TableJson tables = TableJson::array(), variances = TableJson::array();
  for (const EffectTable& table : comparison.effects) {
    tables.push_back(effects(listing, comparison, table));
  }
  for (const VarianceTable& table : comparison.variance) variances.push_back(variance(table));
  return json_text(
             TableJson{{"schema", 1},
                       {"sweep", listing.sweep},
                       {"store", listing.store},
                       {"stores", listing.stores},
                       {"tables", listing.tables},
                       {"repeated", listing.repeated},
                       {"other_questions", other_questions(listing)},
                       {"metric", comparison.metric},
                       {"unit", comparison.unit.empty() ? TableJson() : TableJson(comparison.unit)},
                       {"goal", comparison.goal},
                       {"note", comparison.note.empty() ? TableJson() : TableJson(comparison.note)},
                       {"sees_future", comparison.sees_future},
                       {"margin", comparison.margin ? TableJson(*comparison.margin) : TableJson()},
                       {"confidence", kConfidence},
                       {"level", kVerdictLevel},
                       {"family", comparison.family},
                       {"outside", comparison.outside},
                       {"without_figure", comparison.without_figure},
                       {"damages", damages(listing)},
                       {"problem", problem ? TableJson(problem->sentence) : TableJson()},
                       {"effects", tables},
                       {"variance", variances},
                       {"until_ci", two_stage_json(listing, staged)}},
             2) +
         "\n";
}

}  // namespace depthgrid
