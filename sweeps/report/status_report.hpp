#pragma once

#include <string>

#include "core/base/exit_code.hpp"
#include "sweeps/report/listing.hpp"
#include "sweeps/report/sweep_numbers.hpp"
#include "sweeps/report/table.hpp"

namespace depthgrid {

/// One line per state that occurs, then the problems.
std::string status_text(const Listing& listing, Colour colour = Colour::No);

/// {"schema": 1, "sweep", "store", "planned", "cells": n, "finished": bool, "counts": {state: n},
/// "other_plans": {state: n}, "damages_met": n, "problems": [{id, alias, status, attempts, step,
/// host, problem}]}; docs/cli.md.
/// With `numbers`, also "cell_steps": {done, total}, "activity": {runs, jobs,
/// cell_steps_per_second, eta_seconds}, "rank_hours": {used, lost}, "slot_hours": {total, idle} and
/// "stopping": [alias].
/// @param slurm  JSON of what Slurm has of it, as "slurm". @param nodes  JSON of the nodes that are
///               left out, as "nodes_left_out". "" leaves it out.
std::string status_json(const Listing& listing, const SweepNumbers* numbers = nullptr,
                        const std::string& slurm = {}, const std::string& nodes = {});

/// Unfinished while a cell of the newest plan is pending, or any is running; Partial if all have
/// ended and some failed or have a damaged result; else Done.
ExitCode status_code(const Listing& listing);

}  // namespace depthgrid
