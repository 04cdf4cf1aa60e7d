#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/real_fs.hpp"
#include "sweeps/launch/failure_class.hpp"

namespace depthgrid {

/// One launch as its supervisor recorded it: `launches/<id>/attempt-<n>.json`, written when it
/// ended.
struct LaunchRecord {
  std::string id;                  // LaunchPlan::id
  std::int64_t attempt = 1;        // of this launch, over all supervisors
  std::vector<std::string> cells;  // ids
  std::string host;          // node of the rank that ended first and badly; empty: one of several
  std::string slurm_job;     // "123_4"; empty outside Slurm
  std::int64_t restart = 0;  // how often Slurm had put that task back before
  std::string launcher;      // direct, mpirun or srun
  std::int64_t ranks = 1;
  LaunchEnd end = LaunchEnd::Done;
  int code = 0;            // exit code, or 128 + signal
  std::string cause;       // why `host` is to blame, a word (see NodeError); empty: it is not
  double seconds = 0;      // it ran
  std::string log;         // file name in the folder
  std::string last_words;  // of the log, if it failed
};

/// Ids of preparations, and of workers of plain runs, which are launches like others, begin so.
inline constexpr const char* kPreparationId = "prepare-";
inline constexpr const char* kPlainRunId = "run-";

/// The folder of a launch.
std::filesystem::path launch_folder(const std::filesystem::path& store, const std::string& id);

/// Its own file in it.
std::filesystem::path record_file(const std::filesystem::path& store, const LaunchRecord& record);

/// Writes it there. @throws StorageError
void keep_record(const std::filesystem::path& store, const LaunchRecord& record,
                 const Fs& disk = real_fs());

/// Name of the file in it that holds what an attempt has written.
std::string attempt_log(std::int64_t attempt);

/// Number of the next attempt: one more than any file of the folder shows.
std::int64_t next_attempt(const std::filesystem::path& folder, const Fs& disk = real_fs());

std::string to_json(const LaunchRecord& record);
/// Nothing for a text that is no such record.
std::optional<LaunchRecord> launch_record(const std::string& json);

/// All records of a store, by launch and attempt; unreadable ones are left out.
std::vector<LaunchRecord> launch_records(const std::filesystem::path& store,
                                         const Fs& disk = real_fs());

}  // namespace depthgrid
