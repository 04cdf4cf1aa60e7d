#include "sweeps/run/event_report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/base/json_text.hpp"
#include "storage/files/loose_text.hpp"
#include "sweeps/launch/node_faults.hpp"
#include "sweeps/report/failure_report.hpp"
#include "sweeps/slurm/submission.hpp"

namespace depthgrid {
namespace {

constexpr std::array<std::string_view, 5> kSourceWords = {"event", "launch_record", "submission",
                                                          "failure_report", "node_fault"};

std::string_view source_word(EventSource source) {
  return kSourceWords[static_cast<std::size_t>(source)];
}

/// What the recorded events hold, so that nothing is reported twice.
struct Recorded {
  std::set<std::tuple<SweepEventKind, std::string, std::int64_t>> launches;  // and attempts
  std::set<std::string> submissions;
  std::set<std::tuple<SweepEventKind, std::string>> cells;
  std::set<std::string> nodes;  // that are left out

  explicit Recorded(const std::vector<SweepEvent>& events) {
    for (const SweepEvent& event : events) {
      launches.insert({event.kind, event.launch, event.attempt});
      if (event.kind == SweepEventKind::Submitted) submissions.insert(event.submission);
      for (const std::string& cell : event.cells) cells.insert({event.kind, cell});
      if (event.kind == SweepEventKind::NodeLeftOut) nodes.insert(event.node);
      if (event.kind == SweepEventKind::NodeReadmitted) nodes.erase(event.node);
    }
  }
};

void add_launches(EventReport& out, const Store& store, const Recorded& known) {
  for (const LaunchRecord& record : launch_records(store.root(), store.fs())) {
    const double ended = written_time(record_file(store.root(), record), store.fs());
    if (!std::isfinite(ended)) continue;  // removed meanwhile
    SweepEvent end = end_event(record);
    end.host = record.host;
    end.task = record.slurm_job;
    SweepEvent begin = {.kind = SweepEventKind::LaunchBegan,
                        .launch = record.id,
                        .attempt = record.attempt,
                        .cells = record.cells};
    begin.host = end.host;
    begin.task = end.task;
    begin.time = ended - record.seconds;
    end.time = ended;
    for (SweepEvent& event : std::array{std::move(begin), std::move(end)}) {
      if (known.launches.contains({event.kind, event.launch, event.attempt})) continue;
      out.events.push_back({std::move(event), EventSource::LaunchRecord});
    }
  }
}

void add_submissions(EventReport& out, const Store& store, const Recorded& known) {
  for (const Submission& submission : submissions(store.root(), store.fs())) {
    if (known.submissions.contains(submission.id)) continue;
    SweepEvent event = submitted_event(submission);
    event.user.clear();  // anybody
    event.time =
        written_time(submission_folder(store.root(), submission.id) / "tasks.txt", store.fs());
    if (std::isfinite(event.time)) {
      out.events.push_back({std::move(event), EventSource::Submission});
    }
  }
}

void add_nodes(EventReport& out, const Store& store, const Recorded& known) {
  for (const NodeFault& fault : node_faults(store.root(), store.fs())) {
    if (known.nodes.contains(fault.node)) continue;
    SweepEvent event{.kind = SweepEventKind::NodeLeftOut,
                     .node = fault.node,
                     .message = fault.cause + ": " + fault.why};
    event.host = fault.node;
    event.task = fault.task;
    event.time = written_time(node_fault_file(store.root(), fault.node), store.fs());
    if (std::isfinite(event.time)) out.events.push_back({std::move(event), EventSource::NodeFault});
  }
}

/// The newest report of each cell that stands as failed.
void add_failures(EventReport& out, const Store& store, const Listing& cells,
                  const Recorded& known) {
  for (const CellSummary& cell : cells.cells) {
    if (!is_failure(cell.status)) continue;
    const auto kept = kept_failure(store, cell.id);
    if (!kept) continue;
    const FailureReport& report = kept->report;
    SweepEvent event{.kind = kept->status == CellStatus::Cancelled ? SweepEventKind::CellsCancelled
                                                                   : SweepEventKind::CellsGivenUp,
                     .launch = report.job,
                     .cells = {cell.id},
                     .end = report.kind,
                     .node = report.host,
                     .message = report.message};
    if (known.cells.contains({event.kind, cell.id})) continue;
    event.host = event.node;
    event.time = kept->written;
    if (std::isfinite(event.time)) {
      out.events.push_back({std::move(event), EventSource::FailureReport});
    }
  }
}

/// "hidden=4,s0", "hidden=4,s0 and hidden=4,s1", "12 cells".
std::string cells_named(const std::vector<std::string>& ids, const Listing& cells) {
  constexpr std::size_t kNamed = 2;
  if (ids.size() > kNamed) return fmt::format("{} cells", ids.size());
  std::vector<std::string> names;
  for (const std::string& id : ids) {
    const auto row = std::ranges::find(cells.cells, id, &CellSummary::id);
    names.push_back(row == cells.cells.end() ? id : row->alias);
  }
  return fmt::format("{}", fmt::join(names, " and "));
}

std::string counted(std::int64_t n, std::string_view what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : what.ends_with('h') ? "es" : "s");
}

/// ": " and the first line of the text, or nothing.
std::string first_line(const std::string& text, std::string_view before = ": ") {
  return text.empty() ? "" : std::string(before) + text.substr(0, text.find('\n'));
}

std::string signal_words(std::int64_t signal) {
  if (signal == 0) return {};
  return fmt::format(" by signal {} ({})", signal, strsignal(static_cast<int>(signal)));
}

/// "crash (signal 6, Aborted)"; only the word where it is no launch's.
std::string end_words(const SweepEvent& event) {
  const auto end = launch_end_named(event.end);
  return end ? end_text(*end, static_cast<int>(event.code)) : event.end;
}

std::string by_user(const SweepEvent& event) {
  return event.user.empty() ? "" : " by " + event.user;
}

}  // namespace

