#include "sweeps/queue/job_queue.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/json_text.hpp"
#include "core/base/last_lines.hpp"
#include "core/base/log.hpp"
#include "storage/cells/cell_recovery.hpp"
#include "storage/files/lease.hpp"
#include "storage/files/quarantine.hpp"
#include "sweeps/queue/cell_requests.hpp"
#include "sweeps/queue/checkpoint_policy.hpp"

namespace depthgrid {
namespace {

/// The free cells of a partly held job must stay the same for ttl/kWaitParts. Heartbeats of one
/// owner, and so the ends of its leases, lie up to ttl/9 apart.
constexpr int kWaitParts = 4;

/// A checkpoint written before the layout of the model changed is useless.
bool fits(const LoadedCheckpoint& state, std::int64_t parameters) {
  return state.tensors.size() == 3 &&
         std::ranges::all_of(state.tensors, [&](const LoadedTensor& t) {
           return static_cast<std::int64_t>(t.data.size()) == parameters;
         });
}

/// Outcomes that leave a result. The cells that are asked about have none.
bool ends_without_result(AttemptOutcome outcome) {
  return outcome == AttemptOutcome::Done || outcome == AttemptOutcome::Diverged ||
         outcome == AttemptOutcome::Crash;
}

/// @param last  attempt at the cell.
FailureReport crash_report(const Store& store, const AttemptRecord& last, const std::string& why) {
  FailureReport out{.kind = "crash", .message = why};
  const auto facts = parse_json_or_discard(last.attempt_json);
  try {
    out.job = facts.at("job");
    out.host = facts.at("host");
    const std::filesystem::path name(facts.at("logs").at(0).get<std::string>());
    out.last_words = last_lines(store.log_dir() / name.filename(), kLastWords, store.fs());
  } catch (const nlohmann::json::exception&) {
    // A damaged record of the attempt: the report does without.
  }
  return out;
}

}  // namespace

std::optional<std::string> died_too_often(const CellHistory& history,
                                          const std::set<std::int64_t>& crashed,
                                          std::int64_t failed_before, std::int64_t budget) {
  std::int64_t furthest = -1, crashes = 0;
  for (const AttemptRecord& attempt : history.attempts) {
    if (attempt.generation <= failed_before) continue;
    const bool stopped = attempt.end && !ends_without_result(attempt.end->outcome);
    if (stopped || attempt.last_step > furthest) crashes = 0;
    if (attempt.end ? !stopped : crashed.contains(attempt.generation)) ++crashes;
    furthest = std::max(furthest, attempt.last_step);
  }
  if (crashes <= budget + 1) return std::nullopt;
  return fmt::format("crashed {} times without getting beyond step {} (retry.crash = {})", crashes,
                     furthest, budget);
}

JobQueue::JobQueue(const Sweep& sweep, const Store& store, LeaseKeeper& leases,
                   std::vector<FusedJob> jobs, ParameterCount parameters, std::int64_t crash_budget,
                   const Clock& clock)
    : sweep_(sweep),
      store_(store),
      leases_(leases),
      jobs_(std::move(jobs)),
      parameters_(std::move(parameters)),
      given_up_(sweep.cells.size(), false),
      failed_before_(failure_generations(store, sweep)),
      start_(sweep, store, failed_before_),
      crash_budget_(crash_budget),
      clock_(clock) {}

/// Publishes why a claimed cell has failed, and gives it up.
void JobQueue::report(std::size_t row, std::int64_t generation, const FailureReport& report) {
  publish_report(store_, sweep_.cells[row], generation, CellStatus::Failed, report);
  lost_.push_back({row, report.message});
  give_up({row});
}

bool JobQueue::pending(std::size_t row) const {
  return !given_up_[row] && !store_.completed(sweep_.cells[row].id);
}

/// True if another team of this run has given the cell up, or a user has cancelled it. Users may
/// change their minds, so that is asked again.
bool JobQueue::lost_elsewhere(std::size_t row) {
  const CellId& id = sweep_.cells[row].id;
  const auto failure = store_.newest_failure(id);
  if (!failure) return given_up_[row];
  if (failure->status == CellStatus::Cancelled) return given_up_[row] || is_cancelled(store_, id);
  if (failure->generation > failed_before_[row]) given_up_[row] = true;
  return given_up_[row];
}

/// True if another team of this run has given up a claimed cell, or a user wants it cancelled. The
/// report moves to the claim's generation, or listings would take the claim for a newer attempt.
bool JobQueue::lost_meanwhile(std::size_t row, const Lease& lease) {
  const CellId& id = sweep_.cells[row].id;
  if (cell_stop_requested(store_, id)) {
    publish_cancelled(store_, id, lease.generation(), clock_);
    return true;
  }
  const auto failure = store_.newest_failure(id);
  if (!failure) return false;
  const bool cancelled = failure->status == CellStatus::Cancelled;
  const bool stands = cancelled ? is_cancelled(store_, id, lease.generation())
                                : failure->generation > failed_before_[row];
  if (!stands) return false;
  store_.publish_failure(id, lease.generation(), failure->status, failure->json);
  if (!cancelled) given_up_[row] = true;
  return true;
}

/// Fails a cell whose source has ended badly, with a report of its own.
void JobQueue::lose(std::size_t row, const std::string& why) {
  if (lost_elsewhere(row)) return;
  const auto lease = leases_.try_acquire(store_.cell_dir(sweep_.cells[row].id));
  if (!lease || !pending(row) || lost_meanwhile(row, *lease)) return;  // another process reports it
  report(row, lease->generation(), {.kind = "source", .message = why});
}

/// False while a cell of the job waits for its source. Cells that would wait forever are given up.
bool JobQueue::may_begin(const FusedJob& job) {
  if (job.depth == 0) return true;  // none of its cells starts from another
  bool open = true;
  for (const std::size_t row : job.cells) {
    if (!pending(row) || lost_elsewhere(row)) continue;
    std::string why;
    const StartPermit::Answer answer = start_.ask(row, why);
    if (answer == StartPermit::Answer::Never) lose(row, why);
    open = open && (answer == StartPermit::Answer::Open || !pending(row));
  }
  return open;
}

/// Quarantines what stands in the place of a claimed cell's result and is none.
/// @return  false if it cannot be read now; then the cell is given up with a report.
bool JobQueue::clear_result(std::size_t row, std::int64_t generation,
                            std::vector<std::string>& damages) {
  const CellId& id = sweep_.cells[row].id;
  const ResultState result = store_.result(id);
  if (result.kind == ResultState::Kind::Unreachable) {
    report(row, generation, {.kind = "storage", .message = result.problem});
    return false;
  }
  if (result.kind == ResultState::Kind::Damaged) {
    const std::filesystem::path moved = quarantine(store_.cell_path(id) / "result.h5", store_.fs());
    damages.push_back(result.problem + "; moved to " + moved.filename().string() +
                      ", the cell is trained again");
  }
  return true;
}

/// Attempts at a cell that ended their processes by a fault.
std::set<std::int64_t> JobQueue::crashed(const CellId& id, const CellHistory& history) const {
  std::set<std::int64_t> out;
  for (const AttemptRecord& attempt : history.attempts) {
    if (attempt.end) continue;
    const auto owner = read_claim(store_.cell_path(id), attempt.generation, store_.fs());
    if (owner && store_.fs().facts(store_.crash_mark(*owner), Links::Follow)) {
      out.insert(attempt.generation);
    }
  }
  return out;
}

/// The state of a cell whose lease was taken; nothing if it is done or has been given up.
std::optional<ClaimedCell> JobQueue::begun(std::size_t row, Lease lease) {
  const CellPlan& cell = sweep_.cells[row];
  const std::filesystem::path folder = store_.cell_dir(cell.id);
  if (store_.completed(cell.id)) return std::nullopt;  // finished in the meantime
  if (lost_meanwhile(row, lease)) return std::nullopt;
  std::vector<std::string> damages;
  if (!clear_result(row, lease.generation(), damages)) return std::nullopt;
  const bool undone = !damages.empty();  // its last attempt had ended well
  CellRecovery search = recover_cell(folder, config_digest(cell.config), store_.fs());
  damages.insert(damages.end(), search.damages.begin(), search.damages.end());
  for (const std::string& damage : damages) log(LogLevel::Warning, cell.alias + ": " + damage);
  const auto failure = store_.newest_failure(cell.id);
  const auto why = died_too_often(search.before, crashed(cell.id, search.before),
                                  failure ? failure->generation : 0, crash_budget_);
  if (why && !undone) {
    report(row, lease.generation(), crash_report(store_, search.before.attempts.back(), *why));
    return std::nullopt;
  }
  remove_scratch(folder, store_.fs());
  if (search.state && !fits(*search.state, parameters_(cell.config))) {
    search.rejected.emplace_back("the newest checkpoint holds another number of parameters");
    search.state.reset();
  }
  for (const std::string& reason : search.rejected) {
    log(LogLevel::Warning, cell.alias + ": damaged checkpoint skipped: " + reason);
  }
  return ClaimedCell{row,
                     std::move(lease),
                     std::move(search.state),
                     std::move(search.rejected),
                     std::move(search.before),
                     std::move(damages)};
}

/// Claims these cells of a job and adds them to ready_, in groups by step. All leases are taken
/// before the first checkpoint is read. Who gets the first cell gets the job: two processes that
/// begin it at once do not share it between them.
/// @return  false if nothing was added.
bool JobQueue::take(const std::vector<std::size_t>& rows) {
  std::vector<std::pair<std::size_t, Lease>> leases;
  for (const std::size_t row : rows) {
    auto lease = leases_.try_acquire(store_.cell_dir(sweep_.cells[row].id));
    if (lease) {
      leases.emplace_back(row, std::move(*lease));
    } else if (leases.empty()) {
      return false;
    }
  }
  std::map<std::int64_t, Claim> by_step;
  for (auto& [row, lease] : leases) {
    auto cell = begun(row, std::move(lease));
    if (!cell) continue;
    const std::int64_t step = cell->state ? cell->state->step : 0;
    Claim& group = by_step[step];
    group.job.first_step = step;
    group.job.rows.push_back(row);
    group.cells.push_back(std::move(*cell));
  }
  for (auto& [step, group] : by_step) {
    std::vector<std::string> ids;
    for (const std::size_t row : group.job.rows) ids.push_back(sweep_.cells[row].id);
    group.job.id = job_id(ids);
    ready_.push_back(std::move(group));
  }
  return !by_step.empty();
}

/// Those of `rows` that nobody holds. Every cell is examined, so that the heartbeats of a silent
/// owner are timed together.
std::vector<std::size_t> JobQueue::free_cells(const std::vector<std::size_t>& rows) {
  std::vector<std::size_t> out;
  for (const std::size_t row : rows) {
    if (leases_.appears_free(store_.cell_dir(sweep_.cells[row].id))) out.push_back(row);
  }
  return out;
}

JobQueue::State JobQueue::next(std::optional<Claim>& claim) {
  const auto pop_ready = [&] {
    claim = std::move(ready_.front());
    ready_.erase(ready_.begin());
    return State::Claimed;
  };
  if (!ready_.empty()) return pop_ready();
  bool waiting = false;
  decltype(offered_) offered;
  for (const FusedJob& job : jobs_) {
    if (!may_begin(job)) {
      waiting = true;
      continue;
    }
    std::vector<std::size_t> open;
    std::ranges::copy_if(job.cells, std::back_inserter(open),
                         [&](std::size_t row) { return pending(row) && !lost_elsewhere(row); });
    if (open.empty()) continue;
    waiting = true;
    const std::vector<std::size_t> free = free_cells(open);
    if (free.size() == open.size()) {
      if (take(open)) return pop_ready();
    } else if (!free.empty()) {
      const auto before = offered_.find(free);
      offered.emplace(free, before == offered_.end() ? leases_.now() : before->second);
    }
  }
  offered_ = std::move(offered);
  for (const auto& [free, since] : offered_) {
    const auto wait = leases_.ttl() / kWaitParts;
    if (leases_.now() - since >= wait && take(free)) return pop_ready();
  }
  return waiting ? State::Waiting : State::Finished;
}

bool JobQueue::may_inherit() const {
  return std::ranges::any_of(jobs_, [&](const FusedJob& job) {
    return std::ranges::any_of(job.cells, [&](std::size_t row) {
      return pending(row) && leases_.suspects(store_.cell_dir(sweep_.cells[row].id));
    });
  });
}

void JobQueue::give_up(const std::vector<std::size_t>& rows) {
  for (const std::size_t row : rows) {
    if (!given_up_[row]) ++failed_;
    given_up_[row] = true;
  }
}

void JobQueue::split(const std::vector<std::size_t>& rows) {
  const auto middle = rows.begin() + static_cast<std::ptrdiff_t>(rows.size() / 2);
  FusedJob first, second;
  first.cells.assign(rows.begin(), middle);
  second.cells.assign(middle, rows.end());
  for (FusedJob& job : jobs_) {
    std::erase_if(job.cells, [&](std::size_t row) { return std::ranges::count(rows, row) > 0; });
  }
  jobs_.insert(jobs_.begin(), {first, second});
}

}  // namespace depthgrid
