#include "sweeps/launch/sweep_events.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <tuple>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/json_text.hpp"
#include "core/base/log.hpp"
#include "core/base/machine.hpp"
#include "storage/files/publish.hpp"
#include "storage/store.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;
using EventJson = nlohmann::ordered_json;

constexpr std::string_view kEventsFile = ".jsonl";
constexpr std::size_t kMostWaiting = 1000;  // events that could not be written yet

struct KindRow {
  SweepEventKind kind;
  std::string_view word;
  std::string_view members;  // with blanks between them
};

// In the order of SweepEventKind. Members are added to a kind, none is taken away: old lines stay.
constexpr std::array<KindRow, 17> kKinds = {{
    {SweepEventKind::Submitted, "submitted", "submission jobs tasks cell_count user"},
    {SweepEventKind::SupervisorBegan, "supervisor_began", "launches cell_count slots restart"},
    {SweepEventKind::SupervisorEnded, "supervisor_ended", "code signal"},
    {SweepEventKind::LaunchBegan, "launch_began", "launch attempt cells"},
    {SweepEventKind::LaunchEnded, "launch_ended",
     "launch attempt cells end code node cause seconds"},
    {SweepEventKind::LaunchAgain, "launch_again", "launch end seconds failures allowed budget"},
    {SweepEventKind::LaunchSplit, "launch_split", "launch end parts"},
    {SweepEventKind::CellsGivenUp, "cells_given_up",
     "launch cells end failures allowed budget node message"},
    {SweepEventKind::CardLeftOut, "card_left_out", "node card failures"},
    {SweepEventKind::NodeLeftOut, "node_left_out", "node message"},
    {SweepEventKind::NodeReadmitted, "node_readmitted", "node user"},
    {SweepEventKind::DiskFull, "disk_full", "seconds message"},
    {SweepEventKind::Stopping, "stopping", "signal code message"},
    {SweepEventKind::TaskRequeued, "task_requeued", "restart message"},
    {SweepEventKind::TaskNotRequeued, "task_not_requeued", "restart message"},
    {SweepEventKind::CellsCancelled, "cells_cancelled", "cells user"},
    {SweepEventKind::CellsRetried, "cells_retried", "cells user"},
}};

using E = SweepEvent;
struct EventMember {
  std::string_view name;
  std::variant<std::string E::*, std::int64_t E::*, double E::*, std::vector<std::string> E::*> at;
};

constexpr EventMember kOfAll[] = {{"time", &E::time},
                                  {"sequence", &E::sequence},
                                  {"host", &E::host},
                                  {"pid", &E::pid},
                                  {"task", &E::task}};
constexpr EventMember kOfKinds[] = {{"launch", &E::launch},         {"attempt", &E::attempt},
                                    {"cells", &E::cells},           {"end", &E::end},
                                    {"cell_count", &E::cell_count}, {"code", &E::code},
                                    {"signal", &E::signal},         {"node", &E::node},
                                    {"cause", &E::cause},           {"card", &E::card},
                                    {"seconds", &E::seconds},       {"failures", &E::failures},
                                    {"allowed", &E::allowed},       {"budget", &E::budget},
                                    {"launches", &E::launches},     {"slots", &E::slots},
                                    {"parts", &E::parts},           {"tasks", &E::tasks},
                                    {"restart", &E::restart},       {"jobs", &E::jobs},
                                    {"submission", &E::submission}, {"user", &E::user},
                                    {"message", &E::message}};

const KindRow& row_of_kind(SweepEventKind kind) {
  return kKinds[static_cast<std::size_t>(kind)];
}

/// Whether one of these members has this name, and what is done to it.
template <typename Action>
void with_member(std::span<const EventMember> members, std::string_view name, Action&& action) {
  const auto member = std::ranges::find(members, name, &EventMember::name);
  if (member != members.end()) std::visit(action, member->at);
}

fs::path events_folder(const fs::path& store) {
  return store / "events";
}

}  // namespace

std::string_view name_of(SweepEventKind kind) noexcept {
  return kKinds[static_cast<std::size_t>(kind)].word;
}

SweepEvent end_event(const LaunchRecord& record) {
  return {.kind = SweepEventKind::LaunchEnded,
          .launch = record.id,
          .attempt = record.attempt,
          .cells = record.cells,
          .end = std::string(name_of(record.end)),
          .code = record.code,
          .node = record.host,
          .cause = record.cause,
          .seconds = record.seconds};
}

