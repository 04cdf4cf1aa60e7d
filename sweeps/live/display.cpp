#include "sweeps/live/display.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/base/output.hpp"
#include "core/base/printable.hpp"
#include "sweeps/live/live_text.hpp"

namespace depthgrid {
namespace {

constexpr double kDrawSeconds = 0.2, kRecordSeconds = 1;
// Of plain lines: every 10 s at first, in the end once per minute.
constexpr double kPlainLeast = 10, kPlainMost = 60, kPlainShare = 1.0 / 30;
// Of cells that other runs may have trained. The files of a large sweep are asked for a part at a
// time: the owner has other things to do.
constexpr double kResultSeconds = 5;
constexpr std::size_t kAskedAtOnce = 200;

}  // namespace

DisplayStyle display_style(const std::string& word) {
  if (word == "quiet") return DisplayStyle::Quiet;
  if (word == "json") return DisplayStyle::Json;
  if (word == "plain") return DisplayStyle::Plain;
  if (word != "auto") throw Error("unknown progress style '" + word + "'");
  return Terminal::find() ? DisplayStyle::Terminal : DisplayStyle::Plain;
}

Display::Display(DisplayOptions options, LiveSweep sweep, const Clock& clock)
    : options_(std::move(options)), sweep_(std::move(sweep)), clock_(clock), begun_(clock.now()) {
  if (options_.style == DisplayStyle::Terminal) terminal_ = Terminal::find();
}

Display::~Display() {
  close();
}

void Display::receive(const LiveEvent& event) {
  if (!sweep_.apply(event, seconds())) return;
  if (options_.style == DisplayStyle::Quiet) return;
  worked_ = worked_ || event.kind == LiveKind::JobStart;
  if (event.kind == LiveKind::JobEnd) {
    for (const std::size_t row : event.rows) {
      if (has_result(row)) sweep_.finish(row);
    }
  }
  if (options_.style == DisplayStyle::Json) return record(event);
  if (event.kind != LiveKind::Note) return;
  keep_note(options_.names_ranks ? fmt::format("rank {}: {}", event.rank, event.text) : event.text);
}

void Display::note(const std::string& line) {
  if (options_.style == DisplayStyle::Json) {
    return record({.kind = LiveKind::Note, .text = line});
  }
  keep_note(line);
}

void Display::keep_note(const std::string& line) {
  notes_.push_back(printable(line));
  last_drawn_ = kLongAgo;  // it is time now
  if (!terminal_) write_notes();
}

void Display::write_notes() {
  for (const std::string& note : std::exchange(notes_, {}))
    print_to_stderr("depthgrid: " + note + '\n');
}

void Display::record(const LiveEvent& event) {
  if (event.kind == LiveKind::Step && event.step != event.steps) {
    const double now = seconds();
    const auto [before, first] = last_record_.try_emplace(event.rank, now);
    if (!first && now - before->second < kRecordSeconds) return;
    before->second = now;
  }
  const std::string line = record_json(event, sweep_.done(), sweep_.cells());
  if (!line.empty()) print_to_stderr(line + '\n');
}

bool Display::has_result(std::size_t row) const noexcept {
  try {
    return options_.has_result && options_.has_result(row);
  } catch (const std::exception&) {  // no display is worth a crash
    return false;
  }
}

void Display::find_results(bool all) {
  if (!options_.has_result) return;
  const double now = seconds();
  if (all || (unasked_.empty() && now - last_asked_ >= kResultSeconds)) {
    unasked_ = sweep_.open();
    last_asked_ = now;
  }
  for (std::size_t n = 0; !unasked_.empty() && (all || n < kAskedAtOnce); ++n) {
    if (has_result(unasked_.back())) sweep_.finish(unasked_.back());
    unasked_.pop_back();
  }
}

void Display::update() {
  if (options_.style == DisplayStyle::Quiet) return;
  find_results(false);
  show(false);
}

void Display::close() {
  if (!std::exchange(closed_, true)) show(true);
}

void Display::show(bool last) {
  if (options_.style == DisplayStyle::Quiet || options_.style == DisplayStyle::Json) return;
  const double now = seconds();
  const TerminalUse use = terminal_ ? terminal_->use() : TerminalUse::Lines;
  if (use == TerminalUse::Draw) {
    if (!last && now - last_drawn_ < kDrawSeconds) return;
    last_drawn_ = now;
    return draw(last);
  }
  if (use == TerminalUse::Nothing) return;
  write_notes();
  const double wait = std::clamp(now * kPlainShare, kPlainLeast, kPlainMost);
  if (!worked_ || (!last && now - last_plain_ < wait)) return;
  if (last) find_results(true);
  last_plain_ = now;
  print_to_stderr("depthgrid: " + plain_line(sweep_.view(now)) + '\n');
}

/// The cursor rests on an empty line above the region: whatever others write, the shell or another
/// rank, begins there and is kept, and what is below can be erased whatever size the window has
/// now.
void Display::draw(bool last) {
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

}  // namespace depthgrid
