#pragma once

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/held_signals.hpp"
#include "core/base/terminal.hpp"
#include "sweeps/live/live_sweep.hpp"

namespace depthgrid {

enum class DisplayStyle : std::uint8_t { Terminal, Plain, Quiet, Json };

/// "auto" is Terminal where there is one (core/base/terminal.hpp), else Plain.
/// @throws Error for an unknown word.
DisplayStyle display_style(const std::string& word);

struct DisplayOptions {
  DisplayStyle style = DisplayStyle::Quiet;
  bool names_ranks = false;  // before a note, the rank that it comes from
  /// Whether a row has a result, perhaps by another run: asked in a quiet moment, and of a job that
  /// ends. What it throws counts as no.
  std::function<bool(std::size_t)> has_result{};
};

/// Shows on stderr how far a sweep is: on a terminal a region that is redrawn below the lines that
/// stay, elsewhere a plain line now and then, or one JSON object per record (docs/cli.md). It knows
/// what receive() is given and what its sweep has; its owner calls update() again and again, all
/// from one thread.
///
/// A terminal that another program has does not stop this process (`run &` with `stty tostop`):
/// while it lets nobody else write, the display shows nothing, and SIGTTOU is held for what else
/// the thread that has made it writes; it ends there, too.
class Display {
 public:
  /// @param clock  outlives it.
  Display(DisplayOptions options, LiveSweep sweep, const Clock& clock = real_clock());
  /// Calls close().
  ~Display();
  Display(const Display&) = delete;
  Display& operator=(const Display&) = delete;

  /// What a rank or a launch reports. @param event  its `rank` distinguishes them.
  void receive(const LiveEvent& event);
  /// A line of the owner's that stays. It is no progress: Quiet shows it, too.
  void note(const std::string& line);
  /// Shows what is new if it is time to.
  void update();
  /// The last state, where lines are shown; a terminal gets its region back.
  void close();

  LiveSweep& sweep() noexcept { return sweep_; }

 private:
  static constexpr double kLongAgo = -std::numeric_limits<double>::infinity();

  double seconds() const { return clock_.now() - begun_; }
  bool has_result(std::size_t row) const noexcept;
  void find_results(bool all);
  void keep_note(const std::string& line);
  void write_notes();
  void record(const LiveEvent& event);
  void show(bool last);
  void draw(bool last);

  HeldSignals of_terminals_{SIGTTOU};
  DisplayOptions options_;
  LiveSweep sweep_;
  std::optional<Terminal> terminal_;
  const Clock& clock_;
  double begun_;
  std::vector<std::string> notes_;     // not shown yet
  std::map<int, double> last_record_;  // when each rank's step was last written as JSON
  std::vector<std::size_t> unasked_;   // rows of which has_result() is still to be asked
  double last_drawn_ = kLongAgo, last_plain_ = 0, last_asked_ = 0;
  bool worked_ = false;  // a job has begun
  bool closed_ = false;
};

}  // namespace depthgrid
