#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sweeps/compare/contrast_evidence.hpp"
#include "sweeps/compare/derived_metric.hpp"
#include "sweeps/compare/design.hpp"
#include "sweeps/compare/time_origins.hpp"
#include "sweeps/compare/two_way.hpp"
#include "sweeps/compare/variance.hpp"

namespace depthgrid {

/// What is asked of a sweep.
struct ComparisonQuery {
  std::vector<std::string> by;   // factors: leaves in full, arm, tag or store
  std::string within;            // a leaf: effects at each of its levels; empty: averaged over it
  std::string baseline;          // of the first factor; empty: the sweep's own
  std::string metric;            // empty: the sweep's own
  std::string goal;              // minimize or maximize; empty: see goal_of()
  std::optional<double> margin;  // δ > 0, unit of the metric
  std::vector<std::string> allowed;  // words of `--allow`
  /// Arms whose trainable parameters differ by more than this share are refused; nothing: any.
  std::optional<double> parameter_tolerance = std::nullopt;
  /// The metric, where it was read off curves; `metric` is its name then.
  std::optional<DerivedMetric> derived = std::nullopt;
  /// Of a metric that is a measured time; nothing: read from the stores, if the listing has the
  /// names by which they can be opened.
  std::optional<TimeOrigins> times = std::nullopt;
};

/// "maximize" for accuracies, areas, gains and rates, else "minimize"; the sweep's own for its
/// metric, which a table does not hold.
std::string goal_of(const Listing& listing, const std::string& metric);

/// A group beside the baseline.
struct ComparedRow {
  ComparedGroup group;
  SampleSummary all;  // seeds of the group alone; of the baseline itself, what is shown
  std::vector<double> values = {};  // of these seeds
  bool shared = false;  // some of them have one measurement of time: their mean has no interval
  std::optional<ContrastEvidence> evidence;  // nothing for the baseline

  bool compared() const { return evidence && evidence->sample.n > 0; }
  /// What is shown: of the pairs where it is compared, else of all its seeds.
  const SampleSummary& shown() const { return compared() ? evidence->sample : all; }
};

/// The groups of one factor; with `within`, at one level of another.
struct EffectTable {
  std::string factor;
  std::vector<std::string> with = {};  // other factors asked for that move with it: one with it
  std::string within = {};             // "data.seq_len = 64", else empty
  std::string baseline_name;
  bool baseline_selected = false;
  bool exploratory = false;  // not of the family: no Holm, the verdict is that of a single test
  std::vector<ComparedRow> rows;
  std::vector<std::string> others, moving_with;  // see Design
  std::optional<MonotoneTrend> trend;            // of three or more levels that are numbers
  std::size_t trend_seeds = 0;
  /// Combinations of the others that the trend is over, where levels have more than all have.
  std::vector<std::string> trend_over = {};

  /// "model.d_model", or "model.d_model (with model.n_heads)".
  std::string title() const;
};

/// The answer.
struct Comparison {
  std::string metric, goal, unit;
  bool exploratory = false;  // not of the sweep's own metric at the end of its training
  bool sees_future = false;  // the metric is of a pass that looks ahead, in some cell
  std::optional<double> margin;
  bool baseline_named = false;                    // by the query, not by the sweep
  bool metric_named = false, goal_named = false;  // likewise
  std::string note;                               // of a derived metric
  std::string lacking;                      // of a derived metric: why cells have no number of it
  std::vector<std::string> without_figure;  // completed cells whose metric is NaN or missing
  std::size_t family = 0;                   // contrasts in Holm's family
  std::vector<std::string> by;              // titles of the factors that it is of
  std::string within;                       // the leaf at each level of which it is
  std::vector<std::string> outside;         // arms without the leaf of `within`: in no table
  std::vector<EffectTable> effects;
  std::vector<VarianceTable> variance;
};

/// Effects of each factor against its baseline, on seeds as units.
///
/// For each seed, figures are averaged with equal weights over the complete combinations of the
/// other factors, so n is the number of seeds. Leaves that move together, as the columns of a
/// `zip`, are one factor, that of the first one asked for. The family of Holm's correction is all
/// contrasts of the factors asked for; with several factors, effects at single levels of the others
/// and interactions are exploratory.
/// @param rows  of the listing, that take part.
/// @throws UserError (Usage) for a factor, level, metric or word that is not there.
Comparison compare_cells(const Listing& listing, const std::vector<std::size_t>& rows,
                         const ComparisonQuery& query);

/// Sets `times` of a query, for a comparison of the same rows of a listing whose stores have got
/// other names than their folders. @throws as compare_cells()
void add_time_origins(const Listing& listing, const std::vector<std::size_t>& rows,
                      ComparisonQuery& query);

}  // namespace depthgrid
