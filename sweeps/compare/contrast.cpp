#include "sweeps/compare/contrast.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/non_central_t.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/tools/toms748_solve.hpp>

#include "core/base/error.hpp"

namespace depthgrid {
namespace {

constexpr double kNoSpread = 1e-12;     // sd over mean: less is rounding of equal differences
constexpr double kEqualSums = 1e-12;    // of Σ|d|: sums that differ by less are equal
constexpr double kLargestDelta = 1000;  // noncentralities above follow the limit t → ∞
constexpr double kMostPairs = 1e9;

void require_probability(double value, const char* name) {
  if (!(value > 0 && value < 1)) throw Error(std::string(name) + " is not between 0 and 1");
}

bool has_nan_difference(std::span<const double> sample) {
  return std::ranges::any_of(sample, [](double x) { return std::isnan(x); });
}

bool is_finite_sample(std::span<const double> sample) {
  return std::ranges::all_of(sample, [](double x) { return std::isfinite(x); });
}

bool has_paired_spread(const PairedContrast& c) {
  return c.sd > kNoSpread * std::abs(c.mean);
}

double hedges_correction(double degrees) {
  return 1 - 3 / (4 * degrees - 1);
}

/// P(T ≤ t) or P(T > t), T Student's with the degrees of freedom and, unless it is 0, a
/// noncentrality ≥ 0: T = (Z + δ) / s with s² = χ²/ν, so that Z no longer counts where δ is large.
double t_probability(double t, double degrees, double delta, bool above) {
  using boost::math::complement;
  const auto tail = [&](const auto& distribution, double x, bool upper) {
    return upper ? cdf(complement(distribution, x)) : cdf(distribution, x);
  };
  if (delta == 0) return tail(boost::math::students_t(degrees), t, above);
  if (delta <= kLargestDelta) {
    return tail(boost::math::non_central_t(degrees, delta), t, above);
  }
  if (t <= 0) return above ? 1 : 0;
  const double s = delta / t;  // T > t where s is smaller
  return tail(boost::math::chi_squared(degrees), degrees * s * s, !above);
}

double t_below(double t, double degrees, double delta = 0) {
  return t_probability(t, degrees, delta, false);
}

double t_above(double t, double degrees, double delta = 0) {
  return t_probability(t, degrees, delta, true);
}

/// Quantile of Student's t that leaves `tail` above it.
double t_critical(double degrees, double tail) {
  return boost::math::quantile(boost::math::complement(boost::math::students_t(degrees), tail));
}

/// Where a monotone function that changes its sign between `low` and `high` is 0.
double root_between(const std::function<double(double)>& function, double low, double high) {
  std::uintmax_t evaluations = 200;
  const boost::math::tools::eps_tolerance<double> close(48);
  const auto [a, b] = boost::math::tools::toms748_solve(function, low, high, close, evaluations);
  return a + (b - a) / 2;
}

/// The noncentrality at which P(T ≤ t) = probability, for t ≥ 0. It falls as that grows.
double noncentrality(double t, double degrees, double probability) {
  const auto excess = [=](double delta) {
    const double below = delta < 0 ? t_above(-t, degrees, -delta) : t_below(t, degrees, delta);
    return below - probability;
  };
  double low = 4;
  double high = 4;
  while (excess(t - low) < 0) low *= 2;
  while (excess(t + high) > 0) high *= 2;
  return root_between(excess, t - low, t + high);
}

/// The noncentrality at which the two-sided t test has this power.
double detectable_delta(double degrees, double alpha, double power) {
  const double critical = t_critical(degrees, alpha / 2);
  const auto missing = [=](double delta) {
    return t_above(critical, degrees, delta) + t_below(-critical, degrees, delta) - power;
  };
  if (missing(0) >= 0) return 0;
  double high = 4;
  while (missing(high) < 0) high *= 2;
  return root_between(missing, 0, high);
}

/// All sums ±d_1 ± … ± d_n.
std::vector<double> flipped_sums(std::span<const double> differences) {
  std::vector<double> sums = {0};
  for (const double d : differences) {
    const std::size_t count = sums.size();
    for (std::size_t i = 0; i < count; ++i) {
      sums.push_back(sums[i] + d);
      sums[i] -= d;
    }
  }
  return sums;
}

/// How many of all flips have a sum of at least `least`.
std::size_t exact_flips_above(std::span<const double> differences, double least) {
  const std::vector<double> first = flipped_sums(differences.first(differences.size() / 2));
  std::vector<double> second = flipped_sums(differences.subspan(differences.size() / 2));
  std::ranges::sort(second);
  std::size_t count = 0;
  for (const double sum : first) {
    count += static_cast<std::size_t>(second.end() - std::ranges::lower_bound(second, least - sum));
  }
  return count;
}

/// Word `index` of the stream `key`.
/// Source: Steele, Lea & Flood, Fast splittable pseudorandom number generators, OOPSLA 2014
/// (SplitMix64, whose state is a counter).
std::uint64_t flip_word(std::uint64_t key, std::uint64_t index) {
  std::uint64_t z = key + (index + 1) * 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31U);
}

std::size_t random_flips_beyond(std::span<const double> differences, double least,
                                std::uint64_t key) {
  std::size_t count = 0;
  std::uint64_t index = 0;
  for (std::size_t flip = 0; flip < kRandomFlips; ++flip) {
    double sum = 0;
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < differences.size(); ++i) {
      if (i % 64 == 0) bits = flip_word(key, index++);
      sum += differences[i] * (1 - 2 * static_cast<double>(bits >> (i % 64) & 1U));
    }
    if (std::abs(sum) >= least) ++count;
  }
  return count;
}

}  // namespace

