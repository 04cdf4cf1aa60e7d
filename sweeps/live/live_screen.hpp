#pragma once

#include <csignal>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/held_signals.hpp"
#include "core/base/terminal.hpp"
#include "sweeps/live/live_sweep.hpp"

namespace depthgrid {

/// Shows on stderr what the launches of a supervisor tell: a region of a terminal that is redrawn,
/// plain lines elsewhere, or one JSON object per record. A terminal that another program has does
/// not stop this process (`run -j 2 &` with `stty tostop`): while it lets nobody else write, the
/// display shows nothing, and SIGTTOU is held for what else is said.
class LiveScreen {
 public:
  /// @param style  auto, plain, quiet or json, as RunOrder::progress.
  LiveScreen(const std::string& style, LiveSweep sweep, const Clock& clock = real_clock());
  /// Gives the terminal back.
  ~LiveScreen();
  LiveScreen(const LiveScreen&) = delete;
  LiveScreen& operator=(const LiveScreen&) = delete;

  /// News of a launch. @param event  its `rank` tells launches apart.
  void hear(const LiveEvent& event);
  /// The cell has a result.
  void finish(std::size_t row) { sweep_.finish(row); }
  /// A line that stays.
  void say(const std::string& line);
  /// Draws if it is time to. Call it often.
  void turn();
  /// The last state, as a line where lines are shown.
  void close();

  LiveSweep& sweep() noexcept { return sweep_; }

 private:
  double seconds() const { return clock_.now() - begun_; }
  void draw(bool last);
  void show(bool last);

  HeldSignals of_terminals_{SIGTTOU};
  std::string style_;
  LiveSweep sweep_;
  std::optional<Terminal> terminal_;
  const Clock& clock_;
  double begun_;
  std::vector<std::string> notes_;
  std::map<int, double> last_record_;  // when each launch's step was last written as JSON
  double last_drawn_ = -1, last_plain_ = 0;
  bool worked_ = false, closed_ = false;
};

}  // namespace depthgrid
