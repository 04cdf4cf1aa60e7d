#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/real_fs.hpp"
#include "core/config/sweep.hpp"
#include "sweeps/compare/stein.hpp"

namespace depthgrid {

// What stage one of `--until-ci` has decided, as the store keeps it: until_ci.json, written once,
// whole or not at all, with a digest of its own.

/// Its name in a store.
inline constexpr const char* kTwoStageFile = "until_ci.json";

/// The first stage of one arm beside the baseline.
struct TwoStageContrast {
  std::string arm;
  double sd = 0;          // s of the differences, stage one
  double half_width = 0;  // that all seeds will give: t s / √n
};

/// What stage one has decided.
struct TwoStageRecord {
  std::string metric, baseline;  // the differences are of this metric, to this arm
  std::string asked;             // as the user wrote W: "0.01", "1%"
  double half_width = 0;         // W, unit of the metric
  std::int64_t max_seeds = 0;
  std::vector<std::int64_t> first_seeds;  // of stage one, in the order of the sweep file
  std::vector<std::int64_t> seeds;        // of both stages: these first
  std::vector<TwoStageContrast> contrasts;
  bool met = false;  // false: max_seeds does not suffice

  std::size_t added() const { return seeds.size() - first_seeds.size(); }
};

/// The rule that the record was decided by.
SteinRule stein_rule(const TwoStageRecord& record);

/// Seeds that the rule asks for, those of stage one included, whatever max_seeds allows.
double seeds_asked_for(const TwoStageRecord& record);

/// The largest half-width that the seeds of both stages give.
double widest_of(const TwoStageRecord& record);

/// The record of a store; nothing if there is none.
/// @throws StorageError (BadData) if it is damaged: not what publish_two_stage() wrote.
std::optional<TwoStageRecord> read_two_stage(const std::filesystem::path& store,
                                             const Fs& disk = real_fs());

/// Writes it, unless the store has one.
void publish_two_stage(const std::filesystem::path& store, const TwoStageRecord& record,
                       const Fs& disk = real_fs());

/// `seeds=[0, 1, …]` for --set: those of the sweep.
std::string seeds_setting(const Sweep& sweep);

/// The same with the seeds that the record has added; nothing if the sweep has them all.
std::optional<std::string> added_seeds(const TwoStageRecord& record, const Sweep& sweep);

}  // namespace depthgrid
