#include "sweeps/live/watch_text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/grouped.hpp"
#include "core/base/printable.hpp"
#include "core/base/text_parts.hpp"
#include "sweeps/live/live_text.hpp"
#include "sweeps/report/status_report.hpp"

namespace depthgrid {
namespace {

/// "120 of 400 cell-steps, 33 per second, remaining 0:08"
std::string steps_text(const SweepNumbers& n) {
  std::string out =
      fmt::format("{} of {} cell-steps", grouped(n.cell_steps_done), grouped(n.cell_steps));
  if (std::isfinite(n.rate)) {
    out += fmt::format(", {:.{}f} per second", n.rate, n.rate < 10 ? 1 : 0);
  }
  if (n.steps_left > 0) out += ", remaining " + clock_text(n.eta());
  return out;
}

}  // namespace

std::string numbers_text(const SweepNumbers& n) {
  std::string out = steps_text(n);
  if (n.runs > 0) out += fmt::format(" ({} run(s) with {} job(s))", n.runs, n.jobs);
  out += fmt::format("\n{:.3g} rank-hours used, {:.3g} of them for steps that were made again",
                     n.used / 3600, n.lost / 3600);
  if (n.slots > 0) {
    out += fmt::format("; {:.3g} of {:.3g} {} of supervisors idle", n.idle / 3600, n.slots / 3600,
                       n.slots_are_cards ? "GPU-hours" : "slot-hours");
  }
  out += '\n';
  if (!n.stopping.empty()) {
    out += fmt::format("asked to stop: {}\n", fmt::join(n.stopping, ", "));
  }
  return out;
}

std::vector<std::string> watch_lines(const Listing& listing, const SweepNumbers& numbers,
                                     int columns, int rows, const std::string& more) {
  const auto width = static_cast<std::size_t>(std::max(columns - 1, 1));
  const auto most = static_cast<std::size_t>(std::max(rows - 1, 3));
  std::vector<std::string> out = text_lines(numbers_text(numbers));
  const std::vector<std::string> status = text_lines(status_text(listing) + more);
  out.insert(out.begin() + 1, status.begin() + std::min<std::ptrdiff_t>(1, std::ssize(status)),
             status.end());
  if (!status.empty()) out.insert(out.begin(), status.front());
  if (out.size() > most) {
    const std::size_t left_out = out.size() - most + 1;
    out.resize(most - 1);
    out.push_back(fmt::format("… and {} more lines", left_out));
  }
  for (std::string& line : out) line = clipped(printable(line), width);
  return out;
}

std::string watch_line(const Listing& listing, const SweepNumbers& numbers) {
  constexpr std::array kShown = {CellStatus::Completed, CellStatus::Diverged, CellStatus::Running,
                                 CellStatus::Pending,   CellStatus::Failed,   CellStatus::Oom,
                                 CellStatus::Cancelled};
  std::vector<std::string> counts;
  for (const CellStatus status : kShown) {
    const auto n = std::ranges::count_if(listing.cells, [&](const CellSummary& cell) {
      return cell.in_plan && cell.status == status;
    });
    if (n > 0) counts.push_back(fmt::format("{} {}", n, name_of(status)));
  }
  return fmt::format("{}: {}; {}", printable(listing.sweep), fmt::join(counts, ", "),
                     steps_text(numbers));
}

}  // namespace depthgrid
