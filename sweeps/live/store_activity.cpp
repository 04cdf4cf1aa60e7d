#include "sweeps/live/store_activity.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <string>

#include "storage/files/set_aside.hpp"
#include "sweeps/live/live_board.hpp"
#include "sweeps/report/slot_record.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

/// The job that a rank is at, with its newest step; nothing between two jobs.
std::optional<LiveEvent> present_job(const fs::path& events, const Fs& disk) {
  std::optional<LiveEvent> job;
  for (const LiveEvent& event : read_events(events, disk)) {
    if (event.kind == LiveKind::JobStart) job = event;
    if (event.kind == LiveKind::Step && job && event.job == job->job) job = event;
    if (event.kind == LiveKind::JobEnd) job.reset();
  }
  if (!job) return job;
  for (const LiveEvent& newest : read_events(fs::path(events).replace_extension(".now"), disk)) {
    if (newest.job == job->job && newest.step >= job->step) job = newest;
  }
  return job;
}

}  // namespace

StoreActivity store_activity(const Store& store) {
  StoreActivity out;
  for (const fs::path& run : store.fs().entries(store.live_dir())) {
    if (board_is_dead(run, real_processes(), store.fs())) continue;
    ++out.runs;
    for (const fs::path& file : store.fs().entries(run)) {
      if (file.extension() != ".events") continue;
      const auto job = present_job(file, store.fs());
      if (!job) continue;
      ++out.jobs;
      out.cells += job->cells();
      if (std::isfinite(job->rate())) out.rate += job->rate();
    }
  }
  return out;
}

SweepNumbers numbers_now(const Listing& listing, const Store* store) {
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
  if (!something_at(store->orders_dir(), store->fs())) return out;
  for (const CellSummary& cell : listing.cells) {
    const bool open = !is_result(cell.status) && !is_failure(cell.status);
    if (open && something_at(store->stop_order(cell.id), store->fs()))
      out.stopping.push_back(cell.alias);
  }
  return out;
}

}  // namespace depthgrid
