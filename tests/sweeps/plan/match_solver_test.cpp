#include "sweeps/plan/match_solver.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "storage/plan_file.hpp"
#include "storage/plan_sequence.hpp"
#include "sweeps/plan/matched_sweep.hpp"
#include "tests/core/config/sweep_files.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace match_solver_test {

constexpr const char* kText = R"(
data: {corpus: synthetic:markov}
model: {family: time_indexed, d_model: 16, n_heads: 4}
include:
  - {model.family: standard, tag: gpt}
)";

std::string with_rule(const std::string& rule) {
  return std::string(kText) + "match: " + rule + "\n";
}

double width_of(const MatchCandidate& c) {
  return static_cast<double>(c.config.integer("model.d_model") *
                             c.config.integer("model.d_model")) +
         10.0 * static_cast<double>(c.config.integer("model.d_ff"));
}

/// Counts by a formula; the reference has `wanted`. Times are those, with a tremor.
struct Meter {
  double wanted;
  std::int64_t calls = 0, asked = 0;
  std::vector<double> operator()(MatchOn on, const std::vector<MatchCandidate>& candidates) {
    ++calls;
    std::vector<double> out;
    for (const MatchCandidate& c : candidates) {
      ++asked;
      const bool reference = c.config.word("model.family") == "time_indexed";
      double amount = reference ? wanted : width_of(c);
      if (on == MatchOn::Time) amount *= 1 + 0.004 * std::sin(static_cast<double>(asked));
      out.push_back(amount);
    }
    return out;
  }
};

class MatchSolver : public ::testing::Test {
 protected:
  MatchedWidth solve(const std::string& rule, Meter& meter) const {
    const Sweep sweep = files_.load(with_rule(rule));
    return solve_width(sweep.goals.at(0), [&](MatchOn on, const auto& c) { return meter(on, c); });
  }
  std::string refusal(const std::string& rule, Meter meter) const {
    try {
      solve(rule, meter);
    } catch (const SweepErrors& e) {
      return e.what();
    }
    return "";
  }
  SweepFiles files_;
};

TEST_F(MatchSolver, FindsTheOneWidthAmongAll) {
  for (const double wanted : {266.0, 3456.0, 123456.0, 655616.0}) {
    Meter meter{wanted};
    const MatchedWidth found = solve("{on: parameters, tolerance: 0}", meter);

    EXPECT_EQ(found.value, std::llround((wanted - 256) / 10)) << wanted;
    EXPECT_EQ(found.achieved, wanted);
    EXPECT_LE(meter.calls, 8);
  }
}

TEST_F(MatchSolver, TakesTheNearestOnTheGridOfHeads) {
  Meter meter{20000};
  const MatchedWidth found = solve("{on: flops, vary: model.d_model, tolerance: 0.05}", meter);

  // 4 · 4 = 16 ... width² + 40 width: 124² + 40 · 124 = 20,336 and 120² + 4800 = 19,200.
  EXPECT_EQ(found.value, 124);
  EXPECT_EQ(found.achieved, 20336);
}

TEST_F(MatchSolver, NamesTheNearestWhereNoneIsNear) {
  const std::string text = refusal("{on: parameters, tolerance: 1 %}", {100});
  EXPECT_NE(text.find("no model.d_ff from 1 to 65536"), std::string::npos) << text;
  EXPECT_NE(text.find("gpt has model.d_ff = 1: 266 parameters, +1.7e+02 % of 100 of baseline"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("sweep.yaml:6:8: "), std::string::npos) << text;
  EXPECT_NE(refusal("{on: flops, vary: model.d_model, tolerance: 1 %}", {20000})
                .find("model.d_model = 124"),
            std::string::npos);
}

TEST_F(MatchSolver, TimesAreMetWithinTheToleranceInFewMeasurements) {
  Meter meter{5256};
  const MatchedWidth found = solve("{on: time, tolerance: 2 %}", meter);

  EXPECT_LE(std::abs(found.difference()), 0.02);
  EXPECT_NEAR(static_cast<double>(found.value), 500, 20);
  EXPECT_LE(std::abs(found.achieved / found.wanted - 1), 0.02);
}

TEST_F(MatchSolver, AStoreKeepsWhatItWasPlannedWith) {
  const TemporaryFolder folder;
  const SweepRequest request{files_.write("sweep.yaml", with_rule("{on: time, tolerance: 3 %}")),
                             {}};
  Meter first{5256};
  const Sweep planned = matched_sweep(request, folder.path(),
                                      [&](MatchOn on, const auto& c) { return first(on, c); });
  ASSERT_TRUE(planned.goals.empty());
  EXPECT_FALSE(planned.matched.at(0).sealed);
  Store store = Store::open_or_create(folder.path());
  publish_plan(store, planned);

  Meter second{2 * 5256};
  const Amounts slower = [&](MatchOn on, const auto& c) { return second(on, c); };
  const Sweep again = matched_sweep(request, folder.path(), slower);

  EXPECT_EQ(second.calls, 0);
  EXPECT_TRUE(again.matched.at(0).sealed);
  EXPECT_EQ(again.id, planned.id);
  EXPECT_EQ(cell_named(again, "gpt,s0").id, cell_named(planned, "gpt,s0").id);
  EXPECT_EQ(publish_plan(store, again).generation, 1);
  // A store of its own is planned anew.
  const Sweep other = matched_sweep(request, folder.path() / "other", slower);
  EXPECT_NE(cell_named(other, "gpt,s0").id, cell_named(planned, "gpt,s0").id);
  // A width holds for the arms that it was found for, not for others of their names.
  SweepRequest wider = request;
  wider.set = {"model.n_layers=3"};
  EXPECT_FALSE(matched_sweep(wider, folder.path(), slower).matched.at(0).sealed);
}

TEST_F(MatchSolver, TimesStayOpenWhereNothingIsToBeMeasured) {
  Meter meter{5256};
  const SweepRequest request{files_.write("sweep.yaml", with_rule("{on: time}")), {}};
  const Sweep sweep = matched_sweep(
      request, files_.folder() / "none", [&](MatchOn on, const auto& c) { return meter(on, c); },
      MatchEffort::Counts);

  EXPECT_EQ(sweep.goals.size(), 1u);
  EXPECT_EQ(meter.calls, 0);
}

}  // namespace match_solver_test
}  // namespace depthgrid
