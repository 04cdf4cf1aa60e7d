#pragma once

#include <memory>

#include "distributed/collective.hpp"

namespace depthgrid {

/// Where a rank stands when a world is cut into teams of equal size.
struct TeamPlace {
  int team = -1;  ///< index of the team; -1: idle, because the last ranks do not fill a team
  int rank = 0;   ///< position in the team
  int teams = 0;  ///< number of teams
  int idle = 0;   ///< ranks of the world that belong to none
};

/// Neighbouring ranks form a team, so that a team stays on one host where it can.
/// @throws UserError (BadConfig) if the world is smaller than one team.
TeamPlace team_place(int world_rank, int world_size, int ranks_per_job);

/// A team of R ranks that trains one fused job at a time; other teams train other jobs.
class Team {
 public:
  /// Collective over `world`. Idle ranks say so in one warning of the world's last rank.
  Team(Collective& world, int ranks_per_job);

  bool idle() const noexcept { return place_.team < 0; }
  int index() const noexcept { return place_.team; }
  int count() const noexcept { return place_.teams; }

  /// The first rank claims cells, journals and writes; the others only compute.
  bool leads() const noexcept { return !idle() && place_.rank == 0; }

  /// The team's ranks; of idle ranks, the other idle ones.
  Collective& group() noexcept { return *group_; }

 private:
  TeamPlace place_;
  std::unique_ptr<Collective> group_;
};

}  // namespace depthgrid
