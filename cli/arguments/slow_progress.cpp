#include "cli/arguments/slow_progress.hpp"

#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "core/base/grouped.hpp"
#include "core/base/output.hpp"

namespace depthgrid {
namespace {

constexpr std::chrono::seconds kFirstLine{2}, kBetweenLines{5};

}  // namespace

SlowProgress::SlowProgress(std::string who, std::string what, Time begin)
    : who_(std::move(who)), what_(std::move(what)), next_(begin + kFirstLine) {}

std::string SlowProgress::line_at(Time now, std::size_t done, std::size_t all) {
  if (now < next_) return {};
  next_ = now + kBetweenLines;
  return fmt::format("{}: {} of {} {}\n", who_, grouped(static_cast<std::int64_t>(done)),
                     grouped(static_cast<std::int64_t>(all)), what_);
}

void SlowProgress::operator()(std::size_t done, std::size_t all) {
  const std::string line = line_at(std::chrono::steady_clock::now(), done, all);
  if (!line.empty()) print_to_stderr(line);
}

}  // namespace depthgrid
