#include "sweeps/report/status_report.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/base/json_text.hpp"

namespace depthgrid {
namespace status_report_test {

CellSummary cell(const std::string& id, CellStatus status, const std::string& problem = "") {
  CellSummary out;
  out.id = id;
  out.alias = "arm," + id;
  out.status = status;
  out.problem = problem;
  return out;
}

Listing listing_of(std::vector<CellSummary> cells) {
  Listing out;
  out.sweep = "s";
  out.store = "results/s";
  out.cells = std::move(cells);
  return out;
}

TEST(StatusReport, ACellThatFailedSaysWhyOrWhereToLook) {
  Listing listing = listing_of({cell("a", CellStatus::Completed), cell("b", CellStatus::Failed),
                                cell("c", CellStatus::Oom, "too large")});
  listing.cells[1].attempts = 2;
  EXPECT_EQ(status_text(listing),
            "s: 3 cells, store results/s\n"
            "state      cells\n"
            "completed      1\n"
            "failed         1\n"
            "oom            1\n"
            "\nproblems\n"
            "cell  alias  state   attempts  problem\n"
            "b     arm,b  failed         2  no report; see depthgrid logs\n"
            "c     arm,c  oom            " +
                std::to_string(listing.cells[2].attempts) + "  too large\n");
}

TEST(StatusReport, ACompletedCellMayHaveAProblemToo) {
  const Listing listing = listing_of({cell("a", CellStatus::Completed, "result.h5 is damaged")});
  EXPECT_NE(status_text(listing).find("result.h5 is damaged"), std::string::npos);
  EXPECT_EQ(status_code(listing), ExitCode::Done);
}

TEST(StatusReport, DamageIsAProblemAndWhatWasMetIsCounted) {
  Listing listing =
      listing_of({cell("a", CellStatus::Completed), cell("b", CellStatus::Completed)});
  listing.cells[1].damages_met = 2;
  EXPECT_EQ(status_code(listing), ExitCode::Done);
  EXPECT_NE(status_text(listing).find("2 damaged files were met and passed over"),
            std::string::npos);
  listing.cells[0].damage = "result.h5: is missing";

  EXPECT_EQ(status_code(listing), ExitCode::Partial);
  EXPECT_NE(status_text(listing).find("result.h5: is missing"), std::string::npos);
  const auto json = parse_json(status_json(listing));
  EXPECT_EQ(json["damages_met"], 2);
  EXPECT_EQ(json["problems"][0]["damaged"], true);
  EXPECT_EQ(damage_lines(listing), std::vector<std::string>{"arm,a: result.h5: is missing"});
}

TEST(StatusReport, JsonTellsWhatAProblemIsAndWhere) {
  Listing listing = listing_of({cell("a", CellStatus::Completed), cell("b", CellStatus::Diverged)});
  listing.cells[1].step = 17;
  listing.cells[1].host = "node7";

  const auto json = parse_json(status_json(listing));

  EXPECT_EQ(json["finished"], true);
  EXPECT_EQ(json["cells"], 2);
  EXPECT_EQ(json["counts"]["diverged"], 1);
  EXPECT_EQ(json["counts"]["pending"], 0);
  ASSERT_EQ(json["problems"].size(), 1U);
  EXPECT_EQ(json["problems"][0]["id"], "b");
  EXPECT_EQ(json["problems"][0]["step"], 17);
  EXPECT_EQ(json["problems"][0]["host"], "node7");
  EXPECT_EQ(json["problems"][0]["problem"], "not finite at step 17");
}

TEST(StatusReport, AFiniteLossIsNotCalledNotFinite) {
  Listing listing = listing_of({cell("a", CellStatus::Diverged)});
  listing.cells[0].step = 17;
  listing.cells[0].metrics["train_loss"] = 23.5;
  EXPECT_NE(
      status_text(listing).find("diverged at step 17, training loss 23.5; see depthgrid logs"),
      std::string::npos);
}

TEST(StatusReport, WithoutAStoreItSaysWhereItLooked) {
  Listing listing = listing_of({cell("a", CellStatus::Pending)});
  listing.planned = false;
  EXPECT_TRUE(
      status_text(listing).starts_with("s: 1 cells, nothing in results/s yet: depthgrid run"))
      << status_text(listing);
  EXPECT_EQ(parse_json(status_json(listing))["planned"], false);
}

TEST(StatusReport, CellsOfOtherPlansAreCountedApart) {
  Listing listing = listing_of({cell("a", CellStatus::Completed), cell("b", CellStatus::Completed),
                                cell("c", CellStatus::Pending)});
  listing.cells[1].in_plan = listing.cells[2].in_plan = false;

  EXPECT_EQ(status_text(listing),
            "s: 1 cells, store results/s\n"
            "state      cells  of other plans\n"
            "completed      1               1\n"
            "pending        0               1\n"
            "cells of other plans stay in the store; depthgrid results --all-plans shows them\n");
  EXPECT_EQ(status_code(listing), ExitCode::Done) << "nobody trains c";
  const auto json = parse_json(status_json(listing));
  EXPECT_EQ(json["cells"], 1);
  EXPECT_EQ(json["counts"]["completed"], 1);
  EXPECT_EQ(json["other_plans"]["completed"], 1);
  EXPECT_EQ(json["other_plans"]["pending"], 1);

  listing.cells[2].status = CellStatus::Running;
  EXPECT_EQ(status_code(listing), ExitCode::Unfinished) << "somebody is at it";
  listing.cells[2].status = CellStatus::Failed;
  EXPECT_EQ(status_code(listing), ExitCode::Done);
}

}  // namespace status_report_test
}  // namespace depthgrid
