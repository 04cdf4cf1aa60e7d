#include "sweeps/run/cell_account.hpp"

#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/base/json_text.hpp"
#include "core/base/text_parts.hpp"
#include "sweeps/run/event_report.hpp"

namespace depthgrid {
namespace {

using AccountJson = nlohmann::ordered_json;

constexpr std::array<std::string_view, 9> kAnswerWords = {
    "done", "diverged", "running", "silent", "queued", "waiting", "pending", "failed", "cancelled"};

std::string owner_text(const CellAccount::Owner& owner) {
  const ProcessIdentity& process = owner.process;
  if (process.host.empty()) return "a process whose claim cannot be read";
  const std::string& job = process.scheduler_job;
  return fmt::format("process {} on {}{}{}", process.pid, process.host,
                     job.empty() ? "" : " (Slurm's " + job + ")",
                     owner.since.empty() ? "" : " since " + owner.since);
}

std::string task_text(const QueuedTask& task) {
  return fmt::format("task {} of Slurm has it: {}{}", task.job, task.state,
                     task.waits() ? ", " + task.reason : "; other cells of the task come first");
}

std::string failure_text(const CellAccount::Failure& failure) {
  const FailureReport& report = failure.kept.report;
  return (report.kind.empty() ? "" : report.kind + ": ") + report.message;
}

/// "class  crash" and so on, below each other.
void add_line(std::string& out, std::string_view name, const std::string& text) {
  if (!text.empty()) out += fmt::format("  {:<9} {}\n", name, text);
}

void add_lines(std::string& out, std::string_view name, const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    add_line(out, name, text);
    name = "";
  }
}

std::vector<std::string> path_words(const std::vector<std::filesystem::path>& files) {
  std::vector<std::string> out;
  for (const std::filesystem::path& file : files) out.push_back(file.string());
  return out;
}

std::vector<std::string> last_of(const std::string& text, std::size_t lines) {
  std::vector<std::string> out = text_lines(text);
  if (out.size() > lines) out.erase(out.begin(), out.end() - static_cast<std::ptrdiff_t>(lines));
  return out;
}

void add_failure(std::string& out, const CellAccount& account, std::size_t lines) {
  if (!account.failure) return;
  const auto& [kept, budget, allowed, again] = *account.failure;
  add_line(
      out, "failed",
      fmt::format("{}{}", kept.time, kept.report.host.empty() ? "" : " on " + kept.report.host));
  if (account.answer != CellAnswer::Failed) add_line(out, "as", failure_text(*account.failure));
  if (!budget.empty()) add_line(out, "budget", fmt::format("{} = {}", budget, allowed));
  add_lines(out, "last said", last_of(kept.report.last_words, lines));
  add_line(out, "alone", kept.repeat);
}

std::string account_text(const CellAccount& account, const Listing& cells, std::size_t lines) {
  std::string out = fmt::format("{}  {}  {}\n", account.id, account.alias, name_of(account.answer));
  out += "  " + account_sentence(account) + "\n";
  for (std::size_t i = 1; i < account.waits_for.size(); ++i) {
    const CellAccount::Source& source = account.waits_for[i];
    out +=
        fmt::format("  that starts from {}, which is {}\n", source.alias, name_of(source.answer));
  }
  for (const std::string& note : account.notes) out += "  " + note + "\n";
  add_failure(out, account, lines);
  std::vector<std::string> events;
  for (const SweepEvent& event : account.events) {
    events.push_back(iso_utc(event.time) + " " + event_text(event, cells));
  }
  add_lines(out, "events", events);
  std::vector<std::string> logs;
  for (const auto* files : {&account.worker_logs, &account.launch_logs, &account.task_logs}) {
    for (std::string& file : path_words(*files)) logs.push_back(std::move(file));
  }
  add_lines(out, "logs", logs);
  add_lines(out, "go on", account.commands);
  return out;
}

AccountJson json_of_failure(const CellAccount::Failure& failure) {
  const auto& [kept, budget, allowed, again] = failure;
  const FailureReport& report = kept.report;
  return {{"class", report.kind},
          {"message", report.message},
          {"node", report.host},
          {"launch", report.job},
          {"time", kept.time},
          {"budget", budget.empty() ? AccountJson() : AccountJson(budget)},
          {"allowed", budget.empty() ? AccountJson() : AccountJson(allowed)},
          {"would_fail_again", again},
          {"last_words", report.last_words},
          {"repeat", kept.repeat}};
}

AccountJson json_of(const CellAccount& account) {
  AccountJson out = {{"id", account.id},
                     {"alias", account.alias},
                     {"status", name_of(account.status)},
                     {"answer", name_of(account.answer)},
                     {"why", account_sentence(account)},
                     {"step", account.step},
                     {"steps", account.steps},
                     {"owner", nullptr},
                     {"task", nullptr},
                     {"waits_for", AccountJson::array()},
                     {"failure", nullptr},
                     {"cancelled", nullptr},
                     {"notes", account.notes},
                     {"events", AccountJson::array()},
                     {"logs",
                      {{"workers", path_words(account.worker_logs)},
                       {"launches", path_words(account.launch_logs)},
                       {"tasks", path_words(account.task_logs)}}},
                     {"commands", account.commands}};
  if (account.owner) {
    const ProcessIdentity& process = account.owner->process;
    out["owner"] = {{"host", process.host},
                    {"pid", process.pid},
                    {"slurm_job", process.scheduler_job},
                    {"since", account.owner->since}};
  }
  if (account.task) {
    out["task"] = {{"job", account.task->job},
                   {"state", account.task->state},
                   {"reason", account.task->reason}};
  }
  for (const auto& [id, alias, answer] : account.waits_for) {
    out["waits_for"].push_back({{"id", id}, {"alias", alias}, {"answer", name_of(answer)}});
  }
  if (account.failure) out["failure"] = json_of_failure(*account.failure);
  if (account.cancel) {
    out["cancelled"] = {{"time", account.cancel->time},
                        {"user", account.cancel->user},
                        {"host", account.cancel->host}};
  }
  for (const SweepEvent& event : account.events) out["events"].push_back(event_json(event));
  return out;
}

}  // namespace

