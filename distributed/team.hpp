#pragma once

#include <memory>

#include "distributed/collective.hpp"

namespace depthgrid {

/// A rank's place when a world is cut into teams of equal size.
struct TeamPlace {
  int team = -1;  ///< index of the team; -1: idle, as the last ranks do not fill a team
  int rank = 0;   ///< rank within the team
  int teams = 0;  ///< number of teams
  int idle = 0;   ///< number of ranks that belong to no team
};

/// Neighbouring ranks form a team, so that a team stays on one host where possible.
/// @throws UserError (BadConfig) if the world is smaller than one team.
TeamPlace team_place(int world_rank, int world_size, int ranks_per_job);

/// A team of R ranks that trains one fused job at a time; other teams train other jobs.
class Team {
 public:
  /// Collective over `world`. If ranks stay idle, the world's last rank logs one warning.
  Team(Collective& world, int ranks_per_job);

  bool idle() const noexcept { return place_.team < 0; }
  int index() const noexcept { return place_.team; }
  int count() const noexcept { return place_.teams; }

  /// True on the first rank, which claims cells, journals and writes; the others only compute.
  bool leads() const noexcept { return !idle() && place_.rank == 0; }

  /// The team's ranks; on an idle rank, all idle ranks.
  Collective& group() noexcept { return *group_; }

 private:
  TeamPlace place_;
  std::unique_ptr<Collective> group_;
};

}  // namespace depthgrid
