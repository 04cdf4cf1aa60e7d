#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numbers>
#include <random>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/sweeps/compare/grid_cells.hpp"

namespace depthgrid {
namespace compare_simulation_test {

// Sweeps of three arms and five seeds whose truth is known, through compare_cells(): figure = seed
// + error, errors of unit deviation, a seed's effect of three times that shared by its arms. In
// half of the sweeps all arms are equal; in the others one of them is kEffect worse.
//
// The gate has time for few of them, so its bounds are wide: four standard errors of that number,
// about ±5 points of a rate of 5 %. DEPTHGRID_SIMULATIONS=10000 has the bounds that the statistics
// are to keep, at three seeds of the generator, prints a table, and takes minutes; errors that are
// not normal or not equally wide, and cells that are missing, are printed there and not judged. It
// is the part `simulations` of scripts/test.sh --all, and its table stands in docs/comparing.md.

constexpr int kSeeds = 5;
constexpr int kGateSweeps = 300;       // of each kind: about a second
constexpr int kFullSweeps = 10'000;    // from so many on, the bounds are those below
constexpr double kFullMargin = 0.007;  // of rates of 5 %
constexpr double kEffect = 2;          // d_z = 2 / √2: power .66

/// The same numbers with every library.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : words_(seed) {}

  double unit() { return (static_cast<double>(words_() >> 11U) + 0.5) * 0x1p-53; }
  double normal() {  // Box and Muller
    const double radius = std::sqrt(-2 * std::log(unit()));
    return radius * std::cos(2 * std::numbers::pi * unit());
  }
  double student3() {  // of unit variance
    const double numerator = normal();
    double squares = 0;
    for (int i = 0; i < 3; ++i) squares += std::pow(normal(), 2);
    return numerator / std::sqrt(squares);
  }

 private:
  std::mt19937_64 words_;
};

/// How figures scatter.
struct Law {
  std::string name;
  std::array<double, 3> spread = {1, 1, 1};  // of the errors of each arm
  bool heavy = false;
  double missing = 0;  // probability of a cell
};

/// How often something was found, of how often it was asked.
struct Rate {
  int found = 0, asked = 0;

  void count(bool yes) {
    found += yes ? 1 : 0;
    ++asked;
  }
  double share() const { return found / static_cast<double>(asked); }
};

/// What was found, where there was a p.
struct Rates {
  Rate single, family;                 // of equal arms: p < .05 of one, Holm's of some
  Rate covered, detected, negligible;  // of the arm with the effect; the last with its size as δ
};

/// Rewrites the figures of a listing of the arms a, b and c.
void draw(Draws& draws, const Law& law, double effect, Listing& listing) {
  std::array<double, kSeeds> of_seed{};
  for (double& x : of_seed) x = 3 * draws.normal();
  for (std::size_t row = 0; row < listing.cells.size(); ++row) {
    CellSummary& cell = listing.cells[row];
    const std::size_t arm = row / kSeeds;
    const double error = law.heavy ? draws.student3() : draws.normal();
    cell.metrics["final_loss.valid"] =
        of_seed[row % kSeeds] + law.spread[arm] * error + (arm == 1 ? effect : 0);
    const bool gone = law.missing > 0 && draws.unit() < law.missing;
    cell.status = gone ? CellStatus::Failed : CellStatus::Completed;
  }
}

Rates simulated(int sweeps, std::uint64_t seed, const Law& law) {
  GridCells cells;
  const std::vector<double> zeros(kSeeds, 0);
  cells.arm("a", zeros).arm("b", zeros).arm("c", zeros).baseline("a");
  ComparisonQuery query;
  query.margin = kEffect;
  Draws draws(seed);
  Rates out;
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    draw(draws, law, 0, cells.listing);
    const Comparison equal = cells.compare(query);
    const EffectTable& arms = table_of(equal, "arm");
    const ContrastEvidence &b = evidence_for(arms, "b"), &c = evidence_for(arms, "c");
    if (!std::isnan(b.p())) out.single.count(b.p() < 0.05);
    if (equal.family > 0) out.family.count(b.holm < 0.05 || c.holm < 0.05);
    draw(draws, law, kEffect, cells.listing);
    const Comparison apart = cells.compare(query);
    const ContrastEvidence& effect = evidence_for(table_of(apart, "arm"), "b");
    if (std::isnan(effect.p())) continue;
    const ConfidenceLimits& limits = effect.contrast.interval;
    out.covered.count(limits.low <= kEffect && kEffect <= limits.high);
    out.detected.count(effect.p() < 0.05);
    out.negligible.count(effect.verdict == ContrastVerdict::NoEffect);
  }
  return out;
}

