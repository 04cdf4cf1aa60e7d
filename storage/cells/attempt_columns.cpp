#include "storage/cells/attempt_columns.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "core/base/json_text.hpp"
#include "core/base/nan.hpp"
#include "storage/columns/variables.hpp"

namespace depthgrid {
namespace {

std::string text_of(const nlohmann::json& object, const char* key) {
  const auto at = object.find(key);
  if (at == object.end() || at->is_null()) return {};
  return at->is_string() ? at->get<std::string>() : at->dump();
}

double number_of(const nlohmann::json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_number() ? at->get<double>() : kNaN;
}

void add_numbers(ColumnTable& table, const std::string& name, const std::vector<double>& values) {
  const Variable* v = find_variable(name);
  table.columns.push_back(number_column(name, axes_of(*v), v->type, values));
  describe(table.columns.back());
}

void add_texts(ColumnTable& table, const std::string& name,
               const std::vector<std::string>& values) {
  table.columns.push_back(text_column(name, axes_of(*find_variable(name)), values));
  describe(table.columns.back());
}

bool is_final(CellStatus status) {
  return status != CellStatus::Pending && status != CellStatus::Running;
}

void add_attempts(ColumnTable& table, const CellId& cell, const CellHistory& history,
                  const std::vector<AttemptInfo>& infos, CellStatus status) {
  table.sizes["attempt"] = static_cast<std::int64_t>(infos.size());
  const auto numbers = [&](const char* name, auto value) {
    std::vector<double> values;
    for (std::size_t i = 0; i < infos.size(); ++i) {
      values.push_back(static_cast<double>(value(history.attempts[i], infos[i])));
    }
    add_numbers(table, name, values);
  };
  const auto texts = [&](const char* name, std::string AttemptInfo::* member) {
    std::vector<std::string> values;
    for (const AttemptInfo& info : infos) values.push_back(info.*member);
    add_texts(table, name, values);
  };
  const auto crashed = [&](const AttemptRecord& a) {
    return is_final(status) || a.generation != history.attempts.back().generation;
  };
  add_texts(table, "attempt_cell", std::vector<std::string>(infos.size(), cell));
  texts("attempt_job", &AttemptInfo::job);
  numbers("attempt_generation", [](const auto& a, const auto&) { return a.generation; });
  numbers("attempt_first_step", [](const auto& a, const auto&) { return a.first_step; });
  numbers("attempt_last_step", [](const auto& a, const auto&) { return a.last_step; });
  numbers("attempt_start", [](const auto&, const auto& info) { return info.start; });
  numbers("attempt_end", [](const auto& a, const auto&) { return a.end ? a.end->time : kNaN; });
  numbers("attempt_outcome", [&](const auto& a, const auto&) {
    if (a.end) return static_cast<double>(a.end->outcome);
    return crashed(a) ? static_cast<double>(AttemptOutcome::Crash) : kNaN;
  });
  numbers("attempt_exit_code", [](const auto& a, const auto&) {
    return a.end ? static_cast<double>(a.end->exit_code) : kNaN;
  });
  texts("attempt_host", &AttemptInfo::host);
  texts("attempt_device", &AttemptInfo::device);
  texts("attempt_instruction_sets", &AttemptInfo::instruction_sets);
  texts("attempt_scheduler_id", &AttemptInfo::scheduler_id);
  texts("attempt_code_version", &AttemptInfo::code_version);
  texts("attempt_environment", &AttemptInfo::environment);
}

void add_events(ColumnTable& table, const CellId& cell, const std::vector<JournalEvent>& events) {
  table.sizes["event"] = static_cast<std::int64_t>(events.size());
  const auto numbers = [&](const char* name, auto value) {
    std::vector<double> values;
    for (const JournalEvent& event : events) values.push_back(static_cast<double>(value(event)));
    add_numbers(table, name, values);
  };
  add_texts(table, "event_cell", std::vector<std::string>(events.size(), cell));
  numbers("event_step", [](const JournalEvent& e) { return e.step; });
  numbers("event_time", [](const JournalEvent& e) { return e.time; });
  numbers("event_kind", [](const JournalEvent& e) { return e.kind; });
  numbers("event_value", [](const JournalEvent& e) { return e.value; });
  std::vector<std::string> messages;
  for (const JournalEvent& event : events) messages.push_back(event.message);
  add_texts(table, "event_message", messages);
}

void add_jobs(ColumnTable& table, const std::vector<AttemptInfo>& infos) {
  std::vector<std::string> ids;
  std::vector<double> cells;
  std::vector<double> ranks;
  for (const AttemptInfo& info : infos) {
    if (info.job.empty() || std::ranges::find(ids, info.job) != ids.end()) continue;
    ids.push_back(info.job);
    cells.push_back(static_cast<double>(info.cells));
    ranks.push_back(static_cast<double>(info.ranks));
  }
  if (ids.empty()) return;
  table.sizes["job"] = static_cast<std::int64_t>(ids.size());
  table.columns.push_back(text_column("job", {"job"}, ids));
  describe(table.columns.back());
  add_numbers(table, "job_cells", cells);
  add_numbers(table, "job_ranks", ranks);
}

}  // namespace

AttemptInfo attempt_info(const std::string& attempt_json) {
  AttemptInfo out;
  out.start = kNaN;
  const nlohmann::json object = parse_json_or_discard(attempt_json);
  if (!object.is_object()) return out;
  out.job = text_of(object, "job");
  out.host = text_of(object, "host");
  out.device = text_of(object, "device");
  out.instruction_sets = text_of(object, "instruction_sets");
  out.scheduler_id = text_of(object, "scheduler_id");
  out.code_version = text_of(object, "code_version");
  out.environment = text_of(object, "environment");
  out.library_versions = text_of(object, "library_versions");
  out.start = number_of(object, "start");
  if (object.contains("cells")) out.cells = static_cast<std::int64_t>(number_of(object, "cells"));
  if (object.contains("ranks")) out.ranks = static_cast<std::int64_t>(number_of(object, "ranks"));
  return out;
}

void add_attempt_columns(ColumnTable& table, const CellId& cell, const CellHistory& history,
                         CellStatus status) {
  if (!history.attempts.empty()) {
    std::vector<AttemptInfo> infos;
    for (const AttemptRecord& a : history.attempts) infos.push_back(attempt_info(a.attempt_json));
    add_attempts(table, cell, history, infos, status);
    add_jobs(table, infos);
  }
  if (!history.events.empty()) add_events(table, cell, history.events);
}

}  // namespace depthgrid
