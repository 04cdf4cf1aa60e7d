#include "sweeps/page/page_curves.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "storage/cells/partial_series.hpp"
#include "storage/store.hpp"

namespace depthgrid {
namespace {

constexpr std::size_t kMostCurves = 1000;  // of single cells: a sample of more

std::optional<CellSeries> series_of_cell(const Listing& listing, std::size_t row,
                                         const std::string& metric) {
  const CellSummary& cell = listing.cells[row];
  if (cell.status == CellStatus::Pending && cell.attempts == 0) return std::nullopt;
  try {
    const Store store = Store::open(listing.store_of(row));
    const std::filesystem::path folder = store.cell_path(cell.id);
    return is_result(cell.status)
               ? read_cell_series(folder / "result.h5", cell.id, metric, store.fs())
               : read_partial_series(folder, metric, store.fs());
  } catch (const StorageError&) {
    return std::nullopt;  // its damage is named where the cell is
  }
}

/// A cell, and the line that it belongs to.
struct LineMember {
  std::size_t row = 0, line = 0;
};

/// The lines without their curves, and the cells of each, in the order of the arms.
std::vector<LineMember> line_members(const Listing& listing, const Comparison& by_arm,
                                     std::vector<ArmCurve>& lines) {
  std::vector<LineMember> out;
  const std::vector<ComparedRow>& groups = by_arm.effects.front().rows;
  for (std::size_t a = 0; a < groups.size(); ++a) {
    std::map<std::size_t, std::size_t> line_of;  // by store
    for (const std::size_t row : groups[a].group.cells) {
      line_of.emplace(listing.stores.empty() ? 0 : listing.store_of_cell[row], 0);
    }
    for (auto& [store, line] : line_of) {
      line = lines.size();
      lines.push_back({.arm = a, .store = store, .of_store = line_of.size() > 1});
    }
    for (const std::size_t row : groups[a].group.cells) {
      out.push_back({row, line_of.at(listing.stores.empty() ? 0 : listing.store_of_cell[row])});
    }
  }
  return out;
}

}  // namespace

std::string curve_metric_of(const std::string& metric) {
  const std::size_t dot = metric.find('.');
  const bool final_figure = metric.starts_with("final_");
  if (dot == metric.npos) return "eval_loss.valid";
  if (final_figure) return "eval_" + metric.substr(6);
  return metric.starts_with("eval_") ? metric : "eval_loss.valid";
}

ArmCurve arm_curve(const std::vector<const CellSeries*>& seeds) {
  struct Sum {
    double total = 0, low = 0, high = 0;
    std::size_t n = 0;
  };
  std::map<double, Sum> by_x;
  for (const CellSeries* const series : seeds) {
    for (std::size_t i = 0; i < series->steps.size(); ++i) {
      const double y = series->values[i];
      if (!std::isfinite(y)) continue;
      Sum& sum = by_x[series->steps[i]];
      sum.low = sum.n == 0 ? y : std::min(sum.low, y);
      sum.high = sum.n == 0 ? y : std::max(sum.high, y);
      sum.total += y;
      ++sum.n;
    }
  }
  ArmCurve out;
  for (const auto& [x, sum] : by_x) {
    out.band.x.push_back(x);
    out.band.mean.push_back(sum.total / static_cast<double>(sum.n));
    out.band.low.push_back(sum.low);
    out.band.high.push_back(sum.high);
    out.n.push_back(sum.n);
    out.seeds = std::max(out.seeds, sum.n);
  }
  return out;
}

PageCurves page_curves(const Listing& listing, const std::vector<std::string>& names,
                       const Comparison& by_arm,
                       const std::function<void(std::size_t, std::size_t)>& progress) {
  PageCurves out;
  out.metric = curve_metric_of(by_arm.metric);
  const std::vector<LineMember> members = line_members(listing, by_arm, out.lines);
  const std::size_t every =
      std::max<std::size_t>(1, (members.size() + kMostCurves - 1) / kMostCurves);
  std::vector<const CellSeries*> kept;  // of the line that is being read, in out.completed
  std::set<std::int64_t> seeds;
  const auto finish = [&](std::size_t line) {
    ArmCurve& into = out.lines[line];
    ArmCurve curve = arm_curve(kept);
    into.band = std::move(curve.band);
    into.n = std::move(curve.n);
    into.seeds = curve.seeds;
    const ComparedGroup& group = by_arm.effects.front().rows[into.arm].group;
    into.band.label =
        into.of_store ? fmt::format("{} ({})", group.name, names[into.store]) : group.name;
    into.band.series = line;
    kept.clear();
    seeds.clear();
  };
  std::vector<std::vector<std::size_t>> by_line(out.lines.size());
  for (const LineMember& member : members) by_line[member.line].push_back(member.row);
  std::size_t read = 0;
  for (std::size_t line = 0; line < by_line.size(); ++line) {
    for (const std::size_t row : by_line[line]) {
      const std::size_t number = read++;
      if (progress) progress(number, members.size());
      auto series = series_of_cell(listing, row, out.metric);
      if (!series || series->steps.empty()) continue;
      ++out.cells_with_curve;
      const CellSummary& cell = listing.cells[row];
      if (cell.status == CellStatus::Completed) {
        const auto at = out.completed.emplace(row, *series).first;
        if (seeds.insert(cell.seed).second) kept.push_back(&at->second);
      }
      if (number % every == 0) out.cells.push_back({row, line, std::move(*series)});
    }
    finish(line);
  }
  return out;
}

}  // namespace depthgrid
