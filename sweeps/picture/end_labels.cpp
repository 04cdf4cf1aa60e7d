#include "sweeps/picture/end_labels.hpp"

#include <algorithm>
#include <numeric>

#include "sweeps/picture/series_marks.hpp"

namespace depthgrid {
namespace {

constexpr double kLeaderSpace = 22, kEndMargin = 8, kMostEndLabel = 170;

/// Neighbours that share one value: their mean.
struct LabelPool {
  double sum = 0;
  std::size_t count = 0;
  double mean() const { return sum / static_cast<double>(count); }
};

}  // namespace

std::vector<double> spread_apart(std::span<const double> wanted, double distance, double low,
                                 double high) {
  std::vector<std::size_t> order(wanted.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return wanted[i]; });
  std::vector<LabelPool> pools;
  for (std::size_t i = 0; i < order.size(); ++i) {
    pools.push_back({.sum = wanted[order[i]] - static_cast<double>(i) * distance, .count = 1});
    while (pools.size() > 1 && pools[pools.size() - 2].mean() > pools.back().mean()) {
      LabelPool& before = pools[pools.size() - 2];
      before.sum += pools.back().sum;
      before.count += pools.back().count;
      pools.pop_back();
    }
  }
  std::vector<double> out(wanted.size());
  const double space = high - static_cast<double>(wanted.size()) * distance + distance;
  std::size_t i = 0;
  for (const LabelPool& pool : pools) {
    const double place = std::max(low, std::min(pool.mean(), space));
    for (std::size_t k = 0; k < pool.count; ++k, ++i)
      out[order[i]] = place + static_cast<double>(i) * distance;
  }
  return out;
}

double end_label_space(std::span<const EndLabel> labels) {
  double widest = 0;
  for (const EndLabel& label : labels)
    widest = std::max(widest, chart_text_width(chart_line(label.text), kLabelFont));
  return widest == 0 ? 2 * kEndMargin : kLeaderSpace + std::min(widest, kMostEndLabel) + kEndMargin;
}

double end_label_height(std::size_t labels) noexcept {
  return kEndLabelHeight * static_cast<double>(labels);
}

void draw_end_labels(SvgWriter& svg, const PlotArea& area, std::span<const EndLabel> labels) {
  std::vector<const EndLabel*> shown;
  std::vector<double> wanted;
  for (const EndLabel& label : labels) {
    if (label.text.empty()) continue;
    shown.push_back(&label);
    wanted.push_back(label.y);
  }
  const double half = kEndLabelHeight / 2;
  const std::vector<double> places =
      spread_apart(wanted, kEndLabelHeight, area.top + half, area.bottom - half);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const EndLabel& label = *shown[i];
    const double start = area.right + kLeaderSpace;
    svg.open("g", {{"class", series_class(label.series)}});
    SvgPath leader;
    leader.move(label.x + 2, label.y);
    if (label.x + 2 < area.right) leader.line(area.right, label.y);
    leader.line(start - 4, places[i]);
    svg.path(leader, "leader");
    draw_label(svg, start, places[i], label.text, {.space = kChartWidth - start - kEndMargin / 2});
    svg.close();
  }
}

}  // namespace depthgrid
