#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/cell.hpp"
#include "storage/columns/table_reader.hpp"

namespace depthgrid {

/// One attempt at a cell, as far as its times depend on it.
struct TimedAttempt {
  std::string device, job;  // "AMD EPYC … ×1"; of a job without a name ""
  std::int64_t fused = 1;   // cells of the job
};

/// The attempts that a file records, in order, by cell; none if it lacks their columns.
/// @param cell  whose file it is; empty: attempts of many cells, each with its name.
std::map<CellId, std::vector<TimedAttempt>> timed_attempts(const TableReader& file,
                                                           const CellId& cell);

/// What attempts ran on, each once, in order: "AMD EPYC … ×1, 4 cells; …". Times are comparable
/// only where this is equal.
std::string machines_text(const std::vector<TimedAttempt>& attempts);

/// The fused jobs of attempts, each once, in order.
std::vector<std::string> attempt_jobs(const std::vector<TimedAttempt>& attempts);

}  // namespace depthgrid
