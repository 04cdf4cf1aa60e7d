#include "sweeps/page/probe_blocks.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sweeps/page/chosen_arms.hpp"
#include "sweeps/page/html.hpp"
#include "sweeps/page/sight_words.hpp"
#include "sweeps/picture/band_plot.hpp"
#include "sweeps/picture/heat_map.hpp"
#include "sweeps/picture/small_multiples.hpp"

namespace depthgrid {
namespace {

constexpr std::size_t kMostPanels = 12;
constexpr std::size_t kPanelsOfMany = 4;  // where there are more than kManyArms
constexpr std::size_t kMostPanelLines = 6;
constexpr std::size_t kMostMaps = 4;
constexpr std::size_t kMostMapCells = 1600;  // of all maps of a picture, if there is more than one

/// One row of the table with what was seen of it.
struct SeenPicture {
  const ProbePicture& picture;
  std::size_t number;  // of the row
  std::span<const ArmSight> sights;
  const std::vector<ComparedRow>& arms;

  std::string arm(const ArmSight& sight) const {
    return without_folders(arms.at(sight.arm).group.name);
  }
  ChartText text(std::span<const ArmSight> shown, std::string_view reading) const {
    ChartText out;
    out.id = fmt::format("probe-{}", number);
    out.title = picture.title;
    out.description = fmt::format("{} {} {}", sight_introduction(picture, shown), reading,
                                  sight_summary(picture, shown, arms));
    out.x_label = picture.x_label;
    out.y_label = sight_label(picture.of.variable);
    return out;
  }
};

/// Line `line` of an arm.
BandCurve curve_of_sight(const ArmSight& sight, std::size_t line, bool range) {
  const std::size_t n = sight.names.size();
  const auto part = [&](const std::vector<double>& all) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(line * n);
    return std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(n));
  };
  BandCurve out;
  out.x = sight.at;
  out.mean = part(sight.mean);
  if (!range) return out;
  out.low = part(sight.low);
  out.high = part(sight.high);
  return out;
}

void add_chart(PageBlocks& out, const ChartText& text, std::string svg, Table numbers) {
  out.emplace_back(
      PageChart{text.id, text.title, text.description, std::move(svg), std::move(numbers)});
}

void add_arms(PageBlocks& out, const SeenPicture& seen) {
  BandPlotData plot;
  for (const ArmSight& sight : seen.sights) {
    BandCurve curve = curve_of_sight(sight, 0, sight.seeds > 1);
    curve.label = seen.arm(sight);
    curve.series = sight.arm;
    plot.curves.push_back(std::move(curve));
  }
  const ChartText text =
      seen.text(seen.sights, "A line for each arm, a band for the range of its seeds.");
  add_chart(out, text, band_plot(plot, text), sight_table(seen.picture, seen.sights, seen.arms));
}

/// Entries that are drawn: a few, evenly, the first and the last among them.
std::vector<std::size_t> drawn_lines(std::size_t lines) {
  std::vector<std::size_t> out;
  const std::size_t most = std::min(lines, kMostPanelLines);
  for (std::size_t i = 0; i < most; ++i) {
    out.push_back(most == 1 ? 0 : (i * (lines - 1) + (most - 1) / 2) / (most - 1));
  }
  return out;
}

void add_panels(PageBlocks& out, const SeenPicture& seen) {
  const std::size_t most = seen.arms.size() > kManyArms ? kPanelsOfMany : kMostPanels;
  const auto shown = seen.sights.first(std::min(seen.sights.size(), most));
  SmallMultiplesData data;
  std::vector<std::string> series;  // one name, one colour, also where arms have other depths
  std::size_t most_lines = 0;
  for (const ArmSight& sight : shown) {
    MultiplePanel& panel = data.panels.emplace_back();
    panel.title = seen.arm(sight);
    most_lines = std::max(most_lines, sight.lines.size());
    for (const std::size_t line : drawn_lines(sight.lines.size())) {
      BandCurve curve = curve_of_sight(sight, line, false);
      curve.label = fmt::format("{}{}{}", seen.picture.by_label,
                                seen.picture.by_label.empty() ? "" : " ", sight.lines[line]);
      const auto known = std::ranges::find(series, curve.label);
      curve.series = static_cast<std::size_t>(known - series.begin());
      if (known == series.end()) series.push_back(curve.label);
      panel.curves.push_back(std::move(curve));
    }
  }
  const ChartText text = seen.text(
      shown, most_lines > kMostPanelLines
                 ? fmt::format("A panel for each arm with {} of {} lines, evenly chosen.",
                               kMostPanelLines, most_lines)
                 : fmt::format("A panel for each arm, a line for each {}.",
                               seen.picture.by_label.empty() ? "name" : seen.picture.by_label));
  add_chart(out, text, small_multiples(data, text),
            sight_table(seen.picture, seen.sights, seen.arms));
  if (shown.size() == seen.sights.size()) return;
  out.emplace_back(
      PageText{PageText::Kind::Note, fmt::format("Panels: the first {} of {} arms, in the order of "
                                                 "the sweep; the numbers are of all.",
                                                 shown.size(), seen.sights.size())});
}

