#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/cell.hpp"
#include "core/config/sweep.hpp"
#include "storage/store.hpp"

namespace depthgrid {

/// Why a cell has been given up. In the store (Store::publish_failure) it is JSON: `class`,
/// `message`, `job`, `host`, `plan`, `repeat`, `last_words`.
struct FailureReport {
  std::string kind;  // a class, such as "crash"
  std::string message;
  std::string job{};         // "" if none had begun
  std::string host{};        // "" if unknown
  std::string last_words{};  // of the log of the attempt
};

/// The report with the command that trains this cell alone, in a store of its own. It names the
/// sweep file of the newest plan that has the cell; what is the newest of all when the report is
/// written may be replaced later: then current_repeat() names it.
std::string failure_json(const Store& store, const CellId& id, const FailureReport& report);

/// Publishes the report of a cell that this process has claimed, and logs its message.
/// @param generation  of the claim. @throws StorageError
void publish_report(const Store& store, const CellPlan& cell, std::int64_t generation,
                    CellStatus status, const FailureReport& report);

/// The newest report of a cell, as the store has it.
struct KeptFailure {
  CellStatus status = CellStatus::Failed;
  FailureReport report{};  // what the store does not have is empty
  std::string repeat{};    // as current_repeat() says
  double written = 0;      // s since 1970, see written_time()
  std::string time{};      // UTC: as the report says, or when it was written
};
/// Nothing if none of its attempts has failed, and it was never cancelled.
std::optional<KeptFailure> kept_failure(const Store& store, const CellId& id);

/// A report's command `repeat`, with the name that its sweep file has now.
/// @param plan  of the report.
std::string current_repeat(const Store& store, const std::string& repeat, std::int64_t plan);

}  // namespace depthgrid