PairedContrast paired_contrast(std::span<const double> differences, double confidence) {
  require_probability(confidence, "confidence");
  PairedContrast out;
  out.n = differences.size();
  if (!is_finite_sample(differences)) return out;
  const SampleSummary summary = summary_of(differences);
  out.mean = summary.mean;
  if (out.n < 2) return out;
  const auto n = static_cast<double>(out.n);
  out.sd = summary.sd;
  out.standard_error = out.sd / std::sqrt(n);
  out.degrees = n - 1;
  out.interval = t_interval(out, confidence);
  if (!has_paired_spread(out)) return out;
  out.t = out.mean / out.standard_error;
  out.p = std::min(1.0, 2 * t_above(std::abs(out.t), out.degrees));
  return out;
}

ConfidenceLimits t_interval(const PairedContrast& contrast, double confidence) {
  require_probability(confidence, "confidence");
  if (!std::isfinite(contrast.standard_error)) return {};
  const double half = t_critical(contrast.degrees, (1 - confidence) / 2) * contrast.standard_error;
  return {.low = contrast.mean - half, .high = contrast.mean + half};
}

PairedEffect paired_effect(const PairedContrast& contrast, double confidence) {
  require_probability(confidence, "confidence");
  PairedEffect out;
  if (!has_paired_spread(contrast)) return out;
  const double root = std::sqrt(static_cast<double>(contrast.n));
  const double tail = (1 - confidence) / 2;
  const double t = std::abs(contrast.t);
  out.d_z = contrast.mean / contrast.sd;
  ConfidenceLimits& z = out.d_z_interval;
  z.low = noncentrality(t, contrast.degrees, 1 - tail) / root;
  z.high = noncentrality(t, contrast.degrees, tail) / root;
  if (contrast.t < 0) z = {.low = -z.high, .high = -z.low};
  if (contrast.n < 3) return out;
  const double j = hedges_correction(contrast.degrees);
  out.g = j * out.d_z;
  out.g_interval = {.low = j * z.low, .high = j * z.high};
  return out;
}

double hedges_g_av(std::span<const double> a, std::span<const double> b) {
  if (a.size() != b.size()) throw Error("pairs need two samples of one size");
  if (a.size() < 3 || !is_finite_sample(a) || !is_finite_sample(b)) return kNaN;
  const SampleSummary first = summary_of(a);
  const SampleSummary second = summary_of(b);
  const double spread = std::sqrt((first.sd * first.sd + second.sd * second.sd) / 2);
  if (!(spread > kNoSpread * std::abs(first.mean - second.mean))) return kNaN;
  return hedges_correction(static_cast<double>(a.size()) - 1) * (first.mean - second.mean) / spread;
}