double expected_power() {
  return paired_t_power(kEffect / std::numbers::sqrt2, kSeeds, 0.05);
}

/// Standard error of a rate.
double error_of(double rate, int n) {
  return std::sqrt(rate * (1 - rate) / n);
}

void judge_rates(const Rates& rates, const std::string& what) {
  const int sweeps = rates.single.asked;
  const bool full = sweeps >= kFullSweeps;
  const double margin = full ? kFullMargin : 4 * error_of(0.05, sweeps);
  EXPECT_NEAR(rates.single.share(), 0.05, margin) << what;
  EXPECT_LE(rates.family.share(), 0.05 + margin) << what;
  EXPECT_NEAR(rates.covered.share(), 0.95, margin) << what;
  EXPECT_NEAR(rates.detected.share(), expected_power(),
              (full ? 3 : 4) * error_of(expected_power(), sweeps))
      << what;
  EXPECT_LE(rates.negligible.share(), 0.05 + margin) << what;
}

void print_rates(const std::string& law, std::uint64_t seed, const Rates& rates) {
  std::fputs(fmt::format("{:<22}{:>6}{:>9}{:>9.2f}{:>9.2f}{:>10.2f}{:>8.2f}{:>12.2f}\n", law, seed,
                         rates.single.asked, 100 * rates.single.share(), 100 * rates.family.share(),
                         100 * rates.covered.share(), 100 * rates.detected.share(),
                         100 * rates.negligible.share())
                 .c_str(),
             stdout);
  std::fflush(stdout);  // each takes minutes
}

int sweeps_asked() {
  const char* const text = std::getenv("DEPTHGRID_SIMULATIONS");
  return text == nullptr ? 0 : std::atoi(text);
}

TEST(CompareSimulation, RatesAreThoseThatTheStatisticsPromise) {
  const int asked = sweeps_asked();
  if (asked <= 0) {
    judge_rates(simulated(kGateSweeps, 1, {"normal"}), "of few sweeps, within 4 standard errors");
    return;
  }
  std::fputs(fmt::format("rates in %, a power of {:.2f} expected of normal errors\n"
                         "errors                  seed   sweeps   single   family  coverage   power"
                         "  negligible\n",
                         100 * expected_power())
                 .c_str(),
             stdout);
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Rates rates = simulated(asked, seed, {"normal"});
    print_rates("normal", seed, rates);
    judge_rates(rates, fmt::format("seed {} of the generator", seed));
  }
  const std::array others = {Law{.name = "t of 3 degrees", .heavy = true},
                             Law{.name = "spread 1, 3, 0.5", .spread = {1, 3, 0.5}},
                             Law{.name = "15 % of cells missing", .missing = 0.15}};
  for (const Law& law : others) print_rates(law.name, 1, simulated(asked, 1, law));
}

TEST(CompareSimulation, WhatASeedAddsToAllArmsLeavesNoTrace) {
  GridCells cells;
  const std::vector<double> zeros(kSeeds, 0);
  cells.arm("a", zeros).arm("b", zeros).arm("c", zeros).baseline("a");
  Draws draws(4);
  draw(draws, {"normal"}, kEffect, cells.listing);
  const Comparison before = cells.compare({});
  for (CellSummary& cell : cells.listing.cells) {
    cell.metrics["final_loss.valid"] += 100 * std::sin(1 + static_cast<double>(cell.seed));
  }
  const Comparison after = cells.compare({});
  for (const char* arm : {"b", "c"}) {
    const PairedContrast& one = evidence_for(table_of(before, "arm"), arm).contrast;
    const PairedContrast& other = evidence_for(table_of(after, "arm"), arm).contrast;
    EXPECT_NEAR(one.mean, other.mean, 1e-11) << arm;
    EXPECT_NEAR(one.p, other.p, 1e-11) << arm;
  }
}

}  // namespace compare_simulation_test
}  // namespace depthgrid
