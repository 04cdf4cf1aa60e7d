#include "sweeps/live/live_sweep.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "core/base/nan.hpp"

namespace depthgrid {

LiveSweep::LiveSweep(std::string name, std::vector<LiveCell> cells)
    : name_(std::move(name)),
      cells_(std::move(cells)),
      lost_(cells_.size(), false),
      done_(std::ranges::count_if(
          cells_, [](const LiveCell& cell) { return cell.done && cell.counted; })) {}

void LiveSweep::plan(std::vector<std::vector<std::size_t>> jobs, std::size_t places) {
  jobs_ = std::move(jobs);
  places_ = std::max<std::size_t>(places, 1);
}

void LiveSweep::finish(std::size_t row) {
  if (row >= cells_.size() || cells_[row].done) return;
  cells_[row].done = true;
  done_ += cells_[row].counted ? 1 : 0;
}

void LiveSweep::fail(std::size_t row, const std::string& why) {
  if (row >= cells_.size() || lost_[row] || cells_[row].done) return;
  lost_[row] = true;
  news_.push_back({LiveFate::Failed, cells_[row].alias + ": " + why});
}

void LiveSweep::cancel(std::size_t row) {
  if (row >= cells_.size() || lost_[row] || cells_[row].done) return;
  lost_[row] = true;
  news_.push_back({LiveFate::Cancelled, cells_[row].alias + ": cancelled"});
}

void LiveSweep::diverge(std::size_t row, const std::string& how) {
  if (row >= cells_.size() || cells_[row].done) return;
  finish(row);
  news_.push_back({LiveFate::Diverged, cells_[row].alias + ": " + how});
}

std::vector<std::size_t> LiveSweep::open() const {
  std::vector<std::size_t> out;
  for (std::size_t row = 0; row < cells_.size(); ++row) {
    if (cells_[row].counted && !cells_[row].done && !lost_[row]) out.push_back(row);
  }
  return out;
}

/// The predicted time of a job of which `part` of the training is left.
PredictedTime LiveSweep::of_job(const std::vector<std::size_t>& rows, double part) const {
  PredictedTime out;
  for (const std::size_t row : rows) {
    if (row >= cells_.size()) continue;
    PredictedTime cell = cells_[row].predicted;
    cell.training *= part;
    out += cell;
  }
  return out;
}

double LiveSweep::part_left(const Running& job) const {
  const LiveEvent& e = job.last;
  return e.steps > 0 ? static_cast<double>(e.steps - e.step) / static_cast<double>(e.steps) : 0;
}

/// Adds the steps of a job, of which at least two must have been made: the first one takes longer.
void LiveSweep::measure(TimeModel& times, const Running& job) const {
  const LiveEvent& e = job.last;
  if (e.step < e.first + 2 || e.rows.empty() || e.rows.front() >= cells_.size()) return;
  const double part = static_cast<double>(e.step - e.first) / static_cast<double>(e.steps);
  times.trained(cells_[e.rows.front()].structure, of_job(e.rows, part).training, job.step_seconds);
}

bool LiveSweep::apply(const LiveEvent& event, double now) {
  if (event.kind == LiveKind::Note) return true;
  if (event.kind == LiveKind::Failed) {
    for (const std::size_t row : event.rows) fail(row, event.text);
    return true;
  }
  if (event.kind == LiveKind::Cancelled) {
    for (const std::size_t row : event.rows) cancel(row);
    return true;
  }
  if (event.kind == LiveKind::Diverged) {
    for (const std::size_t row : event.rows) diverge(row, event.text);
    return true;
  }
  if (event.kind == LiveKind::JobStart) {
    Running& job = running_[event.rank];
    job = {event, "", now, 0, event.idle};
    job.last.low = job.last.high = kNaN;
    for (const std::size_t row : event.rows) {
      if (row < cells_.size()) cells_[row].made = std::max(cells_[row].made, event.step);
    }
    return true;
  }
  const auto at = running_.find(event.rank);
  if (at == running_.end() || at->second.last.job != event.job) return false;
  Running& job = at->second;
  job.received = now;
  job.last.seconds = event.seconds;
  if (event.kind == LiveKind::Phase) {
    job.phase = event.text;
    return true;
  }
  if (event.step > job.last.step) {
    job.last.step = event.step;
    job.last.low = event.low;
    job.last.high = event.high;
    job.step_seconds = event.seconds;
    job.phase.clear();
    for (const std::size_t row : job.last.rows) {
      if (row < cells_.size()) cells_[row].made = std::max(cells_[row].made, event.step);
    }
  }
  if (event.kind != LiveKind::JobEnd) return true;
  measure(times_, job);
  if (event.text == "done" && !job.last.rows.empty() && job.last.rows.front() < cells_.size()) {
    times_.ended(cells_[job.last.rows.front()].structure, of_job(job.last.rows, 0),
                 event.seconds - job.step_seconds + job.idle);
  }
  running_.erase(at);
  return true;
}

void LiveSweep::leave(int rank) {
  const auto at = running_.find(rank);
  if (at == running_.end()) return;
  measure(times_, at->second);
  running_.erase(at);
}

double LiveSweep::remaining(double now) const {
  TimeModel times = times_;
  for (const auto& [rank, job] : running_) measure(times, job);
  std::vector<double> busy;
  std::vector<WaitingJob> waiting;
  std::set<std::size_t> taken;
  for (const auto& [rank, job] : running_) {
    taken.insert(job.last.rows.begin(), job.last.rows.end());
    if (job.last.rows.empty() || job.last.rows.front() >= cells_.size()) continue;
    const LiveCell& first = cells_[job.last.rows.front()];
    const double left = times.seconds(first.structure, of_job(job.last.rows, part_left(job)));
    // Since its last step it has worked on what is left, unheard.
    const double since = job.last.seconds - job.step_seconds + (now - job.received);
    if (std::isnan(left)) return kNaN;
    busy.insert(busy.end(), first.width, std::max(0.0, left - since));
  }
  busy.resize(std::max(places_, busy.size()), 0);
  for (const std::vector<std::size_t>& rows : jobs_) {
    std::vector<std::size_t> left;
    for (const std::size_t row : rows) {
      const bool open = row < cells_.size() && !cells_[row].done && !lost_[row];
      if (open && !taken.contains(row)) left.push_back(row);
    }
    if (left.empty()) continue;
    const LiveCell& first = cells_[left.front()];
    const double part = first.steps > 0 ? static_cast<double>(first.steps - first.made) /
                                              static_cast<double>(first.steps)
                                        : 0;
    waiting.push_back({times.seconds(first.structure, of_job(left, part)), first.width});
    if (std::isnan(waiting.back().seconds)) return kNaN;
  }
  return time_to_end(std::move(busy), waiting);
}

LiveView LiveSweep::view(double now) {
  LiveView out;
  out.sweep = name_;
  out.cells = cells();
  out.cells_done = done_;
  out.elapsed = now;
  out.news = news_;
  std::int64_t ended = 0;
  for (std::size_t row = 0; row < cells_.size(); ++row) {
    const LiveCell& cell = cells_[row];
    if (!cell.counted) continue;
    const bool over = cell.done || lost_[row];
    out.cell_steps += cell.steps;
    out.cell_steps_done += over ? cell.steps : std::min(cell.made, cell.steps);
    ended += over ? 1 : 0;
  }
  const double all = static_cast<double>(out.cell_steps > 0 ? out.cell_steps : out.cells);
  const double made = static_cast<double>(out.cell_steps > 0 ? out.cell_steps_done : ended);
  shown_ = std::max(shown_, all > 0 ? made / all : 1);
  out.fraction = shown_;
  out.remaining = ended == out.cells ? 0 : jobs_.empty() ? kNaN : remaining(now);
  for (const auto& [rank, job] : running_) {
    const LiveEvent& e = job.last;
    LiveEvent at_step = e;
    at_step.seconds = job.step_seconds;
    out.jobs.push_back(
        {rank, e.text, e.cells(), e.step, e.steps, e.low, e.high, at_step.rate(), job.phase});
  }
  return out;
}

}  // namespace depthgrid
