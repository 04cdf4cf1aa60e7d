#include "sweeps/report/failure_report.hpp"

#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/clock.hpp"
#include "core/base/json_text.hpp"
#include "core/base/log.hpp"
#include "storage/cells/cell_state.hpp"
#include "storage/files/journal.hpp"
#include "storage/files/loose_text.hpp"
#include "storage/plan_sequence.hpp"

namespace depthgrid {

namespace fs = std::filesystem;

namespace {

/// The sweep file of a plan: with its number, or `sweep.yaml` while it is the newest.
std::string sweep_file_of(const Store& store, std::int64_t plan) {
  const fs::path own = store.sweep_yaml(plan);
  const bool there = store.fs().facts(own, Links::Follow).error == 0;
  return absolute_path(there ? own : store.sweep_yaml()).string();
}

}  // namespace

std::string failure_json(const Store& store, const CellId& id, const FailureReport& report) {
  const std::int64_t plan = plan_with(store, id);
  const nlohmann::json json = {
      {"class", report.kind},
      {"message", report.message},
      {"job", report.job},
      {"host", report.host},
      {"plan", plan},
      {"repeat",
       fmt::format("depthgrid run '{}' --store '{}' --only id={}", sweep_file_of(store, plan),
                   absolute_path(store.root() / "repeat").string(), id)},
      {"last_words", report.last_words}};
  return json_text(json);
}

void publish_report(const Store& store, const CellPlan& cell, std::int64_t generation,
                    CellStatus status, const FailureReport& report) {
  store.publish_failure(cell.id, generation, status, failure_json(store, cell.id, report));
  log(LogLevel::Error, cell.alias + ": " + report.message);
}

std::optional<KeptFailure> kept_failure(const Store& store, const CellId& id) {
  const auto failure = store.newest_failure(id);
  if (!failure) return std::nullopt;
  const nlohmann::json json = parse_json_or_discard(failure->json);
  const auto word = [&](const char* name) {
    const bool there = json.is_object() && json.contains(name) && json[name].is_string();
    return there ? json[name].get<std::string>() : std::string();
  };
  const fs::path file =
      store.cell_path(id) / (generation_name("failed", failure->generation) + ".json");
  KeptFailure out{.status = failure->status,
                  .report = {.kind = word("class"),
                             .message = failure_reason(*failure),
                             .job = word("job"),
                             .host = word("host"),
                             .last_words = word("last_words")},
                  .repeat = word("repeat"),
                  .written = written_time(file, store.fs()),
                  .time = word("time")};
  if (out.time.empty() && std::isfinite(out.written)) out.time = iso_utc(out.written);
  const bool numbered =
      json.is_object() && json.contains("plan") && json["plan"].is_number_integer();
  if (numbered) out.repeat = current_repeat(store, out.repeat, json["plan"]);
  return out;
}

std::string current_repeat(const Store& store, const std::string& repeat, std::int64_t plan) {
  const std::string newest = absolute_path(store.sweep_yaml()).string();
  const std::size_t at = repeat.find(newest);
  if (at == repeat.npos) return repeat;
  return std::string(repeat).replace(at, newest.size(), sweep_file_of(store, plan));
}

}  // namespace depthgrid
