#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/real_fs.hpp"
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

/// An axis whose length or labels the job decides and a row does not imply: the lengths of a
/// variable with two such axes, and labels that come from a leaf.
struct RowAxis {
  std::string name;
  std::int64_t length = 0;
  std::vector<std::string> labels;  // of an axis of texts: `length` of them
  std::vector<double> values;       // of a numeric axis that is not a plain count; else empty
  bool operator==(const RowAxis&) const = default;
};

struct JournalHeader {
  std::int64_t generation = 0;
  std::int64_t first_step = 0;  // steps done before this attempt: 0, or the checkpoint's
  std::vector<RowKind> kinds;
  std::string attempt_json;  // JSON object: host, device, start, code version, environment …
  std::vector<RowAxis> axes = {};
  std::string cell = {};  // id; empty: not said
};

/// The beginning of a journal, as somebody once saw it: later readers can check whether it is
/// whole.
struct JournalMark {
  std::int64_t generation = 0;
  std::uint64_t bytes = 0;   // from the start of the file
  std::uint32_t crc32c = 0;  // of these bytes
  bool operator==(const JournalMark&) const = default;
};

/// [[generation, bytes, crc32c], …] as JSON, and back; nothing if the text is not that.
std::string marks_json(const std::vector<JournalMark>& marks);
std::optional<std::vector<JournalMark>> marks_from_json(const std::string& text);

struct JournalEvent {
  std::int64_t step = 0;
  double time = 0;  // seconds since 1970
  EventKind kind = EventKind::Warning;
  double value = 0;
  std::string message;
};

/// Last frame of an attempt, unless it ended too abruptly to write one.
struct AttemptEnd {
  double time = 0;
  AttemptOutcome outcome = AttemptOutcome::Done;
  std::int32_t exit_code = 0;
};

struct JournalOptions {
  /// A write syncs everything written so far if the last sync is this long ago.
  std::chrono::milliseconds sync_after = std::chrono::seconds(5);
  std::function<std::chrono::steady_clock::time_point()> now = std::chrono::steady_clock::now;
};

/// Append-only log of one cell and attempt, file `journal-<generation>`.
///
/// A frame is length, CRC-32C and payload, written by one call (a few microseconds), so that a torn
/// tail is detected and ignored. Appended rows survive a crash of the process, synced rows a crash
/// of the machine: while steps are short, all but those of the last five seconds. One writer, not
/// thread-safe.
class Journal {
 public:
  /// @param disk  outlives it. @throws StorageError if the file exists: no journal has two writers.
  Journal(const std::filesystem::path& file, const JournalHeader& header,
          JournalOptions options = {}, const Fs& disk = real_fs());

  /// @param values  the values of the kind's columns, in their order.
  /// @throws Error for a wrong number of values; StorageError, like all writes here.
  void append(std::size_t kind, std::int64_t step, std::span<const double> values);
  void event(std::int64_t step, EventKind kind, double value, std::string_view message);
  void end(AttemptOutcome outcome, std::int32_t exit_code);

  /// What has been appended so far.
  const JournalMark& mark() const { return mark_; }

  /// fdatasync. @throws StorageError; the journal is closed then.
  void sync();

  const std::filesystem::path& file() const { return file_; }

 private:
  void put(std::uint32_t type, std::int64_t step, std::span<const std::byte> body);
  void write();
  void close_after(const std::string& problem);

  std::filesystem::path file_;
  JournalOptions options_;
  const Fs* disk_;
  std::chrono::steady_clock::time_point synced_;  // time of the last sync
  std::unique_ptr<OpenFile> log_;                 // none once it is closed
  std::vector<std::int64_t> widths_;
  std::vector<std::byte> frame_;  // reused: a row needs no allocation
  JournalMark mark_;
  std::string problem_;  // why the journal is closed
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
  bool torn = false;  // bytes follow the last good frame
  JournalMark mark;   // of the magic and the good frames; generation 0
  /// Whole frames behind the first bad one: a process or machine that dies leaves none, so these
  /// bytes were damaged later.
  std::int64_t frames_behind = 0;
};

/// True if the file still begins with what was marked.
bool begins_with(const std::filesystem::path& file, const JournalMark& mark,
                 const Fs& disk = real_fs());

/// Reads up to the first bad frame; a damaged header gives empty contents and torn = true.
/// @throws StorageError only if the file cannot be read at all.
JournalContents read_journal(const std::filesystem::path& file, const Fs& disk = real_fs());

/// Name of a file of one generation: "journal-000003".
std::string generation_name(std::string_view stem, std::int64_t generation);

/// 3 for "journal-000003" and the stem "journal"; nothing for other names.
std::optional<std::int64_t> generation_of(std::string_view name, std::string_view stem);

}  // namespace depthgrid
