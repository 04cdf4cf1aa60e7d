#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/processes.hpp"
#include "storage/files/line_log.hpp"
#include "storage/files/process_identity.hpp"
#include "sweeps/launch/launch_record.hpp"

namespace depthgrid {

/// What happens to a sweep as a whole; what happens inside of a cell is in its journal.
enum class SweepEventKind : std::uint8_t {
  Submitted,        // array jobs were handed to Slurm
  SupervisorBegan,  // or a task of Slurm, for the first time or again
  SupervisorEnded,  // likewise
  LaunchBegan,      // of the preparation, too
  LaunchEnded,      // with its class
  LaunchAgain,      // it is started again after a pause
  LaunchSplit,      // parts of it take its place
  CellsGivenUp,     // a budget of retries is used up
  CardLeftOut,      // no launch gets it any more
  NodeLeftOut,      // likewise
  NodeReadmitted,   // by a user
  DiskFull,         // the store's disk is full: launches wait
  Stopping,         // launches are asked to write their checkpoints
  TaskRequeued,     // it goes back into Slurm's queue
  TaskNotRequeued,  // it was stopped, and does not
  CellsCancelled,   // by a user
  CellsRetried      // likewise: made pending again
};

/// The word of a kind, in files and answers: "launch_ended".
std::string_view name_of(SweepEventKind kind) noexcept;

/// One event. Which of the members belong to a kind, a table says (members_of()); the others are
/// empty.
struct SweepEvent {
  SweepEventKind kind = SweepEventKind::Stopping;
  std::string launch{};              // id
  std::int64_t attempt = 0;          // of the launch
  std::vector<std::string> cells{};  // ids
  std::int64_t cell_count = 0;       // where there may be thousands
  std::string end{};                 // a class: "crash"
  std::int64_t code = 0;             // exit code, or 128 + signal
  std::int64_t signal = 0;           // that stopped it first; 0 = none
  std::string node{};                // to which it is due; empty: one of several
  std::string cause{};               // why the node is to blame; empty: it is not
  std::string card{};
  double seconds = 0;                      // it ran, or the pause before it is tried again
  std::int64_t failures = 0, allowed = 0;  // of this class without progress
  std::string budget{};                    // the leaf that allows them
  std::int64_t launches = 0, slots = 0, parts = 0, tasks = 0;
  std::int64_t restart = 0;         // how often Slurm had put the task back before
  std::string submission{};         // id
  std::vector<std::string> jobs{};  // Slurm's ids of arrays
  std::string user{};
  std::string message{};  // why, in words

  // By whoever keeps it:
  double time = 0;            // s since 1970, by the clock of its host
  std::int64_t sequence = 0;  // of its writer, from 1
  std::string host{};         // by which Slurm knows it
  std::int64_t pid = 0;
  std::string task{};    // of Slurm, "123_4"; empty outside
  std::string writer{};  // name of its file, without the ending
};

/// That a launch has ended, as its record says.
SweepEvent end_event(const LaunchRecord& record);

/// Names of the members that events of this kind have, beside those of all events (time, sequence,
/// kind, host, pid, task), in their order.
std::vector<std::string_view> members_of(SweepEventKind kind);

/// One line of JSON without its end, and back; nothing for any other text, and for kinds of later
/// releases.
std::string event_line(const SweepEvent& event);
std::optional<SweepEvent> sweep_event_of(std::string_view line);

/// Events of this process, appended to `events/<host>-<uuid>.jsonl` in the store: no file has two
/// writers.
///
/// No event is worth a run: what cannot be written is reported once, kept in memory and tried again
/// with the next event. So is what happens before there is a store.
class EventLog {
 public:
  /// Nothing is written before the first event. @param store  its folder, which need not be there.
  /// @param task  of Slurm that this process is; empty outside.
  explicit EventLog(std::filesystem::path store, std::string task = {},
                    std::function<double()> now = unix_time,
                    const Processes& processes = real_processes());
  ~EventLog();
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;

  /// Writes it with the time of now, which never goes back.
  void add(SweepEvent event) noexcept;

 private:
  void write_waiting() noexcept;

  std::filesystem::path store_;
  std::string task_;
  std::function<double()> now_;
  ProcessIdentity self_;
  std::int64_t sequence_ = 0;
  double last_ = 0;
  LineLog lines_;
  std::deque<std::string> waiting_;
  const Fs* disk_ = nullptr;  // of the store; none before there are a store and a folder
  bool warned_ = false;
};

/// The events of a store.
struct SweepEvents {
  std::vector<SweepEvent> events;  // by time, then writer, then sequence
  std::int64_t skipped = 0;        // lines that are none, or of kinds of a later release
};

/// What all writers have written; none if the store is of a release that kept none. Changes
/// nothing. @param store  its folder.
SweepEvents read_sweep_events(const std::filesystem::path& store, const Fs& disk = real_fs());

}  // namespace depthgrid
