#include "storage/cells/mask_churn.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/base/nan.hpp"

namespace depthgrid {
namespace {

struct ChurnOf {
  std::string_view mask, churn;
};

constexpr ChurnOf kChurns[] = {{"routing_capacity_mask", "routing_capacity_churn"},
                               {"routing_mask", "routing_churn"}};

unsigned byte(double number) {
  return static_cast<unsigned>(number);
}

/// 1 - Jaccard of two masks of `bytes` bytes.
double distance(const double* a, const double* b, std::size_t bytes) {
  int common = 0, either = 0;
  for (std::size_t i = 0; i < bytes; ++i) {
    common += std::popcount(byte(a[i]) & byte(b[i]));
    either += std::popcount(byte(a[i]) | byte(b[i]));
  }
  return either == 0 ? kNaN : 1 - static_cast<double>(common) / either;
}

}  // namespace

std::vector<MaskChurn> mask_churns(const MergedRows& rows, const std::vector<RowAxis>& axes) {
  std::vector<MaskChurn> out;
  const auto layer = std::ranges::find(axes, "layer", &RowAxis::name);
  if (layer == axes.end() || layer->length == 0) return out;
  const auto layers = static_cast<std::size_t>(layer->length);
  for (const auto& [mask, churn] : kChurns) {
    if (std::ranges::find(rows.kind.columns, mask, &RowColumn::variable) ==
        rows.kind.columns.end()) {
      continue;
    }
    const std::vector<double> masks = rows.column(mask);
    const std::size_t measurements = rows.rows.size();
    const std::size_t bytes = masks.size() / (measurements * layers);
    std::vector<double> numbers(measurements * layers, kNaN);
    for (std::size_t l = 0; l < layers; ++l) {
      const double* before = nullptr;
      for (std::size_t i = 0; i < measurements; ++i) {
        const double* now = masks.data() + (i * layers + l) * bytes;
        if (std::isnan(now[0])) continue;
        if (before != nullptr) numbers[i * layers + l] = distance(before, now, bytes);
        before = now;
      }
    }
    out.push_back({churn, std::move(numbers)});
  }
  return out;
}

bool is_mask_churn(std::string_view variable) {
  return std::ranges::find(kChurns, variable, &ChurnOf::churn) != std::end(kChurns);
}

}  // namespace depthgrid
