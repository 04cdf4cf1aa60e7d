#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace depthgrid {

/// Failed: a cell has failed for good. Diverged: its result is that. Note: a line for the user.
/// Cancelled: a user has ended it. Numbers stand in files: new kinds come last.
enum class LiveKind : std::uint8_t {
  JobStart,
  Step,
  Phase,
  JobEnd,
  Failed,
  Diverged,
  Note,
  Cancelled
};

/// What one rank reports about its work: the source of every display. Times are durations on that
/// rank's clock; clocks of two hosts are never compared.
struct LiveEvent {
  LiveKind kind = LiveKind::Note;
  int rank = 0;
  std::string job{};                // id
  std::vector<std::size_t> rows{};  // of the job, into Sweep::cells
  std::string text{};               // label of a job, phase, outcome, why it failed, or a note
  std::int64_t first = 0;           // steps done before this attempt
  std::int64_t step = 0, steps = 0;
  double low = 0, high = 0;  // losses over the job's cells, nats per token
  double seconds = 0;        // since the job began
  double idle = 0;           // JobStart: s since this rank's last job ended, or its work began

  std::int64_t cells() const { return static_cast<std::int64_t>(rows.size()); }
  /// Cell-steps per second of this attempt; NaN before its first step.
  double rate() const;
};

/// One line of JSON, without its end, and back; nothing for any other text.
std::string event_line(const LiveEvent& event);
std::optional<LiveEvent> event_of(std::string_view line);

/// The record of `--json-progress` (docs/cli.md); "" for kinds that have none.
/// @param done, total  cells of the sweep.
std::string record_json(const LiveEvent& event, std::int64_t done, std::int64_t total);

}  // namespace depthgrid