std::string_view name_of(CellAnswer answer) noexcept {
  return kAnswerWords[static_cast<std::size_t>(answer)];
}

std::string account_sentence(const CellAccount& account) {
  using enum CellAnswer;
  switch (account.answer) {
    case Done:
      return "it has a result";
    case Diverged:
      return fmt::format("it has diverged at step {}, which is its result", account.step);
    case Running:
      return fmt::format("{} trains it: step {} of {}", owner_text(*account.owner), account.step,
                         account.steps);
    case Silent:
      return owner_text(*account.owner) +
             " has it, but gives no sign of life: another run takes it over when that has lasted "
             "for resources.lease";
    case Queued:
      return task_text(*account.task);
    case Waiting:
      return fmt::format("it starts from {}, which is {}", account.waits_for.front().alias,
                         name_of(account.waits_for.front().answer));
    case Failed:
      return account.failure ? failure_text(*account.failure) : "it has failed";
    case Cancelled:
      return fmt::format("it was cancelled{}{}",
                         account.cancel->user.empty() ? "" : " by " + account.cancel->user,
                         account.cancel->time.empty() ? "" : ", " + account.cancel->time);
    case Pending:
      break;
  }
  if (account.training == 0) return "nobody trains it";
  const bool one = account.training == 1;
  return fmt::format(
      "no process has it yet; {} cell{} of the store train{} now, and {} run may "
      "come to it",
      account.training, one ? "" : "s", one ? "s" : "", one ? "its" : "their");
}

std::string accounts_text(const std::vector<CellAccount>& accounts, const Listing& cells,
                          std::size_t lines) {
  std::string out;
  for (const CellAccount& account : accounts) {
    out += (out.empty() ? "" : "\n") + account_text(account, cells, lines);
  }
  return out;
}

std::string accounts_json(const std::vector<CellAccount>& accounts, const std::string& store) {
  AccountJson cells = AccountJson::array();
  for (const CellAccount& account : accounts) cells.push_back(json_of(account));
  return json_text(AccountJson{{"schema", 1}, {"store", store}, {"cells", cells}}, 2) + "\n";
}

}  // namespace depthgrid
