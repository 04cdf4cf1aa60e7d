#include "sweeps/run/cell_accounts.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/base/printable.hpp"
#include "core/config/start_name.hpp"
#include "storage/files/journal.hpp"
#include "storage/files/lease.hpp"
#include "storage/files/loose_text.hpp"
#include "storage/files/quarantine.hpp"
#include "sweeps/queue/cell_requests.hpp"
#include "sweeps/report/log_follower.hpp"
#include "sweeps/slurm/missing_cells.hpp"

namespace depthgrid {
namespace {

/// Reasons for which a task waits until somebody does something, and what.
struct StuckTask {
  std::string_view reason, command;  // of the shell, with the task's name behind it
  bool anew;                         // its cells are to be submitted again
};
constexpr StuckTask kStuck[] = {{"DependencyNeverSatisfied", "scancel", true},
                                {"JobHeldUser", "scontrol release", false}};

bool has_cell(const std::vector<std::string>& cells, const CellId& id) {
  return std::ranges::find(cells, id) != cells.end();
}

bool waits_in_queue(const CellAccount& account) {
  return account.task && account.task->waits();
}

/// The last event of a kind that names the cell; null if there is none.
const SweepEvent* last_event(const std::vector<SweepEvent>& events, SweepEventKind kind,
                             const CellId& id) {
  const auto event = std::find_if(events.rbegin(), events.rend(), [&](const SweepEvent& e) {
    return e.kind == kind && has_cell(e.cells, id);
  });
  return event == events.rend() ? nullptr : &*event;
}

void add_file(std::vector<std::filesystem::path>& to, const std::filesystem::path& file) {
  if (something_at(file) && std::ranges::find(to, file) == to.end()) to.push_back(file);
}

}  // namespace

CellAccounts::CellAccounts(const Store& store, AccountSources sources)
    : store_(store),
      sources_(std::move(sources)),
      events_(read_sweep_events(store.root(), store.fs()).events),
      launches_(launch_records(store.root(), store.fs())),
      submissions_(submissions(store.root(), store.fs())),
      faults_(node_faults(store.root(), store.fs())) {
  const std::vector<CellSummary>& cells = sources_.cells.cells;
  for (std::size_t row = 0; row < cells.size(); ++row) rows_[cells[row].id] = row;
  for (std::size_t row = 0; row < sources_.plan.cells.size(); ++row) {
    planned_[sources_.plan.cells[row].id] = row;
  }
  training_ = std::ranges::count(cells, CellStatus::Running, &CellSummary::status);
}

CellAccount CellAccounts::of(std::size_t row) const {
  const CellSummary& cell = sources_.cells.cells[row];
  CellAccount out = answered(row);
  if (cell.status == CellStatus::Running) {
    const std::filesystem::path folder = store_.cell_path(cell.id);
    const LeaseState lease = lease_state(folder, store_.fs());
    const double since =
        written_time(folder / generation_name("gen", lease.generation), store_.fs());
    out.owner = {lease.owner, std::isfinite(since) ? iso_utc(since) : ""};
  }
  if (cell.status == CellStatus::Cancelled) out.cancel = cancel_of(cell.id);
  add_notes(out, cell);
  add_logs(out);
  add_task_logs(out);
  add_events(out);
  return out;
}

CellAccount CellAccounts::answered(std::size_t row) const {
  const CellSummary& cell = sources_.cells.cells[row];
  CellAccount out{.id = cell.id,
                  .alias = cell.alias,
                  .status = cell.status,
                  .step = cell.step,
                  .steps = cell.steps,
                  .training = training_};
  if (!is_result(cell.status)) {
    for (const LiveTask& task : sources_.queue) {
      if (has_cell(task.cells, cell.id)) out.task = task.queued;
    }
    if (cell.status != CellStatus::Cancelled) out.failure = failure_of(cell.id);
    const auto source = source_of(cell.id);
    if (source && sources_.cells.cells[*source].status != CellStatus::Completed) {
      const CellAccount its = answered(*source);  // a plan has no circles
      out.waits_for = {{its.id, its.alias, its.answer}};
      out.waits_for.insert(out.waits_for.end(), its.waits_for.begin(), its.waits_for.end());
      out.commands = its.commands;
    }
  }
  out.answer = answer_of(out);
  add_commands(out, cell);
  return out;
}

CellAnswer CellAccounts::answer_of(const CellAccount& account) const {
  switch (account.status) {
    case CellStatus::Completed:
      return CellAnswer::Done;
    case CellStatus::Diverged:
      return CellAnswer::Diverged;
    case CellStatus::Cancelled:
      return CellAnswer::Cancelled;
    case CellStatus::Running:
      return sources_.silent.contains(account.id) ? CellAnswer::Silent : CellAnswer::Running;
    case CellStatus::Failed:
    case CellStatus::Oom:
      // A task that runs has given it up itself, or has not come to it.
      return waits_in_queue(account) ? CellAnswer::Queued : CellAnswer::Failed;
    case CellStatus::Pending:
      break;
  }
  if (waits_in_queue(account)) return CellAnswer::Queued;  // it has the cell's sources, too
  if (!account.waits_for.empty()) return CellAnswer::Waiting;
  return account.task ? CellAnswer::Queued : CellAnswer::Pending;
}

const StoredCell* CellAccounts::planned(const CellId& id) const {
  const auto at = planned_.find(id);
  return at == planned_.end() ? nullptr : &sources_.plan.cells[at->second];
}

/// The row of the cell that it starts from, if the listing has that.
std::optional<std::size_t> CellAccounts::source_of(const CellId& id) const {
  const StoredCell* const cell = planned(id);
  const Value* const from =
      cell == nullptr ? nullptr : leaf_of(sources_.plan, *cell, "model.init.from");
  if (from == nullptr) return std::nullopt;
  const StartName start = start_name(*from);
  const auto row = rows_.find(start.name);
  if (start.kind != StartName::Kind::Cell || row == rows_.end()) return std::nullopt;
  return row->second;
}

std::optional<CellAccount::Failure> CellAccounts::failure_of(const CellId& id) const {
  auto kept = kept_failure(store_, id);
  if (!kept || kept->status == CellStatus::Cancelled) return std::nullopt;
  CellAccount::Failure out{.kept = std::move(*kept)};
  const FailureReport& report = out.kept.report;
  out.again = fails_again(report.kind);
  const auto end = launch_end_named(report.kind);
  const StoredCell* const cell = planned(id);
  const Value* const allowed =
      end && cell != nullptr ? leaf_of(sources_.plan, *cell, policy_of(*end).budget) : nullptr;
  if (allowed != nullptr && allowed->get_if<std::int64_t>() != nullptr) {
    out.budget = policy_of(*end).budget;
    out.allowed = *allowed->get_if<std::int64_t>();
  }
  // What was allowed when it was used up, where that is recorded.
  const SweepEvent* const event = last_event(events_, SweepEventKind::CellsGivenUp, id);
  if (event != nullptr && event->launch == report.job && !event->budget.empty()) {
    out.budget = event->budget;
    out.allowed = event->allowed;
  }
  return out;
}

CellAccount::Cancel CellAccounts::cancel_of(const CellId& id) const {
  CellAccount::Cancel out;
  if (const auto kept = kept_failure(store_, id)) out.time = kept->time;
  if (const auto* const event = last_event(events_, SweepEventKind::CellsCancelled, id)) {
    out.user = event->user;
    out.host = event->host;
  }
  return out;
}

void CellAccounts::add_notes(CellAccount& out, const CellSummary& cell) const {
  if (!cell.damage.empty()) out.notes.push_back(cell.damage);
  if (is_result(cell.status)) return;
  const auto note = [&out](std::string text) { out.notes.push_back(std::move(text)); };
  if (!cell.in_plan) {
    note("the newest plan does not have it: only the sweep file of its own plan trains it");
  }
  if (cell_stop_requested(store_, cell.id)) {
    note("a user has asked that it stop: whoever has it, or takes it next, ends it");
  }
  const std::filesystem::path folder = store_.cell_path(cell.id);
  if (const LeaseState lease = lease_state(folder, store_.fs());
      lease.kind == LeaseState::Kind::Dead) {
    note(
        fmt::format("process {} on {}, which had it, has died", lease.owner.pid, lease.owner.host));
  }
  if (out.answer == CellAnswer::Pending && cell.step > 0) {
    note(fmt::format("{} of {} steps are made: it goes on from its last checkpoint", cell.step,
                     cell.steps));
  }
  if (something_at(folder / "corrupt")) {
    note("damaged checkpoints of it lie in " + (folder / "corrupt").string());
  }
  if (out.failure && out.failure->again && out.answer == CellAnswer::Failed) {
    note("submit leaves it out until depthgrid retry, run tries it again");
  }
  if (out.answer == CellAnswer::Waiting && out.waits_for.back().answer == CellAnswer::Diverged) {
    note(out.waits_for.back().alias + " has ended, and gives no start: a run gives this cell up");
  }
  if (!sources_.queue_problem.empty()) {
    note("Slurm's queue is not known: " + sources_.queue_problem);
  }
}

void CellAccounts::add_logs(CellAccount& out) const {
  for (const auto& file : worker_log_files(store_, out.id)) add_file(out.worker_logs, file);
  const auto launch = [&](const std::string& id, std::int64_t attempt) {
    add_file(out.launch_logs, launch_folder(store_.root(), id) / attempt_log(attempt));
  };
  for (const LaunchRecord& record : launches_) {
    if (has_cell(record.cells, out.id)) launch(record.id, record.attempt);
  }
  for (const SweepEvent& event : events_) {  // of one that runs there is no record yet
    const bool began = event.kind == SweepEventKind::LaunchBegan;
    if (began && has_cell(event.cells, out.id)) launch(event.launch, event.attempt);
  }
}

void CellAccounts::add_task_logs(CellAccount& out) const {
  for (const Submission& submission : submissions_) {
    for (const SubmittedArray& array : submission.arrays) {
      for (std::int64_t index = 0; index < array.tasks && !array.job.empty(); ++index) {
        const auto line = static_cast<std::size_t>(array.first + index);
        if (line >= submission.tasks.size()) break;
        if (!has_cell(submission.tasks[line], out.id)) continue;
        add_file(out.task_logs, submission_folder(store_.root(), submission.id) / "logs" /
                                    fmt::format("{}_{}.out", array.job, index));
      }
    }
  }
}

/// Those that name it, and what is recorded of the launches which they name.
void CellAccounts::add_events(CellAccount& out) const {
  constexpr std::ptrdiff_t kMost = 8;
  std::set<std::string> launches;
  for (const SweepEvent& event : events_) {
    const bool named = has_cell(event.cells, out.id);
    if (named && !event.launch.empty()) launches.insert(event.launch);
    if (named || (event.cells.empty() && launches.contains(event.launch))) {
      out.events.push_back(event);
    }
  }
  if (std::ssize(out.events) > kMost)
    out.events.erase(out.events.begin(), out.events.end() - kMost);
}

/// Whether no task goes to the node any more.
bool CellAccounts::left_out(const std::string& node) const {
  return std::ranges::find(faults_, node, &NodeFault::node) != faults_.end();
}

void CellAccounts::add_commands(CellAccount& out, const CellSummary& cell) const {
  using enum CellAnswer;
  if (out.answer == Waiting) return;  // what its source needs
  out.commands.clear();
  const std::string folder = shell_word(store_.root().string());
  const std::filesystem::path own = store_.sweep_yaml(cell.plan);
  const std::string file = shell_word((something_at(own) ? own : store_.sweep_yaml()).string());
  const bool submitted = !submissions_.empty();
  const std::string go = (submitted ? "depthgrid submit " : "depthgrid run ") + file;
  const std::string retry = fmt::format("depthgrid retry {} {}", out.id, folder);
  const auto suggest = [&out](std::string command) { out.commands.push_back(std::move(command)); };
  if (out.answer == Running) suggest(fmt::format("depthgrid logs {} {} -f", out.id, folder));
  if (out.answer == Queued) {
    const auto* const stuck = std::ranges::find(kStuck, out.task->reason, &StuckTask::reason);
    if (stuck == std::end(kStuck)) return;
    suggest(fmt::format("{} {}", stuck->command, out.task->job));
    if (stuck->anew) suggest(go);
  }
  if (out.answer == Failed && out.failure && left_out(out.failure->kept.report.host)) {
    suggest(fmt::format("depthgrid retry --node {} {}", shell_word(out.failure->kept.report.host),
                        folder));
  }
  const bool refused = out.failure && out.failure->again && submitted;
  if (out.answer == Cancelled || (out.answer == Failed && refused)) suggest(retry);
  const bool goes = out.answer == Cancelled || out.answer == Failed || out.answer == Silent ||
                    out.answer == Pending || !cell.damage.empty();
  if (goes) suggest(go);
}

std::vector<CellId> owned_elsewhere(const Store& store, const std::vector<CellId>& cells,
                                    const Processes& processes) {
  const ProcessIdentity self = processes.self();
  std::vector<CellId> out;
  for (const CellId& id : cells) {
    const LeaseState lease = lease_state(store.cell_path(id), store.fs());
    const bool here = lease.owner.host == self.host && lease.owner.boot_id == self.boot_id &&
                      lease.owner.pid_namespace == self.pid_namespace;
    if (lease.kind == LeaseState::Kind::Held && !here) out.push_back(id);
  }
  return out;
}

}  // namespace depthgrid