/// The range of all entries, so that maps of one block have the same colours for the same value.
ChartInterval reach_of(std::span<const ArmSight> sights) {
  ChartInterval out;
  for (const ArmSight& sight : sights) {
    for (const double value : sight.mean) {
      if (!std::isfinite(value)) continue;
      out = {std::fmin(out.low, value), std::fmax(out.high, value)};  // pass over NaN
    }
  }
  return out;
}

void add_maps(PageBlocks& out, const SeenPicture& seen) {
  const std::size_t cells = std::max<std::size_t>(1, seen.sights.front().mean.size());
  const std::size_t most = std::clamp<std::size_t>(kMostMapCells / cells, 1, kMostMaps);
  const auto shown = seen.sights.first(std::min(seen.sights.size(), most));
  const ChartInterval reach = reach_of(shown);
  const std::string_view reading =
      shown.size() == 1 ? "Numbers stand in the cells or their tooltips."
                        : "Numbers stand in the cells or their tooltips; the maps of these arms "
                          "have the same colours for the same values.";
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const ArmSight& sight = shown[i];
    HeatMapData data;
    data.reach = reach;
    data.rows = sight.lines;
    if (seen.picture.of.by.empty()) data.rows = {std::string(seen.picture.of.variable)};
    data.columns = sight.names;
    data.values = sight.mean;
    data.value_label = sight_label(seen.picture.of.variable);
    if (!std::isnan(seen.picture.centre)) {
      data.scale = HeatScale::Diverging;
      data.centre = seen.picture.centre;
    }
    ChartText text = seen.text(shown.subspan(i, 1), reading);
    text.id += fmt::format("-{}", sight.arm);
    text.title += ": " + seen.arm(sight);
    text.y_label = seen.picture.by_label;
    // The numbers of all arms stand below the last one.
    const bool last = i + 1 == shown.size();
    PageChart chart{text.id, text.title, text.description, heat_map(data, text)};
    chart.caption = seen.arm(sight);
    if (last) {
      chart.numbers = sight_table(seen.picture, seen.sights, seen.arms);
    } else {
      chart.numbers_with = fmt::format("probe-{}-{}", seen.number, shown.back().arm);
    }
    out.emplace_back(std::move(chart));
  }
  if (shown.size() == seen.sights.size()) return;
  out.emplace_back(
      PageText{PageText::Kind::Note, fmt::format("Maps: the first {} of {} arms, in the order of "
                                                 "the sweep; the numbers are of all.",
                                                 shown.size(), seen.sights.size())});
}

/// Arms of which something can be drawn.
std::vector<ArmSight> drawn_sights(const std::vector<ArmSight>& sights) {
  std::vector<ArmSight> out;
  for (const ArmSight& sight : sights) {
    const bool any = std::ranges::any_of(sight.mean, [](double v) { return std::isfinite(v); });
    if (any) out.push_back(sight);
  }
  return out;
}

/// Which cells were read, unless it is all of them, and how to get the numbers of these variables
/// out of the packed file; for the end of a section. @param variables  at least one.
PageBlocks probe_notes(const PageData& data, const std::vector<std::string>& variables) {
  PageBlocks out;
  const ProbeSights& probes = data.probes;
  if (probes.arms_read < probes.arms || probes.unread_cells > 0) {
    out.emplace_back(PageText{
        PageText::Kind::Note,
        fmt::format("What probes saw is read of the first {} of {} arms, of at most {} completed "
                    "cells each ({} of these arms are left out).",
                    probes.arms_read, probes.arms, probes.most_cells, probes.unread_cells)});
  }
  const std::string store =
      data.listing.stores.empty() ? data.listing.store : data.listing.stores.front();
  out.emplace_back(
      PageText{PageText::Kind::Command,
               fmt::format("python -c \"import xarray; print(xarray.open_dataset('{}/sweep.h5', "
                           "engine='h5netcdf')[['{}']])\"",
                           store, fmt::join(variables, "', '"))});
  return out;
}

}  // namespace

PageBlocks probe_blocks(const PageData& data, ProbePart part) {
  PageBlocks out;
  const std::vector<ComparedRow>& arms = data.by_arm.effects.front().rows;
  const std::span<const ProbePicture> pictures = probe_pictures();
  std::vector<std::string> variables;
  for (std::size_t i = 0; i < data.probes.pictures.size(); ++i) {
    const ProbePicture& picture = pictures[i];
    if (picture.part != part) continue;
    const std::vector<ArmSight> sights = drawn_sights(data.probes.pictures[i]);
    if (sights.empty()) continue;
    out.emplace_back(PageText{PageText::Kind::Heading, std::string(picture.title)});
    const SeenPicture seen{picture, i, sights, arms};
    switch (picture.form) {
      case PictureForm::Arms:
        add_arms(out, seen);
        break;
      case PictureForm::Panels:
        add_panels(out, seen);
        break;
      case PictureForm::Maps:
        add_maps(out, seen);
        break;
    }
    const std::string omissions = sight_omissions(data.probes.pictures[i], arms);
    if (!omissions.empty()) out.emplace_back(PageText{PageText::Kind::Note, omissions});
    const std::string variable(picture.of.variable);
    if (std::ranges::find(variables, variable) == variables.end()) variables.push_back(variable);
  }
  if (variables.empty()) return out;
  add_blocks(out, probe_notes(data, variables));
  return out;
}

}  // namespace depthgrid
