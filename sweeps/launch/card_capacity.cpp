#include "sweeps/launch/card_capacity.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/base/nan.hpp"
#include "core/base/text_parts.hpp"

namespace depthgrid {
namespace {

constexpr double kShareOfCard = 0.8;  // the rest: CUDA's own memory in each process
constexpr double kMostOnCard = 4;

}  // namespace

std::int64_t launches_per_card(const CellConfig& run, std::optional<double> card_bytes,
                               double job_bytes) {
  if (!run.is_word("packing.cells_per_gpu")) return run.integer("packing.cells_per_gpu");
  if (!card_bytes || !(job_bytes > 0)) return 1;
  return static_cast<std::int64_t>(
      std::clamp(std::floor(kShareOfCard * *card_bytes / job_bytes), 1.0, kMostOnCard));
}

std::int64_t launches_per_card(const CellConfig& run) {
  return launches_per_card(run, std::nullopt, kNaN);
}

std::optional<double> smallest_card(const std::string& lines) {
  std::optional<double> out;
  for (const std::string& line : text_lines(lines)) {
    const double mebibytes = std::atof(line.c_str());
    if (!(mebibytes > 0)) return std::nullopt;
    const double bytes = mebibytes * 1024 * 1024;
    out = std::min(out.value_or(bytes), bytes);
  }
  return out;
}

}  // namespace depthgrid
