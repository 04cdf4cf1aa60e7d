#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/arguments/command_line.hpp"
#include "cli/arguments/store_argument.hpp"
#include "cli/verbs.hpp"
#include "core/base/clock.hpp"
#include "core/base/parse_number.hpp"
#include "core/base/terminal.hpp"
#include "storage/plan_sequence.hpp"
#include "sweeps/launch/node_faults.hpp"
#include "sweeps/live/store_activity.hpp"
#include "sweeps/live/watch_text.hpp"
#include "sweeps/report/status_report.hpp"
#include "sweeps/run/event_report.hpp"
#include "sweeps/slurm/queue_report.hpp"
#include "sweeps/slurm/slurm_client.hpp"

namespace depthgrid {
namespace {

/// A status at one time.
struct StatusSnapshot {
  Listing listing;
  SweepNumbers numbers;
  QueueReport queue;
  std::vector<NodeFault> nodes;

  std::string text(Colour colour) const {
    const bool counts = queue.submitted || status_code(listing) == ExitCode::Unfinished;
    return status_text(listing, colour) + (counts ? "\n" + numbers_text(numbers) : "") +
           more(colour);
  }
  std::string ended(Colour colour) const {
    return status_text(listing, colour) + numbers_text(numbers) + more(colour);
  }
  /// What follows the cells.
  std::string more(Colour colour) const {
    return queue_text(queue) + node_faults_text(nodes, listing.store, colour);
  }
  std::string json() const {
    return status_json(listing, &numbers, queue_json(queue), node_faults_json(nodes));
  }
};

StatusSnapshot status_snapshot(const StoreArgument& argument, QueueWatch& queue,
                               ReadProgress progress = ReadProgress::Shown) {
  StatusSnapshot out{argument.listing(progress), {}, {}, {}};
  const std::optional<Store> store =
      argument.absent() ? std::nullopt : std::optional(argument.open());
  out.numbers = numbers_now(out.listing, store ? &*store : nullptr);
  if (store) {
    out.queue = queue.report(store->root());
    out.nodes = node_faults(store->root(), store->fs());
  }
  return out;
}

/// `--watch 5` and `--watch=5`: the seconds are optional, which the parser of options cannot
/// distinguish from the argument that follows.
Arguments with_seconds(const Arguments& arguments) {
  constexpr std::string_view kWatch = "--watch";
  Arguments out;
  for (const std::string& word : arguments) {
    const bool after = !out.empty() && out.back() == kWatch;
    if (word.starts_with("--watch=")) {
      out.insert(out.end(), {std::string(kWatch), "--every", word.substr(kWatch.size() + 1)});
      continue;
    }
    if (after && parse_number<std::uint64_t>(word)) out.emplace_back("--every");
    out.push_back(word);
  }
  return out;
}

/// Draws over what it drew before; the cursor stays below, where a shell goes on after Ctrl-C.
class Screen {
 public:
  explicit Screen(Terminal terminal) : terminal_(std::move(terminal)) {}

  void draw(const StatusSnapshot& now) {
    const Terminal::Size size = terminal_.size();
    const auto lines =
        watch_lines(now.listing, now.numbers, size.columns, size.rows, now.more(Colour::No));
    std::string out = above();
    for (const std::string& line : lines) out += line + "\r\n";
    terminal_.write(out);
    drawn_ = std::min<std::size_t>(lines.size(), static_cast<std::size_t>(size.rows) - 1);
  }
  void erase() {
    terminal_.write(above());
    drawn_ = 0;
  }

 private:
  std::string above() const {
    return drawn_ == 0 ? "" : fmt::format("\033[{}A{}", drawn_, kEraseBelow);
  }

  Terminal terminal_;
  std::size_t drawn_ = 0;  // lines
};

int watch(const StoreArgument& argument, QueueWatch& queue, std::chrono::seconds every, bool json) {
  std::optional<Screen> screen;
  if (auto terminal = json ? std::nullopt : Terminal::of(STDOUT_FILENO)) {
    screen.emplace(std::move(*terminal));
  }
  std::optional<SweepNumbers> before;
  Stopwatch since;
  for (;;) {
    StatusSnapshot now = status_snapshot(argument, queue, ReadProgress::Silent);
    // Without progress channels, the rate is that of what the store has gained since the last poll.
    const double seconds = since.seconds();
    since = Stopwatch();
    if (before && std::isnan(now.numbers.rate) && seconds > 0) {
      const auto made = now.numbers.cell_steps_done - before->cell_steps_done;
      if (made > 0) now.numbers.rate = static_cast<double>(made) / seconds;
    }
    before = now.numbers;
    const ExitCode code = status_code(now.listing);
    const bool ended = code != ExitCode::Unfinished;
    if (json) {
      print(now.json());
    } else if (!screen) {
      print(iso_utc(unix_time()) + " " + watch_line(now.listing, now.numbers) + "\n");
    } else if (!ended) {
      screen->draw(now);
    } else {
      screen->erase();
    }
    if (ended && !json) print(now.ended(colour_of_stdout()));
    if (ended) return number_of(code);
    std::this_thread::sleep_for(every);
  }
}

int print_events(const StoreArgument& argument, bool json) {
  const Store store = argument.open();
  // What ended before there was a plan, such as a preparation, is no less recorded.
  const bool planned = argument.sweep || has_plan(store);
  Listing listing = planned ? argument.listing() : Listing{};
  listing.store = argument.folder.string();
  const EventReport report = known_events(store, listing);
  print(json ? events_json(report, listing.store)
             : events_text(report, listing, colour_of_stdout()));
  return 0;
}

}  // namespace

int status_verb(const Arguments& arguments) {
  CommandLine line(
      "status [STORE] [--watch [SECONDS] | --events] [--json]",
      "Counts cells by state and lists the problems. STORE is the folder of a store or a\n"
      "sweep file. Returns 3 while cells are pending or running, 4 if some failed, else 0.\n"
      "While they are, it also reports steps, rate, time left and hours, and of a submitted sweep\n"
      "what stands in Slurm's queue, and why. Nodes that are left out for a fault are named.\n"
      "With --watch it shows that again and again, until all cells have ended. Ctrl-C ends\n"
      "the display, not the run. With --events it lists what happened instead, in order:\n"
      "submissions, launches and their ends, retries, stops.");
  line.examples({"status results/tiny", "status configs/tiny.yaml --json",
                 "status results/tiny --watch", "status results/tiny --events"});
  store_options(line)
      .flag("watch", "show it again every 2 s, or every SECONDS, until all cells have ended")
      .number("every", 2, "of --watch: seconds between two polls")
      .flag("events", "what happened to the sweep, in order, with hosts, classes and retries");
  line.json().excludes("events", "watch").needs("every", "watch");
  if (!line.parse(with_seconds(arguments))) return 0;
  const StoreArgument argument(line);
  if (line.has("events")) return print_events(argument, line.has("json"));
  const SlurmClient slurm(real_commands(), QueueWatch::kPatience);
  QueueWatch queue(slurm, [clock = Stopwatch()] { return clock.seconds(); });
  if (line.has("watch")) {
    return watch(argument, queue, std::chrono::seconds(line.number_of("every")), line.has("json"));
  }
  const StatusSnapshot now = status_snapshot(argument, queue);
  print(line.has("json") ? now.json() : now.text(colour_of_stdout()));
  return number_of(status_code(now.listing));
}

}  // namespace depthgrid
