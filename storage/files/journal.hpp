#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/axis_labels.hpp"
#include "storage/files/publish.hpp"

namespace depthgrid {

/// One variable of a row: `count` numbers, the product of its inner dimensions.
struct RowColumn {
  std::string variable;
  std::int64_t count = 1;
  bool operator==(const RowColumn&) const = default;
};

/// A kind of row: "train" (axis step), "eval" (axis eval_step), "cell" (no axis).
struct RowKind {
  std::string name;
  std::vector<RowColumn> columns;
  std::int64_t width() const;  // numbers in one row
  bool operator==(const RowKind&) const = default;
};

struct JournalHeader {
  std::int64_t generation = 0;
  std::int64_t first_step = 0;  // steps done before this attempt: 0, or those of the checkpoint
  std::vector<RowKind> kinds;
  std::string attempt_json;  // host, device, start, code version, environment …; an object
};

struct JournalEvent {
  std::int64_t step = 0;
  double time = 0;  // seconds since 1970
  EventKind kind = EventKind::Warning;
  double value = 0;
  std::string message;
};

/// The last frame of an attempt that could say how it ended.
struct AttemptEnd {
  double time = 0;
  AttemptOutcome outcome = AttemptOutcome::Done;
  std::int32_t exit_code = 0;
};

/// Append-only log of one cell and attempt, file `journal-<generation>`.
///
/// A frame is its length, its CRC-32C and its payload, written by one call (a few microseconds), so
/// that a torn tail is seen and left alone. What append() has taken survives the death of the
/// process; what sync() has taken survives that of the machine. One writer, not thread-safe.
class Journal {
 public:
  /// @throws StorageError if the file is there already: no journal has two writers.
  Journal(const std::filesystem::path& file, const JournalHeader& header);

  /// @param values  as many as the kind's columns hold, in their order. @throws Error otherwise.
  void append(std::size_t kind, std::int64_t step, std::span<const double> values);
  void event(std::int64_t step, EventKind kind, double value, std::string_view message);
  void end(AttemptOutcome outcome, std::int32_t exit_code);

  /// fdatasync. @throws StorageError; the journal takes nothing more after that.
  void sync();

  const std::filesystem::path& file() const { return file_; }

 private:
  void put(std::uint32_t type, std::int64_t step, std::span<const std::byte> body);

  std::filesystem::path file_;
  Fd fd_;
  std::vector<std::int64_t> widths_;
  std::vector<std::byte> frame_;  // reused, so that a row costs no allocation
};

/// Rows of one kind, in the order written: row i has step steps[i] and `width` values.
struct RowTable {
  std::int64_t width = 0;
  std::vector<std::int64_t> steps;
  std::vector<double> values;
  std::size_t size() const { return steps.size(); }
  std::span<const double> row(std::size_t i) const;
  void add(std::int64_t step, std::span<const double> row_values);
};

struct JournalContents {
  JournalHeader header;
  std::vector<RowTable> rows;  // by kind, as header.kinds
  std::vector<JournalEvent> events;
  std::optional<AttemptEnd> end;
  bool torn = false;  // there are bytes behind the last good frame
};

/// Everything up to the first bad frame; a damaged header gives empty contents and torn = true.
/// @throws StorageError only if the file cannot be read at all.
JournalContents read_journal(const std::filesystem::path& file);

/// "journal-000003" and the like: the name of a file that carries a generation.
std::string generation_name(std::string_view stem, std::int64_t generation);

/// 3 from "journal-000003" for the stem "journal"; nothing for other names.
std::optional<std::int64_t> generation_of(std::string_view name, std::string_view stem);

}  // namespace depthgrid
