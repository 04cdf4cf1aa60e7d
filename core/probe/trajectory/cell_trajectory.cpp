#include "core/probe/trajectory/cell_trajectory.hpp"

#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <string_view>
#include <utility>

#include <ATen/ops/cat.h>

#include "core/probe/trajectory/path_statistics.hpp"
#include "core/probe/trajectory/state_moments.hpp"
#include "core/probe/trajectory/token_statistics.hpp"

namespace depthgrid {
namespace {

/// What the rows of a mean by class are counted by.
enum class PathAxis : std::uint8_t { State, Step, Path };

struct PathSeries {
  std::string_view name;
  at::Tensor PathStatistics::* part;
  PathAxis axis;
};

constexpr PathSeries kPathSeries[] = {
    {"trajectory_displacement", &PathStatistics::displacement, PathAxis::State},
    {"trajectory_velocity", &PathStatistics::velocity, PathAxis::Step},
    {"trajectory_relative_velocity", &PathStatistics::relative_velocity, PathAxis::Step},
    {"trajectory_acceleration", &PathStatistics::acceleration, PathAxis::Step},
    {"trajectory_path_length", &PathStatistics::path_length, PathAxis::Path},
    {"trajectory_tortuosity", &PathStatistics::tortuosity, PathAxis::Path},
    {"trajectory_straightness", &PathStatistics::straightness, PathAxis::Path},
    {"trajectory_curvature", &PathStatistics::curvature, PathAxis::Step},
    {"trajectory_cosine_step", &PathStatistics::cosine_step, PathAxis::Step},
    {"trajectory_cosine_state", &PathStatistics::cosine_state, PathAxis::Step},
    {"trajectory_cosine_final", &PathStatistics::cosine_final, PathAxis::State},
};

struct NormSeries {
  std::string_view name;
  double TokenDistribution::* part;
};

constexpr NormSeries kNormSeries[] = {
    {"trajectory_norm_mean", &TokenDistribution::mean},
    {"trajectory_norm_std", &TokenDistribution::std},
    {"trajectory_norm_p05", &TokenDistribution::p05},
    {"trajectory_norm_p50", &TokenDistribution::p50},
    {"trajectory_norm_p95", &TokenDistribution::p95},
    {"trajectory_norm_max", &TokenDistribution::max},
};

std::int64_t rows_of(PathAxis axis, std::int64_t steps) {
  return axis == PathAxis::State ? steps + 1 : axis == PathAxis::Step ? steps : 1;
}

std::int64_t path_rows(std::int64_t steps) {
  std::int64_t rows = 0;
  for (const PathSeries& series : kPathSeries) rows += rows_of(series.axis, steps);
  return rows;
}

}  // namespace

std::vector<SeriesSpec> trajectory_series(const TrajectorySizes& sizes) {
  const SeriesAxis step{.name = "depth", .length = sizes.steps};
  const SeriesAxis state{.name = "depth_edge", .length = sizes.steps + 1};
  const SeriesAxis state_b{.name = "depth_edge_b", .length = sizes.steps + 1};
  const SeriesAxis by_class{.name = "token_class",
                            .length = static_cast<std::int64_t>(sizes.classes.size()),
                            .labels = sizes.classes};
  std::vector<SeriesSpec> out;
  for (const PathSeries& series : kPathSeries) {
    SeriesSpec& spec = out.emplace_back(SeriesSpec{.name = std::string(series.name)});
    if (series.axis != PathAxis::Path)
      spec.axes.push_back(series.axis == PathAxis::State ? state : step);
    spec.axes.push_back(by_class);
  }
  for (const NormSeries& series : kNormSeries) {
    out.push_back({.name = std::string(series.name), .axes = {state, by_class}});
  }
  out.push_back({.name = "trajectory_effective_rank", .axes = {state}});
  out.push_back({.name = "trajectory_participation_ratio", .axes = {state}});
  if (sizes.cka) out.push_back({.name = "trajectory_cka", .axes = {state, state_b}});
  return out;
}

CellTrajectory::CellTrajectory(const TrajectorySizes& sizes, std::int64_t channels)
    : sizes_(sizes),
      means_(path_rows(sizes.steps), static_cast<std::int64_t>(sizes.classes.size())),
      norms_(static_cast<std::size_t>(sizes.steps + 1) * sizes.classes.size()),
      moments_(make_state_moments(sizes.steps + 1, sizes.tokens, channels, pairs())) {}

bool CellTrajectory::pairs() const {
  return sizes_.cka && sizes_.tokens >= kLeastCkaTokens;
}

void CellTrajectory::add(const at::Tensor& x, const at::Tensor& times, const at::Tensor& member) {
  if (!sound_) return;
  const PathStatistics paths = path_statistics(x, times);
  const std::int64_t tokens = x.size(1);
  std::vector<at::Tensor> rows;
  for (const PathSeries& series : kPathSeries)
    rows.push_back((paths.*series.part).view({-1, tokens}));
  rows.push_back(paths.norm);
  const at::Tensor host = at::cat(rows).cpu();  // one copy
  const std::int64_t states = sizes_.steps + 1;
  const at::Tensor norm = host.narrow(0, host.size(0) - states, states);

  // A norm is finite exactly if the state is: squares of floats do not overflow a double.
  sound_ = std::isfinite(norm.sum().item<double>());
  if (!sound_) return;
  means_.add(host.narrow(0, 0, host.size(0) - states), member);
  const auto norms = norm.accessor<double, 2>();
  const auto in = member.accessor<bool, 2>();
  auto sample = norms_.begin();
  for (std::int64_t l = 0; l < states; ++l) {
    for (std::int64_t k = 0; k < in.size(0); ++k, ++sample) {
      for (std::int64_t i = 0; i < tokens; ++i) {
        if (in[k][i]) sample->push_back(norms[l][i]);
      }
    }
  }
  moments_->add(x);
}

std::vector<std::vector<double>> CellTrajectory::numbers() const {
  std::vector<std::vector<double>> out = rows_by_class();
  for (std::vector<double>& row : rows_of_moments()) out.push_back(std::move(row));
  if (sound_) return out;
  for (std::vector<double>& row : out)
    row.assign(row.size(), std::numeric_limits<double>::quiet_NaN());
  return out;
}

std::vector<std::vector<double>> CellTrajectory::rows_by_class() const {
  const auto classes = static_cast<std::int64_t>(sizes_.classes.size());
  std::vector<std::vector<double>> out;
  std::int64_t row = 0;
  for (const PathSeries& series : kPathSeries) {
    std::vector<double>& values = out.emplace_back();
    for (std::int64_t i = 0; i < rows_of(series.axis, sizes_.steps); ++i, ++row) {
      for (std::int64_t k = 0; k < classes; ++k) values.push_back(means_.mean(row, k));
    }
  }
  const std::size_t norms = out.size();
  out.resize(norms + std::size(kNormSeries));
  for (const std::vector<double>& sample : norms_) {
    const TokenDistribution found = distribution_of(sample);
    for (std::size_t i = 0; i < std::size(kNormSeries); ++i) {
      out[norms + i].push_back(found.*kNormSeries[i].part);
    }
  }
  return out;
}

std::vector<std::vector<double>> CellTrajectory::rows_of_moments() const {
  const auto states = static_cast<std::size_t>(sizes_.steps + 1);
  const double undefined = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> rank(states, undefined), ratio(states, undefined);
  std::vector<double> cka(states * states, undefined);
  if (sound_) {
    const at::Tensor scatters = moments_->scatters().cpu();
    for (std::size_t l = 0; l < states; ++l) {
      const Spectrum spectrum = spectrum_of(scatters[static_cast<std::int64_t>(l)]);
      rank[l] = spectrum.effective_rank;
      ratio[l] = spectrum.participation_ratio;
    }
    if (pairs()) cka = debiased_cka(moments_->gram_sums(), sizes_.tokens);
  }
  std::vector<std::vector<double>> out = {std::move(rank), std::move(ratio)};
  if (sizes_.cka) out.push_back(std::move(cka));
  return out;
}

}  // namespace depthgrid
