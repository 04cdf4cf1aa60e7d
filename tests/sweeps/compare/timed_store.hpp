#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "storage/columns/param_columns.hpp"
#include "storage/columns/table_writer.hpp"
#include "storage/store.hpp"
#include "tests/storage/temporary_folder.hpp"
#include "tests/sweeps/compare/grid_cells.hpp"

namespace depthgrid {

/// An attempt as a test makes it up.
struct MadeAttempt {
  std::string device, job;
  double fused = 1;  // cells of the job
};

/// A listing over a store whose cells have figures of a time and the attempts that measured it.
class TimedStore {
 public:
  explicit TimedStore(const std::string& name = "timed")
      : cells({}, (folder_.path() / name).string()),
        store_(Store::open_or_create(cells.listing.store)) {}

  /// A completed cell with this wall time.
  CellSummary& add(const std::string& arm, std::int64_t seed, double seconds,
                   std::vector<MadeAttempt> attempts) {
    CellSummary& cell = cells.add({}, seed, 2 + 0.1 * static_cast<double>(seed), arm);
    cell.id = fmt::format("{:012x}", cells.listing.cells.size());
    cell.attempts = static_cast<int>(attempts.size());
    cell.metrics["cost_wall_time"] = seconds;
    attempts_.push_back(std::move(attempts));
    return cell;
  }

  /// Two arms of three seeds, the second twice as slow. @param jobs  one for each cell.
  TimedStore& two_arms(const std::vector<MadeAttempt>& jobs) {
    for (std::size_t row = 0; row < 6; ++row) {
      const auto seed = static_cast<std::int64_t>(row % 3);
      const double seconds = (row < 3 ? 1 : 2) + 0.01 * static_cast<double>(row * row);
      add(row < 3 ? "base" : "slow", seed, seconds, {jobs.at(row)});
    }
    cells.baseline("base");
    return *this;
  }

  /// result.h5 of each cell.
  TimedStore& publish() {
    for (std::size_t row = 0; row < attempts_.size(); ++row) {
      write(store_.cell_path(cells.listing.cells[row].id) / "result.h5", {row});
    }
    return *this;
  }
  /// sweep.h5 of all cells.
  TimedStore& pack() {
    std::vector<std::size_t> rows;
    for (std::size_t row = 0; row < attempts_.size(); ++row) rows.push_back(row);
    write(store_.packed_file(), rows);
    return *this;
  }

 private:
  void write(const std::filesystem::path& file, const std::vector<std::size_t>& rows) const {
    std::vector<std::string> ids, of, devices, jobs, known;
    std::vector<double> fused;
    for (const std::size_t row : rows) {
      ids.push_back(cells.listing.cells[row].id);
      for (const MadeAttempt& attempt : attempts_[row]) {
        of.push_back(ids.back());
        devices.push_back(attempt.device);
        jobs.push_back(attempt.job);
        if (std::ranges::find(known, attempt.job) != known.end()) continue;
        known.push_back(attempt.job);
        fused.push_back(attempt.fused);
      }
    }
    ColumnTable table;
    table.attributes = {{"format_version", std::string(kFormatVersion)}};
    table.sizes["cell"] = static_cast<std::int64_t>(ids.size());
    table.sizes["attempt"] = static_cast<std::int64_t>(of.size());
    table.sizes["job"] = static_cast<std::int64_t>(known.size());
    table.columns = {text_column("cell", {"cell"}, ids),
                     text_column("job", {"job"}, known),
                     text_column("attempt_cell", {"attempt"}, of),
                     text_column("attempt_device", {"attempt"}, devices),
                     text_column("attempt_job", {"attempt"}, jobs),
                     number_column("job_cells", {"job"}, DataType::Int32, fused)};
    std::filesystem::create_directories(file.parent_path());
    TableWriter writer(file, table_bytes(table));
    write_table(writer, table);
    writer.replace(1);
  }

  TemporaryFolder folder_;

 public:
  GridCells cells;  // below the folder of which its store is

 private:
  std::vector<std::vector<MadeAttempt>> attempts_;
  Store store_;
};

}  // namespace depthgrid
