#include "storage/files/journal.hpp"

#include <array>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/json_text.hpp"
#include "core/base/parse_number.hpp"
#include "storage/files/crc32c.hpp"
#include "storage/files/sealed_file.hpp"

namespace depthgrid {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RowAxis, name, length, labels, values)

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::array<char, 8> kJournalMagic = {'D', 'G', 'J', 'R', 'N', 'L', '0', '1'};
constexpr int kJournalFormat = 1;
constexpr std::uint32_t kEventType = 0xFFFFFFFFU;
constexpr std::uint32_t kEndType = 0xFFFFFFFEU;
constexpr std::size_t kFrameBytes = 8;  // u32 length, u32 CRC of length and payload
constexpr std::size_t kHeadBytes = 16;  // of the payload: u32 type, u32 zero, i64 step

struct EventBody {
  double time;
  double value;
  std::int64_t kind;
};

struct EndBody {
  double time;
  std::int32_t outcome;
  std::int32_t exit_code;
};

template <class T>
void put_raw(std::vector<std::byte>& out, const T& value) {
  const auto bytes = std::as_bytes(std::span(&value, 1));
  out.insert(out.end(), bytes.begin(), bytes.end());
}

template <class T>
T get_raw(std::span<const std::byte> bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

/// Fills in length and CRC of the frame from `at` to the end of the vector.
void close_frame(std::vector<std::byte>& bytes, std::size_t at) {
  const auto length = static_cast<std::uint32_t>(bytes.size() - at - kFrameBytes);
  std::memcpy(bytes.data() + at, &length, sizeof length);
  const std::span<const std::byte> all(bytes);
  const std::uint32_t crc =
      crc32c(all.subspan(at + kFrameBytes), crc32c(all.subspan(at, sizeof length)));
  std::memcpy(bytes.data() + at + sizeof length, &crc, sizeof crc);
}

/// Takes the first frame's payload off `rest`; nothing if it is truncated or damaged.
std::optional<std::span<const std::byte>> take_frame(std::span<const std::byte>& rest) {
  if (rest.size() < kFrameBytes) return std::nullopt;
  const auto length = get_raw<std::uint32_t>(rest);
  if (length > rest.size() - kFrameBytes) return std::nullopt;
  const auto payload = rest.subspan(kFrameBytes, length);
  if (crc32c(payload, crc32c(rest.first(sizeof length))) !=
      get_raw<std::uint32_t>(rest.subspan(4))) {
    return std::nullopt;
  }
  rest = rest.subspan(kFrameBytes + length);
  return payload;
}

std::string header_text(const JournalHeader& header) {
  json kinds = json::array();
  for (const RowKind& kind : header.kinds) {
    json columns = json::array();
    for (const RowColumn& c : kind.columns) columns.push_back({c.variable, c.count});
    kinds.push_back({{"name", kind.name}, {"columns", columns}});
  }
  json out = {{"format", kJournalFormat},
              {"generation", header.generation},
              {"first_step", header.first_step},
              {"kinds", kinds},
              {"attempt", header.attempt_json}};
  if (!header.axes.empty()) out["axes"] = header.axes;
  if (!header.cell.empty()) out["cell"] = header.cell;
  return json_text(out);
}

std::optional<JournalHeader> header_from(std::span<const std::byte> text) {
  try {
    const json j = parse_json({reinterpret_cast<const char*>(text.data()), text.size()});
    if (j.at("format") != kJournalFormat) return std::nullopt;
    JournalHeader header{j.at("generation"), j.at("first_step"), {}, j.at("attempt"), {}};
    for (const json& k : j.at("kinds")) {
      RowKind kind{k.at("name"), {}};
      for (const json& c : k.at("columns")) kind.columns.push_back({c.at(0), c.at(1)});
      header.kinds.push_back(std::move(kind));
    }
    if (j.contains("axes")) j["axes"].get_to(header.axes);
    if (j.contains("cell")) j["cell"].get_to(header.cell);
    return header;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

/// The start of an event's message, cut between two characters: the columns of a packed file are as
/// wide as the longest one, and HDF5 knows limits.
std::span<const std::byte> shortened(std::span<const std::byte> message) {
  constexpr std::size_t kMostBytes = 4096;
  if (message.size() <= kMostBytes) return message;
  std::size_t n = kMostBytes;
  while (n > 0 && (std::to_integer<unsigned>(message[n]) & 0xC0U) == 0x80U) --n;  // UTF-8
  return message.first(n);
}

/// Adds one frame to what was read. @return false if it does not match the header.
bool take(JournalContents& out, std::span<const std::byte> payload) {
  if (payload.size() < kHeadBytes) return false;
  const auto type = get_raw<std::uint32_t>(payload);
  const auto step = get_raw<std::int64_t>(payload.subspan(8));
  const auto body = payload.subspan(kHeadBytes);
  if (type == kEventType && body.size() >= sizeof(EventBody)) {
    const auto event = get_raw<EventBody>(body);
    const auto text = shortened(body.subspan(sizeof event));
    out.events.push_back({step,
                          event.time,
                          static_cast<EventKind>(event.kind),
                          event.value,
                          {reinterpret_cast<const char*>(text.data()), text.size()}});
    return true;
  }
  if (type == kEndType && body.size() == sizeof(EndBody)) {
    const auto end = get_raw<EndBody>(body);
    out.end = AttemptEnd{end.time, static_cast<AttemptOutcome>(end.outcome), end.exit_code};
    return true;
  }
  if (type >= out.rows.size()) return false;
  RowTable& table = out.rows[type];
  if (body.size() != static_cast<std::size_t>(table.width) * sizeof(double)) return false;
  table.steps.push_back(step);
  const std::size_t before = table.values.size();
  table.values.resize(before + static_cast<std::size_t>(table.width));
  if (!body.empty()) std::memcpy(table.values.data() + before, body.data(), body.size());
  return true;
}

/// True if the bytes look like the start of a frame: a cheap test before its CRC is computed.
bool resembles_frame(std::span<const std::byte> bytes) {
  if (bytes.size() < kFrameBytes + kHeadBytes) return false;
  constexpr std::uint32_t kMostKinds = 64;
  const auto length = get_raw<std::uint32_t>(bytes);
  const auto type = get_raw<std::uint32_t>(bytes.subspan(kFrameBytes));
  return length >= kHeadBytes && length <= bytes.size() - kFrameBytes &&
         (type < kMostKinds || type >= kEndType) &&
         get_raw<std::uint32_t>(bytes.subspan(kFrameBytes + 4)) == 0;
}

/// Counts the whole frames in what follows the last good one.
std::int64_t count_frames(std::span<const std::byte> rest) {
  std::int64_t out = 0;
  while (rest.size() >= kFrameBytes + kHeadBytes) {
    if (resembles_frame(rest) && take_frame(rest)) {
      ++out;
    } else {
      rest = rest.subspan(1);
    }
  }
  return out;
}

/// Everything of a journal behind its magic. @return  bytes of the good frames.
std::size_t read_frames(std::span<const std::byte> rest, JournalContents& out) {
  const std::size_t all = rest.size();
  const auto head = take_frame(rest);
  auto header = head ? header_from(*head) : std::nullopt;
  if (!header) return 0;
  out.header = std::move(*header);
  for (const RowKind& kind : out.header.kinds) out.rows.push_back({kind.width(), {}, {}});
  std::size_t good = all - rest.size();
  while (!rest.empty()) {
    const auto payload = take_frame(rest);
    if (!payload || !take(out, *payload)) return good;
    good = all - rest.size();
  }
  return good;
}

}  // namespace

std::string marks_json(const std::vector<JournalMark>& marks) {
  json out = json::array();
  for (const JournalMark& m : marks) out.push_back({m.generation, m.bytes, m.crc32c});
  return json_text(out);
}

std::optional<std::vector<JournalMark>> marks_from_json(const std::string& text) {
  try {
    std::vector<JournalMark> out;
    for (const json& m : parse_json(text)) out.push_back({m.at(0), m.at(1), m.at(2)});
    return out;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

std::int64_t RowKind::width() const {
  std::int64_t n = 0;
  for (const RowColumn& c : columns) n += c.count;
  return n;
}

std::span<const double> RowTable::row(std::size_t i) const {
  const auto n = static_cast<std::size_t>(width);
  return std::span(values).subspan(i * n, n);
}

void RowTable::add(std::int64_t step, std::span<const double> row_values) {
  steps.push_back(step);
  values.insert(values.end(), row_values.begin(), row_values.end());
}

Journal::Journal(const fs::path& file, const JournalHeader& header, JournalOptions options,
                 const Fs& disk)
    : file_(file), options_(std::move(options)), disk_(&disk) {
  auto [log, error] = disk.open(file, OpenHow::NewLog);
  if (error != 0) throw_errno(file, "cannot create the journal", error, 0, disk);
  log_ = std::move(log);
  for (const RowKind& kind : header.kinds) widths_.push_back(kind.width());
  const std::string text = header_text(header);
  put_raw(frame_, kJournalMagic);
  frame_.resize(frame_.size() + kFrameBytes);
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  frame_.insert(frame_.end(), bytes.begin(), bytes.end());
  close_frame(frame_, kJournalMagic.size());
  mark_.generation = header.generation;
  write();
  sync();
  sync_folder(file.has_parent_path() ? file.parent_path() : fs::path("."), disk);
}

/// Appends frame_, by one call.
void Journal::write() {
  if (!log_) throw StorageError(file_, "the journal was closed by an earlier error: " + problem_);
  try {
    write_all(*log_, frame_, file_, *disk_);
  } catch (const std::exception& e) {
    close_after(e.what());  // frames behind a torn one would never be read
    throw;
  }
  mark_.crc32c = crc32c(frame_, mark_.crc32c);
  mark_.bytes += frame_.size();
}

void Journal::close_after(const std::string& problem) {
  problem_ = problem;
  log_.reset();
}

void Journal::put(std::uint32_t type, std::int64_t step, std::span<const std::byte> body) {
  frame_.assign(kFrameBytes, std::byte{0});
  put_raw(frame_, type);
  put_raw(frame_, std::uint32_t{0});
  put_raw(frame_, step);
  frame_.insert(frame_.end(), body.begin(), body.end());
  close_frame(frame_, 0);
  write();
  if (options_.now() - synced_ >= options_.sync_after) sync();
}

void Journal::append(std::size_t kind, std::int64_t step, std::span<const double> values) {
  if (kind >= widths_.size() || static_cast<std::int64_t>(values.size()) != widths_[kind]) {
    throw Error(fmt::format("journal row of kind {} has {} numbers, {} expected", kind,
                            values.size(), kind < widths_.size() ? widths_[kind] : -1));
  }
  put(static_cast<std::uint32_t>(kind), step, std::as_bytes(values));
}

void Journal::event(std::int64_t step, EventKind kind, double value, std::string_view message) {
  std::vector<std::byte> body;
  put_raw(body, EventBody{unix_time(), value, static_cast<std::int64_t>(kind)});
  const auto text = shortened(std::as_bytes(std::span(message.data(), message.size())));
  body.insert(body.end(), text.begin(), text.end());
  put(kEventType, step, body);
}

void Journal::end(AttemptOutcome outcome, std::int32_t exit_code) {
  const EndBody body{unix_time(), static_cast<std::int32_t>(outcome), exit_code};
  put(kEndType, 0, std::as_bytes(std::span(&body, 1)));
}

void Journal::sync() {
  if (!log_) throw StorageError(file_, "the journal was closed by an earlier error: " + problem_);
  synced_ = options_.now();
  const int error = log_->sync_data();
  if (error == 0) return;
  try {
    throw_errno(file_, "cannot sync", error, 0, *disk_);
  } catch (const std::exception& e) {
    close_after(
        e.what());  // the kernel has marked the lost pages as clean: a second sync would lie
    throw;
  }
}

bool begins_with(const fs::path& file, const JournalMark& mark, const Fs& disk) {
  const std::vector<std::byte> bytes = read_file(file, disk);
  return bytes.size() >= mark.bytes &&
         crc32c(std::span(bytes).first(static_cast<std::size_t>(mark.bytes))) == mark.crc32c;
}

JournalContents read_journal(const fs::path& file, const Fs& disk) {
  const std::vector<std::byte> bytes = read_file(file, disk);
  const std::span<const std::byte> all(bytes);
  JournalContents out;
  const bool ours = all.size() >= kJournalMagic.size() &&
                    std::memcmp(all.data(), kJournalMagic.data(), kJournalMagic.size()) == 0;
  const std::size_t good = ours ? read_frames(all.subspan(kJournalMagic.size()), out) : 0;
  const std::size_t whole = good > 0 ? kJournalMagic.size() + good : 0;
  out.torn = whole == 0 || whole < all.size();
  out.mark.bytes = whole;
  out.mark.crc32c = crc32c(all.first(whole));
  if (whole < all.size()) out.frames_behind = count_frames(all.subspan(whole));
  return out;
}

std::string generation_name(std::string_view stem, std::int64_t generation) {
  return fmt::format("{}-{:06}", stem, generation);
}

std::optional<std::int64_t> generation_of(std::string_view name, std::string_view stem) {
  if (name.size() < stem.size() + 7 || !name.starts_with(stem) || name[stem.size()] != '-') {
    return std::nullopt;
  }
  const auto generation = parse_number<std::int64_t>(name.substr(stem.size() + 1));
  return generation && *generation > 0 ? generation : std::nullopt;
}

}  // namespace depthgrid
