#include "sweeps/live/live_screen.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/log.hpp"
#include "core/base/output.hpp"
#include "core/base/printable.hpp"
#include "sweeps/live/live_text.hpp"

namespace depthgrid {
namespace {

constexpr double kDrawSeconds = 0.2, kRecordSeconds = 1;
// Of plain lines: every 10 s at first, in the end once per minute.
constexpr double kPlainLeast = 10, kPlainLongest = 60, kPlainPart = 1.0 / 30;

}  // namespace

LiveScreen::LiveScreen(const std::string& style, LiveSweep sweep, const Clock& clock)
    : style_(style), sweep_(std::move(sweep)), clock_(clock), begun_(clock.now()) {
  if (style_ == "auto") terminal_ = Terminal::find();
  if (terminal_) configure_log(wanted_log_level(), "", kEraseBelow);
}

LiveScreen::~LiveScreen() {
  close();
}

void LiveScreen::hear(const LiveEvent& event) {
  const double now = seconds();
  if (!sweep_.apply(event, now)) return;
  worked_ = worked_ || event.kind == LiveKind::JobStart;
  if (event.kind == LiveKind::Note) say(event.text);
  if (style_ != "json" || event.kind == LiveKind::Note) return;
  if (event.kind == LiveKind::Step && event.step != event.steps) {
    double& before = last_record_[event.rank];
    if (before > 0 && now - before < kRecordSeconds) return;
    before = now;
  }
  const std::string record = record_json(event, sweep_.done(), sweep_.cells());
  if (!record.empty()) tell(record + '\n');
}

void LiveScreen::say(const std::string& line) {
  if (style_ == "json") {
    tell(record_json({.kind = LiveKind::Note, .text = line}, 0, 0) + '\n');
  } else if (terminal_) {
    notes_.push_back(printable(line));
    last_drawn_ = -1;
  } else {
    tell("depthgrid: " + printable(line) + '\n');
  }
}

void LiveScreen::draw(bool last) {
  std::string out(kEraseBelow);
  for (const std::string& note : std::exchange(notes_, {})) out += note + '\n';
  if (!last) {
    const Terminal::Size size = terminal_->size();
    const auto lines = live_lines(sweep_.view(seconds()), size.columns, size.rows);
    for (const std::string& line : lines) out += '\n' + line;
    out += fmt::format("\r\033[{}A", lines.size());
  }
  terminal_->write(out);
}

void LiveScreen::turn() {
  show(false);
}

void LiveScreen::close() {
  if (!std::exchange(closed_, true)) show(true);
}

void LiveScreen::show(bool last) {
  if (style_ == "quiet" || style_ == "json") return;
  const double now = seconds();
  const TerminalUse use = terminal_ ? terminal_->use() : TerminalUse::Lines;
  if (use == TerminalUse::Draw) {
    if (!last && last_drawn_ >= 0 && now - last_drawn_ < kDrawSeconds) return;
    last_drawn_ = now;
    return draw(last);
  }
  if (use == TerminalUse::Nothing) return;
  for (const std::string& note : std::exchange(notes_, {})) tell("depthgrid: " + note + '\n');
  const double wait = std::clamp(now * kPlainPart, kPlainLeast, kPlainLongest);
  if (!worked_ || (!last && now - last_plain_ < wait)) return;
  last_plain_ = now;
  tell("depthgrid: " + plain_line(sweep_.view(now)) + '\n');
}

}  // namespace depthgrid
