#include "sweeps/report/cell_log.hpp"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <span>
#include <sstream>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/json_text.hpp"
#include "storage/cells/cell_history.hpp"
#include "storage/files/loose_text.hpp"
#include "sweeps/report/failure_report.hpp"
#include "sweeps/report/results_query.hpp"
#include "sweeps/report/table.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

template <typename Kind>
std::string name_in(std::span<const std::string_view> names, Kind kind) {
  const auto at = static_cast<std::size_t>(kind);
  return at < names.size() ? std::string(names[at]) : std::to_string(at);
}

/// Logs may hold bytes that are not UTF-8.
std::string printed(const Json& json) {
  return json_text(json, 2);
}

Json attempt_json(const AttemptRecord& attempt) {
  Json facts = parse_ordered_json_or_discard(attempt.attempt_json);
  if (!facts.is_object()) facts = Json::object();
  const auto start = facts.find("start");
  const bool known = start != facts.end() && start->is_number();
  return {
      {"generation", attempt.generation},
      {"first_step", attempt.first_step},
      {"last_step", attempt.last_step},
      {"start", known ? Json(iso_utc(start->get<double>())) : Json()},
      {"end", attempt.end ? Json(iso_utc(attempt.end->time)) : Json()},
      {"outcome", attempt.end ? Json(name_in(kAttemptOutcomeNames, attempt.end->outcome)) : Json()},
      {"exit_code", attempt.end ? Json(attempt.end->exit_code) : Json()},
      {"torn", attempt.torn},
      {"facts", facts}};
}

/// The last lines of a worker log; none if the file is missing.
std::vector<std::string> tail_of(const Fs& disk, const fs::path& file, std::size_t lines) {
  std::deque<std::string> tail;
  std::istringstream in(loose_text(file, 0, disk));
  for (std::string line; lines > 0 && std::getline(in, line); tail.push_back(line)) {
    if (tail.size() == lines) tail.pop_front();
  }
  return {tail.begin(), tail.end()};
}

/// The last lines of the logs of all workers that attempted the cell, in the order of the attempts.
Json worker_logs(const Store& store, const Json& attempts, std::size_t lines) {
  std::vector<std::string> names;
  for (const Json& attempt : attempts) {
    const auto logs = attempt["facts"].find("logs");
    if (logs == attempt["facts"].end() || !logs->is_array()) continue;
    for (const Json& entry : *logs) {
      if (!entry.is_string()) continue;
      const fs::path name = fs::path(entry.get<std::string>()).filename();
      if (std::ranges::find(names, name.string()) == names.end()) names.push_back(name.string());
    }
  }
  Json out = Json::array();
  for (const std::string& name : names) {
    const fs::path file = store.log_dir() / name;
    out.push_back({{"file", file.string()}, {"lines", tail_of(store.fs(), file, lines)}});
  }
  return out;
}

Json log_json(const Store& store, const CellSummary& cell, std::size_t lines) {
  const CellHistory history = read_history(store.cell_path(cell.id), store.fs());
  Json attempts = Json::array();
  for (const AttemptRecord& attempt : history.attempts) attempts.push_back(attempt_json(attempt));
  Json events = Json::array();
  for (const JournalEvent& event : history.events) {
    events.push_back({{"step", event.step},
                      {"time", iso_utc(event.time)},
                      {"kind", name_in(kEventKindNames, event.kind)},
                      {"value", event.value},
                      {"message", event.message}});
  }
  const auto failure = store.newest_failure(cell.id);
  Json report;
  if (failure) {
    report = parse_ordered_json_or_discard(failure->json);
    if (report.is_discarded()) report = failure->json;
    const auto member = [&](const char* name) {
      return report.is_object() && report.contains(name) ? report[name] : Json();
    };
    if (const Json repeat = member("repeat"), plan = member("plan");
        repeat.is_string() && plan.is_number_integer()) {
      report["repeat"] = current_repeat(store, repeat, plan);
    }
  }
  const Json logs = worker_logs(store, attempts, lines);
  return {{"schema", 1},
          {"id", cell.id},
          {"alias", cell.alias},
          {"status", name_of(cell.status)},
          {"step", cell.step},
          {"replayed_steps", history.replayed_steps},
          {"replay_mismatches", history.replay_mismatches},
          {"attempts", attempts},
          {"events", events},
          {"damages", history.damages},
          {"failure", report},
          {"log", logs.empty() ? Json::array() : logs.back()["lines"]},
          {"logs", logs}};
}

/// A member as text without quotes; "-" if absent.
std::string text_at(const Json& object, const char* key) {
  const auto at = object.find(key);
  if (at == object.end() || at->is_null()) return "-";
  return at->is_string() ? at->get<std::string>() : at->dump();
}

}  // namespace

