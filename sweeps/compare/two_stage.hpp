#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/config/sweep.hpp"
#include "sweeps/report/listing.hpp"

namespace depthgrid {

// `--until-ci`: seeds are added once, by Stein's rule of two stages (stein.hpp), until the
// intervals of the differences to the baseline are as narrow as asked. What stage one has decided
// is kept in the store, in until_ci.json, which is written once.

/// The first stage of one arm beside the baseline.
struct TwoStageContrast {
  std::string arm;
  double sd = 0;          // s of the differences, stage one
  double half_width = 0;  // that all seeds will give: t s / √n
};

/// What stage one has decided.
struct TwoStageRecord {
  std::string metric;
  std::string asked;      // as the user wrote W: "0.01", "1%"
  double half_width = 0;  // W, unit of the metric
  std::int64_t max_seeds = 0;
  std::vector<std::int64_t> first_seeds;  // of stage one, in the order of the sweep file
  std::vector<std::int64_t> seeds;        // of both stages: these first
  std::vector<TwoStageContrast> contrasts;
  bool met = false;  // false: max_seeds does not suffice
};

/// What is asked for.
struct TwoStageRequest {
  std::string half_width;  // a number above 0, or one with a %
  std::int64_t max_seeds = 100;
};

/// Fewest seeds of a first stage.
inline constexpr std::size_t kFirstStage = 5;

/// @throws UserError (Usage) unless `half_width` is such a number and the sweep has five seeds or
///         more, a metric, a baseline and another arm.
void check_two_stage(const Sweep& sweep, const TwoStageRequest& request);

/// The record of a store; nothing if there is none. @throws StorageError (BadData)
std::optional<TwoStageRecord> read_two_stage(const std::filesystem::path& store);

/// Writes it, unless the store has one.
void publish_two_stage(const std::filesystem::path& store, const TwoStageRecord& record);

/// Decides after stage one; nothing while cells of it are to be trained.
/// @throws UserError (Partial) naming the cells, if one has diverged or failed: the rule needs
/// every
///         pair; UserError (BadData) if the arms cannot be compared.
std::optional<TwoStageRecord> decide_two_stage(const Listing& listing,
                                               const TwoStageRequest& request);

/// `seeds=[0, 1, …]` for --set: those of the sweep.
std::string seeds_setting(const Sweep& sweep);

/// The same with the seeds that the record has added; nothing if the sweep has them all.
std::optional<std::string> added_seeds(const TwoStageRecord& record, const Sweep& sweep);

/// What stage one has decided, and, where all seeds have completed, the interval of each arm: mean
/// ± half-width, by the s and the degrees of freedom of stage one.
std::string two_stage_text(const Listing& listing, const TwoStageRecord& record);

}  // namespace depthgrid
