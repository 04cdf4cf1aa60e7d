#include "sweeps/compare/number_text.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

#include <fmt/format.h>

#include "core/config/value.hpp"
#include "sweeps/report/table.hpp"

namespace depthgrid {
namespace {

constexpr double kLong = 1e7;  // digits from here on say nothing

/// "-0.00" is a zero.
std::string without_minus_zero(std::string text) {
  const bool zero = text.find_first_of("123456789in") == std::string::npos;
  return zero && text.starts_with('-') ? text.substr(1) : text;
}

/// Of a value; without a spread, two of its own digits at least.
int decimals_beside(double spread, double value) {
  const int out = decimals_of(spread);
  return spread > 0 ? out : std::max(out, decimals_of(std::abs(value)));
}

}  // namespace

std::string fixed_text(double value, int decimals) {
  return without_minus_zero(std::abs(value) < kLong ? fmt::format("{:.{}f}", value, decimals)
                                                    : fmt::format("{:.4g}", value));
}

std::string signed_text(double value, int decimals) {
  return without_minus_zero(std::abs(value) < kLong ? fmt::format("{:+.{}f}", value, decimals)
                                                    : fmt::format("{:+.4g}", value));
}

int decimals_of(double spread) {
  if (!std::isfinite(spread) || spread <= 0) return 4;
  return std::clamp(1 - static_cast<int>(std::floor(std::log10(spread))), 0, 10);
}

std::string mean_text(const SampleSummary& sample) {
  if (!std::isfinite(sample.mean)) return "-";
  if (!std::isfinite(sample.sd)) return short_number(sample.mean);
  const int decimals = decimals_of(sample.sd);
  return fixed_text(sample.mean, decimals) + " ± " + fixed_text(sample.sd, decimals);
}

std::string difference_text(double value, double half_width) {
  if (!std::isfinite(value)) return "-";
  const double size = std::abs(value);
  const double finer = size > 0 && size < half_width ? size : half_width;
  return signed_text(value, decimals_beside(finer, value));
}

std::string interval_text(const ConfidenceLimits& limits) {
  if (std::isnan(limits.low) || std::isnan(limits.high)) return "-";
  const int decimals = decimals_beside(limits.half_width(), limits.low);
  return fmt::format("[{}, {}]", signed_text(limits.low, decimals),
                     signed_text(limits.high, decimals));
}

std::string exact_number(double value) {
  return std::isnan(value) ? std::string() : shortest(value);
}

std::string probability_text(double p) {
  if (std::isnan(p)) return "-";
  if (p < 1e-4) return "<.0001";
  if (p >= .9995) return "1";
  std::string out = fmt::format("{:.{}f}", p, p < .001 ? 5 : p < .01 ? 4 : 3);
  return out.substr(1);  // without the zero before the point
}

std::string exact_probability_text(double p) {
  constexpr std::size_t kFourDigits = 6;  // "0.0625"
  const std::string whole = std::isfinite(p) ? shortest(p) : std::string();
  return whole.size() == kFourDigits && whole.starts_with("0.") ? whole.substr(1)
                                                                : probability_text(p);
}

}  // namespace depthgrid