std::string event_text(const SweepEvent& e, const Listing& cells) {
  using enum SweepEventKind;
  const std::string launch = e.launch.starts_with(kPreparationId) ? "the preparation"
                             : e.launch.starts_with(kPlainRunId)  ? "the worker of a plain run"
                                                                  : "launch " + e.launch;
  switch (e.kind) {
    case Submitted:
      return fmt::format("{} in {} submitted{}, as array {}", counted(e.cell_count, "cell"),
                         counted(e.tasks, "task"), by_user(e), fmt::join(e.jobs, ", "));
    case SupervisorBegan:
      return fmt::format(
          "a supervisor began: {} in {}, {} at a time{}", counted(e.cell_count, "cell"),
          counted(e.launches, "launch"), e.slots,
          e.restart == 0 ? ""
                         : fmt::format("; its task was put back {}", counted(e.restart, "time")));
    case SupervisorEnded:
      return fmt::format("the supervisor ended with {}{}", e.code,
                         e.signal == 0 ? "" : ", stopped" + signal_words(e.signal));
    case LaunchBegan:
      return fmt::format("{} began{}{}", launch,
                         e.attempt > 1 ? fmt::format(", try {}", e.attempt) : "",
                         first_line(cells_named(e.cells, cells)));
    case LaunchEnded:
      return fmt::format("{} ended as {} after {}{}{}", launch, end_words(e),
                         short_seconds(e.seconds), e.node.empty() ? "" : " on " + e.node,
                         e.cause.empty() ? "" : ", which is to blame: " + e.cause);
    case LaunchAgain:
      return fmt::format("{} starts again in {}: {}, retry {}{}", launch, short_seconds(e.seconds),
                         e.end, e.failures,
                         e.budget.empty() ? "" : fmt::format(" of {} ({})", e.allowed, e.budget));
    case LaunchSplit:
      return fmt::format("{} ended as {}: {} in its place", launch, e.end,
                         counted(e.parts, "launch"));
    case CellsGivenUp:
      return fmt::format("{} given up{}", cells_named(e.cells, cells), first_line(e.message));
    case CardLeftOut:
      return fmt::format("GPU {} on {} disabled: {} on it ended by its fault", e.card, e.node,
                         counted(e.failures, "launch"));
    case NodeLeftOut:
      return fmt::format("node {} is left out{}", e.node, first_line(e.message));
    case NodeReadmitted:
      return fmt::format("node {} is used again{}", e.node, by_user(e));
    case DiskFull:
      return "the store's disk is full: launches wait" + first_line(e.message);
    case Stopping:
      return "stopping" + signal_words(e.signal) + first_line(e.message);
    case TaskRequeued:
      return "the task goes back into the queue" + first_line(e.message, ", ");
    case TaskNotRequeued:
      return "the task does not go back into the queue" + first_line(e.message);
    case CellsCancelled:
      return fmt::format("{} cancelled{}", cells_named(e.cells, cells), by_user(e));
    case CellsRetried:
      return fmt::format("{} made pending again{}", cells_named(e.cells, cells), by_user(e));
  }
  return {};
}

