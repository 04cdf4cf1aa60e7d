#include "distributed/team.hpp"

#include <string>

#include "core/base/error.hpp"
#include "core/base/log.hpp"

namespace depthgrid {

TeamPlace team_place(int world_rank, int world_size, int ranks_per_job) {
  if (ranks_per_job < 1) {
    throw Error("a team of " + std::to_string(ranks_per_job) + " ranks");
  }
  if (ranks_per_job > world_size) {
    const std::string want = std::to_string(ranks_per_job);
    throw UserError(ExitCode::BadConfig,
                    "resources.ranks_per_job is " + want + ", but only " +
                        std::to_string(world_size) +
                        (world_size == 1 ? " rank was started" : " ranks were started") +
                        ": start at least " + want + " (mpirun -np " + want +
                        " depthgrid run ...), or set resources.ranks_per_job lower");
  }
  TeamPlace place;
  place.teams = world_size / ranks_per_job;
  place.idle = world_size % ranks_per_job;
  if (world_rank < place.teams * ranks_per_job) {
    place.team = world_rank / ranks_per_job;
    place.rank = world_rank % ranks_per_job;
  }
  return place;
}

Team::Team(Collective& world, int ranks_per_job)
    : place_(team_place(world.rank(), world.size(), ranks_per_job)),
      group_(world.split(idle() ? place_.teams : place_.team, world.rank())) {
  if (place_.idle > 0 && world.rank() == world.size() - 1) {
    log(LogLevel::Warning, std::to_string(place_.idle) + " of " + std::to_string(world.size()) +
                               (place_.idle == 1 ? " ranks stays" : " ranks stay") +
                               " idle: they do not fill a team of resources.ranks_per_job = " +
                               std::to_string(ranks_per_job));
  }
}

}  // namespace depthgrid