SignFlipTest sign_flip_test(std::span<const double> differences, std::uint64_t key) {
  SignFlipTest out;
  const std::size_t n = differences.size();
  if (n < 2 || !is_finite_sample(differences)) return out;
  double sum = 0;
  double sizes = 0;
  std::size_t zeros = 0;
  for (const double d : differences) {
    sum += d;
    sizes += std::abs(d);
    if (d == 0) ++zeros;
  }
  const double least = std::abs(sum) - kEqualSums * sizes;
  out.exact = n <= kExactFlips;
  out.flips = out.exact ? std::size_t{1} << n : kRandomFlips;
  const auto flips = static_cast<double>(out.flips);
  out.smallest = zeros == n ? 1 : std::ldexp(1.0, 1 - static_cast<int>(n - zeros));
  if (!out.exact) out.smallest = std::max(out.smallest, 1 / (flips + 1));
  if (least <= 0) {
    out.p = 1;
  } else if (out.exact) {  // the flips of the other sign are as many
    out.p = 2 * static_cast<double>(exact_flips_above(differences, least)) / flips;
  } else {
    out.p = (1 + static_cast<double>(random_flips_beyond(differences, least, key))) / (1 + flips);
  }
  return out;
}

SignTest sign_test(std::span<const double> differences) {
  SignTest out;
  if (has_nan_difference(differences)) return out;
  for (const double d : differences) ++(d < 0 ? out.below : d > 0 ? out.above : out.ties);
  if (differences.size() < 2) return out;
  const auto n = static_cast<double>(out.below + out.above);
  const auto fewer = static_cast<double>(std::min(out.below, out.above));
  out.p = 2 * fewer == n  // also if all are ties
              ? 1
              : 2 * boost::math::cdf(boost::math::binomial(n, 0.5), fewer);
  return out;
}

ImprovementShare improvement_share(std::span<const double> differences, double confidence) {
  require_probability(confidence, "confidence");
  ImprovementShare out;
  if (differences.empty() || has_nan_difference(differences)) return out;
  const SignTest signs = sign_test(differences);
  const auto n = static_cast<double>(differences.size());
  const double p = (static_cast<double>(signs.below) + static_cast<double>(signs.ties) / 2) / n;
  out.share = p;
  if (differences.size() < 2) return out;
  const double z =
      boost::math::quantile(boost::math::complement(boost::math::normal(), (1 - confidence) / 2));
  const double shrink = 1 + z * z / n;
  const double centre = (p + z * z / (2 * n)) / shrink;
  const double half = z / shrink * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
  out.interval = {.low = std::max(0.0, centre - half), .high = std::min(1.0, centre + half)};
  return out;
}

EquivalenceTest equivalence_test(const PairedContrast& contrast, double margin) {
  if (!(margin > 0 && std::isfinite(margin))) throw Error("a margin is a positive number");
  EquivalenceTest out;
  if (!has_paired_spread(contrast)) return out;
  const double error = contrast.standard_error;
  out.p_above = t_above((contrast.mean + margin) / error, contrast.degrees);
  out.p_below = t_below((contrast.mean - margin) / error, contrast.degrees);
  out.p = std::max(out.p_above, out.p_below);
  return out;
}

double paired_t_power(double d_z, double pairs, double alpha) {
  require_probability(alpha, "alpha");
  if (!(pairs >= 2) || !std::isfinite(pairs) || !std::isfinite(d_z)) return kNaN;
  const double critical = t_critical(pairs - 1, alpha / 2);
  const double delta = std::abs(d_z) * std::sqrt(pairs);
  return t_above(critical, pairs - 1, delta) + t_below(-critical, pairs - 1, delta);
}

double detectable_effect(std::size_t n, double sd, double alpha, double power) {
  require_probability(alpha, "alpha");
  require_probability(power, "power");
  if (n < 2 || !(sd > 0) || !std::isfinite(sd)) return kNaN;
  const auto pairs = static_cast<double>(n);
  return detectable_delta(pairs - 1, alpha, power) / std::sqrt(pairs) * sd;
}

double pairs_needed(double effect, double sd, double alpha, double power) {
  require_probability(alpha, "alpha");
  require_probability(power, "power");
  if (!(sd > 0) || !std::isfinite(sd) || !std::isfinite(effect)) return kNaN;
  const double d_z = std::abs(effect) / sd;
  const auto excess = [=](double pairs) { return paired_t_power(d_z, pairs, alpha) - power; };
  if (excess(2) >= 0) return 2;
  double high = 4;
  while (excess(high) < 0) {
    if (high > kMostPairs) return std::numeric_limits<double>::infinity();
    high *= 2;
  }
  return root_between(excess, high / 2, high);
}

}  // namespace depthgrid
