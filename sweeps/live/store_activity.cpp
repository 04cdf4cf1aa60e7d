#include "sweeps/live/store_activity.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/nan.hpp"
#include "storage/files/quarantine.hpp"
#include "storage/plan_sequence.hpp"
#include "sweeps/live/live_cells.hpp"
#include "sweeps/live/progress_channel.hpp"
#include "sweeps/plan/job_plan.hpp"
#include "sweeps/plan/kept_tokens.hpp"
#include "sweeps/report/slot_record.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

/// What a rank has reported, its newest step last.
std::vector<LiveEvent> reports_of(const fs::path& events, const Fs& disk) {
  std::vector<LiveEvent> out = read_events(events, disk);
  for (LiveEvent& newest : read_events(fs::path(events).replace_extension(".now"), disk)) {
    out.push_back(std::move(newest));
  }
  return out;
}

/// The job that a rank is at, with its newest step; nothing between two jobs.
std::optional<LiveEvent> present_job(const std::vector<LiveEvent>& reports) {
  std::optional<LiveEvent> job;
  for (const LiveEvent& event : reports) {
    if (event.kind == LiveKind::JobStart) job = event;
    const bool at_work = event.kind == LiveKind::Step || event.kind == LiveKind::Phase;
    if (at_work && job && event.job == job->job && event.step >= job->step) job = event;
    if (event.kind == LiveKind::JobEnd) job.reset();
  }
  return job;
}

/// What is planned of a store's cells: their structures, with the predicted times of each (steps
/// are part of a structure).
std::map<CellId, LiveCell> planned_cells(const Store& store, const DescribeCache& cache) {
  const StoredPlan plan = read_plan(store);
  std::map<CellId, LiveCell> out;
  std::map<std::string, PredictedTime> times;
  std::vector<CellPlan> firsts;  // of each structure
  for (const StoredCell& cell : plan.cells) {
    out[cell.id].structure = cell.structure;
    if (!times.try_emplace(cell.structure).second) continue;
    CellPlan& first = firsts.emplace_back();
    first.structure = cell.structure;
    first.config = resolved_config(plan, cell);
  }
  CostTable costs = cache.known(firsts);
  costs.merge(cache.known(firsts, CostDetail::Counts));
  KeptTokens kept(store);
  for (const CellPlan& cell : firsts) {
    times[cell.structure] = team_times(cell, costs, 1, std::ref(kept));
  }
  for (auto& [id, cell] : out) cell.predicted = times[cell.structure];
  return out;
}

/// Whether the rows of a job are those of this listing: of a run of another plan they are not.
bool is_of(const Listing& listing, const LiveEvent& job) {
  std::vector<std::string> ids;
  for (const std::size_t row : job.rows) {
    if (row >= listing.cells.size()) return false;
    ids.push_back(listing.cells[row].id);
  }
  return job_id(ids) == job.job;
}

/// NaN where nobody trains, or where what they train is not of this listing.
double remaining_of(const Listing& listing, const Store& store, const StoreActivity& activity,
                    const DescribeCache& costs) {
  if (activity.jobs == 0 || !has_plan(store)) return kNaN;
  std::map<CellId, LiveCell> planned = planned_cells(store, costs);
  std::vector<LiveCell> cells;
  std::vector<std::vector<std::size_t>> jobs;
  for (const CellSummary& summary : listing.cells) {
    LiveCell& cell = cells.emplace_back(planned[summary.id]);
    cell.steps = summary.steps;
    cell.made = std::min(summary.step, summary.steps);
    cell.done = is_result(summary.status) || is_failure(summary.status);
    cell.counted = summary.in_plan;
    if (!cell.done && cell.counted) jobs.push_back({cells.size() - 1});
  }
  std::ranges::stable_sort(jobs, std::greater(), [&](const std::vector<std::size_t>& job) {
    return cells[job.front()].predicted.sum();  // the longest first, as runs take them
  });
  LiveSweep sweep(listing.sweep, std::move(cells));
  sweep.plan(std::move(jobs), static_cast<std::size_t>(activity.ranks));
  for (const LiveEvent& event : activity.events) {
    if (event.kind == LiveKind::JobStart && !is_of(listing, event)) return kNaN;
    sweep.apply(event, 0);
  }
  return sweep.view(0).remaining;
}

}  // namespace

StoreActivity store_activity(const Store& store) {
  StoreActivity out;
  for (const fs::path& run : store.fs().entries(store.live_dir())) {
    if (channel_is_dead(run, real_processes(), store.fs())) continue;
    ++out.runs;
    for (const fs::path& file : store.fs().entries(run)) {
      if (file.extension() != ".events") continue;
      std::vector<LiveEvent> reports = reports_of(file, store.fs());
      const auto job = present_job(reports);
      for (LiveEvent& event : reports) event.rank = out.ranks;
      out.events.insert(out.events.end(), reports.begin(), reports.end());
      ++out.ranks;
      if (!job) continue;
      ++out.jobs;
      out.cells += job->cells();
      if (std::isfinite(job->rate())) out.rate += job->rate();
    }
  }
  return out;
}

SweepNumbers numbers_now(const Listing& listing, const Store* store, const DescribeCache& costs) {
  SweepNumbers out = sweep_numbers(listing);
  if (store == nullptr) return out;
  const StoreActivity activity = store_activity(*store);
  const SlotSums slots = slot_sums(store->root(), store->fs());
  out.slots = slots.seconds;
  out.idle = std::max(0.0, slots.seconds - slots.busy);
  out.slots_are_cards = slots.cards;
  out.runs = activity.runs;
  out.jobs = activity.jobs;
  const auto running = std::ranges::count(listing.cells, CellStatus::Running, &CellSummary::status);
  if (activity.rate > 0 && running > 0) {
    const double share = static_cast<double>(running) / static_cast<double>(activity.cells);
    out.rate = activity.rate * std::min(1.0, share);
  }
  try {
    out.remaining = remaining_of(listing, *store, activity, costs);
  } catch (const UserError&) {  // a plan of another release: the status is reported without it
  }
  if (!something_at(store->requests_dir(), store->fs())) return out;
  for (const CellSummary& cell : listing.cells) {
    const bool open = !is_result(cell.status) && !is_failure(cell.status);
    if (open && something_at(store->stop_request(cell.id), store->fs()))
      out.stopping.push_back(cell.alias);
  }
  return out;
}

}  // namespace depthgrid
