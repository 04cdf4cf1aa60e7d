#include "sweeps/picture/end_labels.hpp"

#include <algorithm>
#include <vector>

#include "sweeps/picture/label_layout.hpp"
#include "sweeps/picture/series_marks.hpp"

namespace depthgrid {
namespace {

constexpr double kLeaderRoom = 22, kEndMargin = 8, kMostEndLabel = 170;

}  // namespace

double end_label_room(std::span<const EndLabel> labels) {
  double widest = 0;
  for (const EndLabel& label : labels)
    widest = std::max(widest, chart_text_width(chart_line(label.text), kLabelFont));
  return widest == 0 ? 2 * kEndMargin : kLeaderRoom + std::min(widest, kMostEndLabel) + kEndMargin;
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
    const double start = area.right + kLeaderRoom;
    svg.open("g", {{"class", series_class(label.series)}});
    SvgPath leader;
    leader.move(label.x + 2, label.y);
    if (label.x + 2 < area.right) leader.line(area.right, label.y);
    leader.line(start - 4, places[i]);
    svg.path(leader, "leader");
    draw_label(svg, start, places[i], label.text, {.room = kChartWidth - start - kEndMargin / 2});
    svg.close();
  }
}

}  // namespace depthgrid