EventReport known_events(const Store& store, const Listing& cells) {
  EventReport out;
  SweepEvents recorded = read_sweep_events(store.root(), store.fs());
  out.recorded = !recorded.events.empty();
  out.skipped = recorded.skipped;
  const Recorded known(recorded.events);
  for (SweepEvent& event : recorded.events) {
    out.events.push_back({std::move(event), EventSource::Recorded});
  }
  add_launches(out, store, known);
  add_submissions(out, store, known);
  add_nodes(out, store, known);
  add_failures(out, store, cells, known);
  // Stable: recorded events are in order, and a launch's begin stands before its end.
  std::ranges::stable_sort(out.events, {}, [](const KnownEvent& e) { return e.event.time; });
  return out;
}

std::string events_text(const EventReport& report, const Listing& cells, Colour colour) {
  std::string out;
  if (report.events.empty()) {
    return fmt::format("no events are recorded in {}, and no launches, submissions or failures\n",
                       cells.store);
  }
  if (!report.recorded) {
    out = fmt::format(
        "no events are recorded in {}: this is what records of launches, submissions and failure "
        "reports hold, with the times of these files\n",
        cells.store);
  }
  const bool others = std::ranges::any_of(
      report.events, [](const KnownEvent& e) { return e.source != EventSource::Recorded; });
  Table table{{{"time"}, {"host"}, {"task"}, {"event"}}, {}};
  if (others) table.columns.push_back({"known from"});
  for (const auto& [event, source] : report.events) {
    table.rows.push_back({iso_utc(event.time), event.host, event.task, event_text(event, cells)});
    if (others) {
      std::string word(source_word(source));
      std::ranges::replace(word, '_', ' ');
      table.rows.back().push_back(std::move(word));
    }
  }
  out += text_of(table, colour);
  if (report.skipped > 0) {
    out += fmt::format("{} in events/ {} not understood: damaged, or of a later release\n",
                       counted(report.skipped, "line"), report.skipped == 1 ? "is" : "are");
  }
  return out;
}

nlohmann::ordered_json event_json(const SweepEvent& event) {
  auto out = parse_ordered_json(event_line(event));
  out["time"] = iso_utc(event.time);
  return out;
}

std::string events_json(const EventReport& report, const std::string& store) {
  using Json = nlohmann::ordered_json;
  Json events = Json::array();
  for (const auto& [event, source] : report.events) {
    Json json = event_json(event);
    json["known_from"] = source_word(source);
    events.push_back(std::move(json));
  }
  return json_text(Json{{"schema", 1},
                        {"store", store},
                        {"recorded", report.recorded},
                        {"skipped", report.skipped},
                        {"events", events}},
                   2) +
         "\n";
}

}  // namespace depthgrid
