#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/probe/record.hpp"
#include "core/probe/trajectory/state_moments.hpp"
#include "core/probe/trajectory/token_statistics.hpp"

namespace depthgrid {

/// What all cells of a measurement have in common.
struct TrajectorySizes {
  std::int64_t steps = 0;   // L
  std::int64_t tokens = 0;  // of the probe set, all sequences
  std::vector<std::string> classes;
  bool cka = false;
};

/// The least number of tokens for CKA between depths: with fewer, its noise is as large as what is
/// sought.
inline constexpr std::int64_t kLeastCkaTokens = 1024;

/// The series of a trajectory, in the order of CellTrajectory::numbers().
std::vector<SeriesSpec> trajectory_series(const TrajectorySizes& sizes);

/// The numbers of one cell at one measurement, gathered block by block.
class CellTrajectory {
 public:
  /// @param channels  C
  CellTrajectory(const TrajectorySizes& sizes, std::int64_t channels);

  /// The next T tokens. A cell with a non-finite state ignores all further ones.
  /// @param x       (L + 1, T, C) double, on any device
  /// @param times   (L + 1) double, on the same device
  /// @param member  (classes, T) bool, host
  void add(const at::Tensor& x, const at::Tensor& times, const at::Tensor& member);

  /// Rows of all series, all of NaN if a state is not finite:
  /// - `trajectory_norm_*`: distribution_of() the RMS of the states of all tokens of a class;
  /// - the other series by class: means of PathStatistics over the tokens of a class for which the
  ///   number is defined;
  /// - `trajectory_effective_rank`, `trajectory_participation_ratio`: Spectrum of all tokens;
  /// - `trajectory_cka`: debiased_cka() of all tokens; NaN with fewer than kLeastCkaTokens.
  std::vector<std::vector<double>> numbers() const;

 private:
  bool pairs() const;
  std::vector<std::vector<double>> rows_by_class() const;
  std::vector<std::vector<double>> rows_of_moments() const;

  TrajectorySizes sizes_;
  bool sound_ = true;
  ClassMeans means_;                        // a row per entry of each series by class but the norms
  std::vector<std::vector<double>> norms_;  // of the tokens of each (state, class)
  std::unique_ptr<StateMoments> moments_;
};

}  // namespace depthgrid
