#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/base/processes.hpp"
#include "core/base/real_fs.hpp"
#include "sweeps/live/life_sign.hpp"
#include "sweeps/live/live_event.hpp"

namespace depthgrid {

/// Where the ranks of one run report to the first of them how far they are, and all of them that
/// the run is to stop: a folder of the store, `live/<run>`, which goes with the run.
///
/// A rank appends what must not be lost to `rank-<n>.events` (the start and end of jobs, notes) and
/// replaces `rank-<n>.now` (its newest step), so that the files stay small. Nothing is synced:
/// after a crash of the machine nobody needs them. Failed writes and reads are ignored for the same
/// reason that errors of the terminal are.
/// File of a progress channel in which the first of a launch's ranks that ended badly noted its
/// exit code.
inline constexpr const char* kEndNote = "end";

class ProgressChannel {
 public:
  /// Creates the folder. @param disk  outlives it. @throws StorageError if that fails.
  explicit ProgressChannel(std::filesystem::path folder, const Fs& disk = real_fs());

  /// Writes whose run it is, for channel_is_dead(); by its first rank.
  void sign(const Processes& processes = real_processes()) const;

  void append(const std::vector<LiveEvent>& events) const;
  void replace(const LiveEvent& newest) const;

  /// What the other ranks have reported since the last call, per rank in its order.
  /// @param ranks  of the run; @param own  is not read.
  std::vector<LiveEvent> read(int ranks, int own);

  /// The first rank's sign of life, in `life`, for who watches it from another process.
  void sign_life(const LifeSign& sign) const;
  /// The newest one; that of a process that has written none is of its start.
  LifeSign life() const;

  void ask_to_stop() const;
  bool stop_asked() const;

  /// Removes the folder; nobody may use it any more.
  void remove() const noexcept;

 private:
  std::filesystem::path file(int rank, const char* kind) const;

  std::filesystem::path folder_;
  const Fs* disk_;
  std::map<int, std::size_t> read_;      // bytes of each rank's events
  std::map<int, std::string> newest_{};  // lines already reported
};

/// The whole lines of a file of a progress channel; empty if there is none.
std::vector<LiveEvent> read_events(const std::filesystem::path& file, const Fs& disk = real_fs());

/// True if the run that signed this channel has surely died, on this machine. Of other machines,
/// and of channels without a signature, nothing is known.
bool channel_is_dead(const std::filesystem::path& folder,
                     const Processes& processes = real_processes(), const Fs& disk = real_fs());

}  // namespace depthgrid
