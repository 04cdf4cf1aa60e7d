#include "core/config/sweep/sweep_document.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>

#include "core/config/schema.hpp"
#include "core/config/schema/leaf_value.hpp"

namespace depthgrid {
namespace {

constexpr std::uint64_t kSaturated = std::numeric_limits<std::uint64_t>::max();

std::uint64_t times(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? kSaturated : product;
}

std::uint64_t plus(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? kSaturated : sum;
}

/// Twelve significant digits, as a person would write (0.001, not 0.0010000000000000002), so that a
/// range and a written list of the same numbers give the same cells.
double rounded(double number) {
  std::array<char, 40> text;
  const int length = std::snprintf(text.data(), text.size(), "%.12g", number);
  double out = 0;
  std::from_chars(text.data(), text.data() + length, out);
  return out;
}

double point(const NumberRange& range, std::int64_t i) {
  if (i == 0 || range.count == 1) return range.from;
  if (i == range.count - 1) return range.to;
  const double share = static_cast<double>(i) / static_cast<double>(range.count - 1);
  return rounded(range.logarithmic ? range.from * std::pow(range.to / range.from, share)
                                   : range.from + (range.to - range.from) * share);
}

void fill(Column& column, ValuePool& pool, Diagnostics& errors) {
  if (!column.range) return;
  const NumberRange range = *column.range;
  column.range.reset();
  for (std::int64_t i = 0; i < range.count; ++i) {
    const Leaf& leaf = schema()[column.leaf];
    const double number = point(range, i);
    const bool whole =
        leaf.kind == ValueKind::Int && std::abs(number) < 1e15 && number == std::floor(number);
    const Value level = whole ? Value(static_cast<std::int64_t>(number)) : Value(number);
    const auto value = leaf_value(leaf, node_of(level, range.place), errors);
    if (!value) return;
    column.values.push_back(pool.intern(*value));
    column.places.push_back(range.place);
  }
}

}  // namespace

std::uint64_t count_combinations(const SweepDocument& document) {
  std::uint64_t arms = 0;
  if (document.method == "grid") {
    arms = 1;
    for (const Factor& factor : document.factors) arms = times(arms, factor.size());
  } else if (document.method == "ablation") {
    std::uint64_t singles = 0;
    std::uint64_t pairs = 0;
    for (const Factor& factor : document.factors) {
      const std::uint64_t changes = factor.size() - 1;
      pairs = plus(pairs, times(singles, changes));
      singles = plus(singles, changes);
    }
    arms = plus(1, singles);
    if (document.pairs) arms = plus(arms, pairs);
  }
  return times(plus(arms, document.include.size()), document.seeds.size());
}

void fill_ranges(SweepDocument& document, ValuePool& pool, Diagnostics& errors) {
  for (Factor& factor : document.factors) {
    for (Column& column : factor.columns) fill(column, pool, errors);
  }
  for (WhenBlock& block : document.when) {
    for (Factor& factor : block.factors) {
      for (Column& column : factor.columns) fill(column, pool, errors);
    }
  }
}

}  // namespace depthgrid
