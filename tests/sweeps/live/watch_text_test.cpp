#include "sweeps/live/watch_text.hpp"

#include <cmath>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/base/json_text.hpp"
#include "core/base/printable.hpp"
#include "sweeps/live/progress_channel.hpp"
#include "sweeps/live/store_activity.hpp"
#include "sweeps/report/status_report.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace watch_text_test {

CellSummary cell(const std::string& id, CellStatus status, std::int64_t step) {
  CellSummary out;
  out.id = id;
  out.alias = "arm," + id;
  out.status = status;
  out.step = step;
  out.steps = 100;
  return out;
}

Listing listing_of(std::vector<CellSummary> cells) {
  Listing out;
  out.sweep = "s";
  out.store = "results/s";
  out.cells = std::move(cells);
  return out;
}

Listing three_cells() {
  Listing out = listing_of({cell("000000000001", CellStatus::Completed, 40),
                            cell("000000000002", CellStatus::Running, 30),
                            cell("000000000003", CellStatus::Pending, 0)});
  out.cells[0].cost = {3600, 360};
  out.cells[1].cost = {1800, 0};
  return out;
}

TEST(SweepNumbers, CountStepsAndTheTimeLeftAtThePresentRate) {
  SweepNumbers numbers = sweep_numbers(three_cells());
  EXPECT_EQ(numbers.cell_steps, 300);
  EXPECT_EQ(numbers.cell_steps_done, 130);  // what has ended early makes no further step
  EXPECT_EQ(numbers.steps_left, 170);
  EXPECT_DOUBLE_EQ(numbers.used, 5400);
  EXPECT_DOUBLE_EQ(numbers.lost, 360);
  EXPECT_TRUE(std::isnan(numbers.eta()));
  numbers.rate = 10;
  EXPECT_DOUBLE_EQ(numbers.eta(), 17);
  EXPECT_DOUBLE_EQ(sweep_numbers(listing_of({cell("a", CellStatus::Cancelled, 3)})).eta(), 0);
}

TEST(WatchText, FitsTheTerminalAndSaysWhatItLeavesOut) {
  SweepNumbers numbers = sweep_numbers(three_cells());
  numbers.rate = 10;
  numbers.stopping = {"arm,2"};
  const auto all = watch_lines(three_cells(), numbers, 100, 40);
  EXPECT_EQ(all[0], "s: 3 cells, store results/s");
  EXPECT_EQ(all[1], "130 of 300 cell-steps, 10 per second, remaining 0:17");
  EXPECT_EQ(all.back(), "asked to stop: arm,2");
  for (const auto& [columns, rows] : {std::pair{20, 6}, {1, 1}, {40, 10}}) {
    const auto lines = watch_lines(three_cells(), numbers, columns, rows);
    EXPECT_LE(lines.size(), static_cast<std::size_t>(std::max(rows - 1, 3)));
    for (const std::string& line : lines) {
      EXPECT_LE(display_width(line), static_cast<std::size_t>(std::max(columns - 1, 1)));
    }
  }
  EXPECT_EQ(watch_lines(three_cells(), numbers, 100, 6).back(), "… and 4 more lines");
  EXPECT_EQ(watch_line(three_cells(), numbers),
            "s: 1 completed, 1 running, 1 pending; 130 of 300 cell-steps, 10 per second, "
            "remaining 0:17");
}

TEST(StoreActivity, AddsTheRatesOfWhatRunsTellAndNotOfTheDead) {
  const TemporaryFolder folder;
  const Store store = Store::open_or_create(folder.path() / "store");
  EXPECT_EQ(store_activity(store).runs, 0);
  const auto job = [](LiveKind kind, int rank, std::int64_t step) {
    return LiveEvent{.kind = kind,
                     .rank = rank,
                     .job = "j",
                     .rows = {0, 1},
                     .text = "t",
                     .first = 0,
                     .step = step,
                     .steps = 100,
                     .seconds = 4};
  };
  const ProgressChannel channel(store.live_dir() / "run");
  channel.sign();
  channel.append({job(LiveKind::JobStart, 0, 0)});
  channel.replace(job(LiveKind::Step, 0, 20));
  channel.append({job(LiveKind::JobStart, 1, 0), job(LiveKind::JobEnd, 1, 100)});
  ProcessIdentity dead = this_process();
  dead.start_time += 1;  // its number belongs to another process now
  const ProgressChannel left(store.live_dir() / "left");
  std::ofstream(store.live_dir() / "left" / "owner") << to_json(dead);
  left.append({job(LiveKind::JobStart, 0, 0)});

  const StoreActivity activity = store_activity(store);

  EXPECT_EQ(activity.runs, 1);
  EXPECT_EQ(activity.jobs, 1);
  EXPECT_DOUBLE_EQ(activity.rate, 20 * 2 / 4.0);
  std::filesystem::create_directory(store.requests_dir());
  std::ofstream(store.stop_request("000000000002")) << "{}";
  std::ofstream(store.stop_request("000000000001")) << "{}";  // it has ended
  const SweepNumbers numbers = numbers_now(three_cells(), &store);
  EXPECT_DOUBLE_EQ(numbers.rate, 5);  // of the job's two cells only one still trains
  EXPECT_EQ(numbers.stopping, std::vector<std::string>{"arm,000000000002"});
  const auto json = parse_json(status_json(three_cells(), &numbers));
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["cell_steps"], (nlohmann::json{{"done", 130}, {"total", 300}}));
  EXPECT_DOUBLE_EQ(json["activity"]["eta_seconds"], 34);
  EXPECT_DOUBLE_EQ(json["rank_hours"]["used"], 1.5);
  EXPECT_DOUBLE_EQ(json["rank_hours"]["lost"], 0.1);
}

}  // namespace watch_text_test
}  // namespace depthgrid
