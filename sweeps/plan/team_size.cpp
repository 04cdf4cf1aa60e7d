#include "sweeps/plan/team_size.hpp"

#include <cmath>

#include <fmt/format.h>

#include "sweeps/report/table.hpp"

namespace depthgrid {

double training_operations(const CellConfig& config, const StructureCost& cost) {
  const std::int64_t tokens = config.integer("train.batch_size") * config.integer("data.seq_len") *
                              config.integer("train.steps");
  // The backward pass costs twice as much again, besides what it evaluates anew.
  return (3 * cost.flops_per_token + cost.recomputed_flops_per_token) * static_cast<double>(tokens);
}

double team_seconds(double alone, std::int64_t ranks) {
  const auto r = static_cast<double>(ranks);
  return alone / (r * std::pow(kTeamEfficiency, std::log2(r)));
}

double rank_bytes(const StructureCost& cost, std::size_t cells, std::int64_t ranks, bool divide) {
  const double shared = cost.activation_bytes_per_cell + (divide ? cost.moment_bytes_per_cell : 0);
  const double own = cost.bytes_per_cell - shared;
  return cost.fixed_bytes +
         static_cast<double>(cells) * (own + shared / static_cast<double>(ranks));
}

TeamSize team_size(double seconds, const StructureCost* cost, const TeamLimits& limits) {
  const auto slow = [&](std::int64_t ranks) {
    return limits.cell_seconds > 0 && team_seconds(seconds, ranks) > limits.cell_seconds;
  };
  constexpr std::int64_t kManyRanks = 1'000'000;
  const auto large = [&](std::int64_t ranks) {
    if (cost == nullptr || limits.memory_bytes <= 0) return false;
    const auto fits = [&](std::int64_t n) {
      return rank_bytes(*cost, 1, n, limits.divide) <= limits.memory_bytes;
    };
    return !fits(ranks) && fits(kManyRanks);  // else no team cures that
  };
  TeamSize out;
  while ((slow(out.ranks) || large(out.ranks)) && 2 * out.ranks <= limits.ranks) out.ranks *= 2;
  // Ranks that make a cell no faster than asked for, nor let it fit, are still the best there is.
  if (out.ranks == 1) return out;
  out.why = fmt::format("{} ranks: a cell alone ", out.ranks);
  out.why += large(1) ? "does not fit in memory"
                      : fmt::format("would take about {}, resources.max_cell_time is {}",
                                    short_seconds(seconds), short_seconds(limits.cell_seconds));
  return out;
}

}  // namespace depthgrid