std::vector<std::string_view> members_of(SweepEventKind kind) {
  std::vector<std::string_view> out;
  std::string_view left = row_of_kind(kind).members;
  while (!left.empty()) {
    out.push_back(left.substr(0, left.find(' ')));
    left.remove_prefix(std::min(out.back().size() + 1, left.size()));
  }
  return out;
}

std::string event_line(const SweepEvent& event) {
  EventJson json;
  const auto put = [&](std::span<const EventMember> members, std::string_view name) {
    with_member(members, name, [&](auto at) { json[std::string(name)] = event.*at; });
  };
  put(kOfAll, "time");
  put(kOfAll, "sequence");
  json["kind"] = name_of(event.kind);
  for (const char* const name : {"host", "pid", "task"}) put(kOfAll, name);
  for (const std::string_view name : members_of(event.kind)) put(kOfKinds, name);
  return json_text(json);
}

std::optional<SweepEvent> sweep_event_of(std::string_view line) {
  const nlohmann::json json = parse_json_or_discard(line);
  SweepEvent out;
  const auto take = [&](std::span<const EventMember> members, std::string_view name) {
    with_member(members, name, [&](auto at) { json.at(std::string(name)).get_to(out.*at); });
  };
  try {
    const std::string word = json.at("kind");
    const auto row = std::ranges::find(kKinds, word, &KindRow::word);
    if (row == kKinds.end()) return std::nullopt;
    out.kind = row->kind;
    for (const EventMember& member : kOfAll) take(kOfAll, member.name);
    for (const std::string_view name : members_of(out.kind)) {
      if (json.contains(std::string(name))) take(kOfKinds, name);  // else of an earlier release
    }
    return out;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

EventLog::EventLog(fs::path store, std::string task, std::function<double()> now,
                   const Processes& processes)
    : store_(std::move(store)),
      task_(std::move(task)),
      now_(std::move(now)),
      self_(processes.self()),
      lines_(events_folder(store_) / fmt::format("{}-{}{}", self_.host, self_.uuid, kEventsFile)) {}

EventLog::~EventLog() {
  write_waiting();
}

void EventLog::add(SweepEvent event) noexcept {
  try {
    last_ = std::max(last_, now_());
    event.time = last_;
    event.sequence = ++sequence_;
    event.host = node_name();
    event.pid = self_.pid;
    event.task = task_;
    waiting_.push_back(event_line(event));
    if (waiting_.size() > kMostWaiting) waiting_.pop_front();
  } catch (const std::exception& e) {
    log(LogLevel::Debug, e.what());
  }
  write_waiting();
}

void EventLog::write_waiting() noexcept {
  if (waiting_.empty()) return;
  try {
    if (disk_ == nullptr) {
      if (!Store::is_at(store_)) return;
      const Fs& disk = Store::fs_at(store_);
      make_folders(events_folder(store_), disk);
      disk_ = &disk;
    }
    for (; !waiting_.empty(); waiting_.pop_front()) lines_.append(waiting_.front(), *disk_);
  } catch (const std::exception& e) {
    disk_ = nullptr;
    if (std::exchange(warned_, true)) return;
    log(LogLevel::Warning, fmt::format("what happens to the sweep cannot be recorded now: {}; the "
                                       "run goes on, and tries again",
                                       e.what()));
  }
}

SweepEvents read_sweep_events(const fs::path& store, const Fs& disk) {
  SweepEvents out;
  for (const fs::path& file : disk.entries(events_folder(store))) {
    const fs::path name = file.filename();
    if (name.extension() != kEventsFile) continue;
    for (const std::string& line : whole_lines(file, disk)) {
      auto event = sweep_event_of(line);
      if (event) {
        event->writer = name.stem().string();
        out.events.push_back(std::move(*event));
      } else if (!line.empty()) {
        ++out.skipped;
      }
    }
  }
  std::ranges::sort(out.events, [](const SweepEvent& a, const SweepEvent& b) {
    return std::tie(a.time, a.writer, a.sequence) < std::tie(b.time, b.writer, b.sequence);
  });
  return out;
}

}  // namespace depthgrid