namespace {

/// Cells of which the text is "arm/tag,sSEED", the arm, the tag, or a condition that they meet.
std::vector<std::size_t> by_arm_or_filter(const Listing& listing, std::string_view text) {
  std::vector<std::size_t> found;
  for (std::size_t row = 0; row < listing.cells.size(); ++row) {
    const CellSummary& cell = listing.cells[row];
    const auto is = [&](const std::string& name) {
      return !name.empty() && (text == name || text == fmt::format("{},s{}", name, cell.seed));
    };
    if (is(cell.arm) || is(cell.tag)) found.push_back(row);
  }
  if (!found.empty() || text.find_first_of("=<>") == std::string_view::npos) return found;
  try {
    return select_cells(listing, {"", std::string(text)});
  } catch (const UserError&) {
    return {};  // no condition either
  }
}

}  // namespace

std::size_t find_cell(const Listing& listing, std::string_view text) {
  std::vector<std::size_t> found;
  for (std::size_t row = 0; row < listing.cells.size(); ++row) {
    const CellSummary& cell = listing.cells[row];
    if (cell.alias == text || cell.id == text) return row;
    if (cell.id.starts_with(text) || cell.alias.starts_with(text)) found.push_back(row);
  }
  if (found.size() == 1 && !text.empty()) return found[0];
  const std::vector<std::size_t> other = by_arm_or_filter(listing, text);
  if (other.size() == 1) return other[0];
  std::vector<std::string> names;
  if (found.empty() && !other.empty()) {
    found = other;
    names.push_back(fmt::format("'{}' means several cells:", text));
  } else if (found.empty()) {
    for (std::size_t row = 0; row < listing.cells.size(); ++row) found.push_back(row);
    names.push_back(fmt::format("no cell is called '{}'; here are:", text));
  } else {
    names.push_back(fmt::format("'{}' is the beginning of several cells:", text));
  }
  constexpr std::size_t kShown = 20;
  for (std::size_t i = 0; i < std::min(found.size(), kShown); ++i) {
    names.push_back(
        fmt::format("  {}  {}", listing.cells[found[i]].id, listing.cells[found[i]].alias));
  }
  if (found.size() > kShown) names.push_back(fmt::format("  and {} more", found.size() - kShown));
  throw UserError(ExitCode::Usage, fmt::format("{}", fmt::join(names, "\n")));
}

std::string cell_log_json(const Store& store, const CellSummary& cell, std::size_t lines) {
  return printed(log_json(store, cell, lines)) + "\n";
}

std::string cell_log_text(const Store& store, const CellSummary& cell, std::size_t lines) {
  const Json log = log_json(store, cell, lines);
  std::string out =
      fmt::format("{}  {}  {}, step {}\n", cell.id, cell.alias, name_of(cell.status), cell.step);
  if (log["attempts"].empty()) out += "no attempt yet\n";
  Table attempts{{{"attempt", Align::Right},
                  {"first step", Align::Right},
                  {"last step", Align::Right},
                  {"outcome"},
                  {"code", Align::Right},
                  {"start"},
                  {"end"},
                  {"host"},
                  {"device"}},
                 {}};
  for (const Json& a : log["attempts"]) {
    const std::string outcome =
        a["outcome"].is_null() ? "killed, or still running" : text_at(a, "outcome");
    attempts.rows.push_back({text_at(a, "generation"), text_at(a, "first_step"),
                             text_at(a, "last_step"), outcome, text_at(a, "exit_code"),
                             text_at(a, "start"), text_at(a, "end"), text_at(a["facts"], "host"),
                             text_at(a["facts"], "device")});
  }
  if (!attempts.rows.empty()) out += "\n" + text_of(attempts);
  Table events{{{"step", Align::Right}, {"time"}, {"event"}, {"value", Align::Right}, {"message"}},
               {}};
  for (const Json& e : log["events"]) {
    const double value = e["value"].is_number() ? e["value"].get<double>() : 0.0;
    events.rows.push_back({text_at(e, "step"), text_at(e, "time"), text_at(e, "kind"),
                           fmt::format("{:.6g}", value), text_at(e, "message")});
  }
  if (!events.rows.empty()) out += "\n" + text_of(events);
  for (const Json& damage : log["damages"]) out += "\ndamaged: " + damage.get<std::string>() + "\n";
  if (log["replay_mismatches"] != 0) {
    out += fmt::format("\n{} of {} replayed steps differ from the attempt before\n",
                       log["replay_mismatches"].get<std::int64_t>(),
                       log["replayed_steps"].get<std::int64_t>());
  }
  if (!log["failure"].is_null()) out += "\nfailure\n" + printed(log["failure"]) + "\n";
  for (const Json& worker : log["logs"]) {
    out += "\nend of " + worker["file"].get<std::string>() + "\n";
    for (const Json& line : worker["lines"]) out += line.get<std::string>() + "\n";
  }
  return out;
}

}  // namespace depthgrid
