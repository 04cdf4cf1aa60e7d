#include "sweeps/live/live_text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/base/printable.hpp"

namespace depthgrid {
namespace {

constexpr std::size_t kWidestBar = 60;
constexpr std::size_t kShownNews = 3, kPlainJobs = 4;
constexpr std::size_t kReadable = 14;  // columns that distinguish most aliases

/// Rounded down: 100 only when everything is done.
int percent(const LiveView& view) {
  return static_cast<int>(std::floor(view.fraction * 100 + 1e-9));
}

std::string bar_line(const LiveView& view, std::size_t width) {
  constexpr std::size_t kAround = 8;  // "[" "] 100 %"
  const std::size_t length =
      std::clamp<std::size_t>(width - std::min(width, kAround), 4, kWidestBar);
  const auto full =
      static_cast<std::size_t>(std::floor(view.fraction * static_cast<double>(length) + 1e-9));
  return fmt::format("[{}{}] {:3} %", std::string(std::min(full, length), '#'),
                     std::string(length - std::min(full, length), '.'), percent(view));
}

/// The first of several wordings that fits, or the last one cut.
std::string fitting(const std::vector<std::string>& wordings, std::size_t width) {
  for (const std::string& text : wordings) {
    if (display_width(text) <= width) return text;
  }
  return clipped(wordings.back(), width);
}

std::string times_line(const LiveView& v, std::size_t width) {
  const std::string elapsed = clock_text(v.elapsed), remaining = clock_text(v.remaining);
  const std::string rest = fmt::format("{} of {} cells, elapsed {}, remaining {}", v.cells_done,
                                       v.cells, elapsed, remaining);
  return fitting(
      {fmt::format("{}: {}", printable(v.sweep), rest), rest,
       fmt::format("{}/{}  elapsed {}  remaining {}", v.cells_done, v.cells, elapsed, remaining),
       fmt::format("{}/{}  {} + {} left", v.cells_done, v.cells, elapsed, remaining)},
      width);
}

std::string losses(const LiveJob& job, int decimals) {
  if (!std::isfinite(job.low)) return "-";  // before the first step, or all have diverged
  const std::string low = fmt::format("{:.{}f}", job.low, decimals);
  const std::string high = fmt::format("{:.{}f}", job.high, decimals);
  return low == high ? low : low + "-" + high;
}

std::string rate(const LiveJob& job) {
  return !std::isfinite(job.rate) ? "-" : fmt::format("{:.{}f}", job.rate, job.rate < 10 ? 1 : 0);
}

/// What follows the name of a job, in wordings from long to short.
std::vector<std::string> states(const LiveJob& job) {
  const std::string at = fmt::format("{}/{}", job.step, job.steps);
  if (!job.phase.empty()) {
    return {fmt::format("step {}  {}", at, job.phase), fmt::format("{} {}", at, job.phase)};
  }
  return {fmt::format("step {}  loss {}  {} cell-steps/s", at, losses(job, 4), rate(job)),
          fmt::format("step {}  loss {}  {}/s", at, losses(job, 4), rate(job)),
          fmt::format("{} {} {}/s", at, losses(job, 2), rate(job)),
          fmt::format("{} {} {}/s", job.step, losses(job, 1), rate(job))};
}

/// Two blanks, the name in at most as many columns as the widest, the state.
std::string job_line(const LiveJob& job, std::size_t widest, std::size_t width) {
  const std::string label = printable(job.label);
  const std::vector<std::string> all = states(job);
  std::string state = all.back();
  for (const std::string& wording : all) {
    if (display_width(wording) + std::min(widest, kReadable) + 4 <= width) {
      state = wording;
      break;
    }
  }
  const std::size_t used = display_width(state) + 4;
  const std::size_t space = std::min(widest, width > used ? width - used : 0);
  const std::string name = clipped(label, space);
  const std::string pad(space - std::min(space, display_width(name)), ' ');
  return clipped("  " + name + pad + "  " + state, width);
}

/// "2 failed, 1 diverged, 1 cancelled", without what is none.
std::string counted_news(const LiveView& view) {
  constexpr std::pair<LiveFate, std::string_view> kFates[] = {{LiveFate::Failed, "failed"},
                                                              {LiveFate::Diverged, "diverged"},
                                                              {LiveFate::Cancelled, "cancelled"}};
  std::string out;
  for (const auto& [fate, word] : kFates) {
    const auto n = std::ranges::count(view.news, fate, &LiveNews::fate);
    if (n > 0) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", n, word);
  }
  return out;
}

}  // namespace

std::string clock_text(double seconds) {
  if (!std::isfinite(seconds)) return "?";
  const auto s = static_cast<std::int64_t>(std::llround(std::max(seconds, 0.0)));
  if (s < 3600) return fmt::format("{}:{:02}", s / 60, s % 60);
  if (s < 86400) return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
  return fmt::format("{} d {:02}:{:02}", s / 86400, s / 3600 % 24, s / 60 % 60);
}

std::vector<std::string> live_lines(const LiveView& view, int columns, int rows) {
  const auto width = static_cast<std::size_t>(std::max(columns - 1, 1));
  const auto most = static_cast<std::size_t>(std::max(rows - 2, 1));
  std::vector<std::string> out = {clipped(bar_line(view, width), width), times_line(view, width)};

  std::vector<std::string> news;
  const std::size_t all_news = view.news.size();
  for (std::size_t i = all_news - std::min(all_news, kShownNews); i < all_news; ++i) {
    std::string text = printable(view.news[i].text);
    std::ranges::replace(text, '\n', ' ');
    news.push_back(
        clipped((view.news[i].fate == LiveFate::Failed ? "  failed: " : "  ") + text, width));
  }
  if (all_news > kShownNews) {
    news.push_back(clipped("  " + counted_news(view) + " in all", width));
  }

  const std::size_t space = most - std::min(most, out.size() + news.size());
  const bool all = view.jobs.size() <= space;
  const std::size_t shown = all ? view.jobs.size() : space - std::min<std::size_t>(space, 1);
  std::size_t widest = 0;
  for (std::size_t i = 0; i < shown; ++i) {
    widest = std::max(widest, display_width(printable(view.jobs[i].label)));
  }
  for (std::size_t i = 0; i < shown; ++i) out.push_back(job_line(view.jobs[i], widest, width));
  if (!all && space > 0) {
    out.push_back(clipped(fmt::format("  … and {} more jobs", view.jobs.size() - shown), width));
  }
  out.insert(out.end(), news.begin(), news.end());
  out.resize(std::min(out.size(), most));
  return out;
}

std::string plain_line(const LiveView& v) {
  std::string out =
      fmt::format("{} % ({} of {} cells), elapsed {}, remaining {}", percent(v), v.cells_done,
                  v.cells, clock_text(v.elapsed), clock_text(v.remaining));
  for (std::size_t i = 0; i < std::min(v.jobs.size(), kPlainJobs); ++i) {
    out += fmt::format("{} {} {}", i == 0 ? ";" : ",", printable(v.jobs[i].label),
                       states(v.jobs[i])[1]);
  }
  if (v.jobs.size() > kPlainJobs) out += fmt::format(", {} more", v.jobs.size() - kPlainJobs);
  if (!v.news.empty()) out += "; " + counted_news(v);
  return out;
}

}  // namespace depthgrid
