#include "core/probe/trajectory/token_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace depthgrid {
namespace {

double quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

}  // namespace

TokenDistribution distribution_of(std::vector<double> sample) {
  if (sample.empty()) return {};
  const auto n = static_cast<double>(sample.size());
  const double mean = std::accumulate(sample.begin(), sample.end(), 0.0) / n;
  double squares = 0;
  for (const double x : sample) squares += (x - mean) * (x - mean);
  std::ranges::sort(sample);
  return {.mean = mean,
          .std = std::sqrt(squares / n),
          .p05 = quantile(sample, 0.05),
          .p50 = quantile(sample, 0.5),
          .p95 = quantile(sample, 0.95),
          .max = sample.back()};
}

ClassMeans::ClassMeans(std::int64_t rows, std::int64_t classes)
    : rows_(rows),
      classes_(classes),
      sum_(static_cast<std::size_t>(rows * classes)),
      count_(static_cast<std::size_t>(rows * classes)) {}

void ClassMeans::add(const at::Tensor& values, const at::Tensor& member) {
  const at::Tensor numbers = values.contiguous(), in = member.contiguous();
  const auto tokens = static_cast<std::size_t>(numbers.size(1));
  const double* value = numbers.const_data_ptr<double>();
  double* sum = sum_.data();
  double* count = count_.data();
  for (std::int64_t row = 0; row < rows_; ++row, value += tokens) {
    const bool* counts = in.const_data_ptr<bool>();
    for (std::int64_t k = 0; k < classes_; ++k, counts += tokens, ++sum, ++count) {
      for (std::size_t i = 0; i < tokens; ++i) {
        if (!counts[i] || std::isnan(value[i])) continue;
        *sum += value[i];
        *count += 1;
      }
    }
  }
}

double ClassMeans::mean(std::int64_t row, std::int64_t token_class) const {
  const auto at = static_cast<std::size_t>(row * classes_ + token_class);
  return count_[at] > 0 ? sum_[at] / count_[at] : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace depthgrid
