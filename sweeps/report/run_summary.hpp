#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/terminal.hpp"
#include "core/config/sweep.hpp"
#include "storage/store.hpp"
#include "sweeps/report/listing.hpp"

namespace depthgrid {

/// Outcome of the cells of one sweep, at the end of a run.
struct RunSummary {
  std::string sweep, store;  // the store as the user named it
  std::string file;          // all records
  std::int64_t cells = 0, completed = 0, diverged = 0, failed = 0;
  bool stopped = false;               // by a signal: the same command resumes
  std::vector<std::string> problems;  // files that packing left out, cells with damaged files
  std::int64_t damaged = 0;           // cells of the sweep whose files are still damaged
  std::int64_t damages_met = 0;       // damaged files whose content was computed again
  Listing listing;                    // of the sweep in its store, after packing
};

/// Packs the store and counts the cells of the sweep in it. @throws StorageError if it has no plan.
/// @param terminal  shows meanwhile that the store is packed: that of many cells takes seconds.
RunSummary conclude_run(const Store& store, const Sweep& sweep, const std::string& name,
                        bool stopped, std::optional<Terminal> terminal = std::nullopt);

/// One line of text, and the record `run_end` of `--json-progress` (docs/cli.md).
std::string summary_text(const RunSummary& summary);
std::string summary_json(const RunSummary& summary);

}  // namespace depthgrid
