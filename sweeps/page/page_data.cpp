#include "sweeps/page/page_data.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "core/base/error.hpp"
#include "storage/store.hpp"
#include "sweeps/page/probe_sights.hpp"
#include "sweeps/page/token_texts.hpp"
#include "sweeps/report/results_query.hpp"

namespace depthgrid {
namespace {

constexpr std::size_t kMostCurves = 1000;  // of single cells: a sample of more
constexpr std::size_t kMostFactors = 4;

/// The periodic evaluation that goes with a metric.
std::string curve_metric_of(const std::string& metric) {
  const std::size_t dot = metric.find('.');
  const bool final_figure = metric.starts_with("final_");
  if (dot == metric.npos) return "eval_loss.valid";
  if (final_figure) return "eval_" + metric.substr(6);
  return metric.starts_with("eval_") ? metric : "eval_loss.valid";
}

std::optional<CellSeries> series_of_cell(const Listing& listing, std::size_t row,
                                         const std::string& metric) {
  if (!is_result(listing.cells[row].status)) return std::nullopt;
  try {
    const Store store = Store::open(listing.store_of(row));
    return read_cell_series(store.cell_path(listing.cells[row].id) / "result.h5",
                            listing.cells[row].id, metric);
  } catch (const StorageError&) {
    return std::nullopt;  // its damage is named where the cell is
  }
}

/// Mean and range over the seeds of an arm at each x.
class ArmSums {
 public:
  /// A number that is not finite counts nowhere.
  void add(double x, double y) {
    if (!std::isfinite(y)) return;
    Sum& sum = by_x_[x];
    sum.low = sum.n == 0 ? y : std::min(sum.low, y);
    sum.high = sum.n == 0 ? y : std::max(sum.high, y);
    sum.total += y;
    ++sum.n;
  }
  void add(const CellSeries& series) {
    for (std::size_t i = 0; i < series.steps.size(); ++i) add(series.steps[i], series.values[i]);
    ++seeds_;
  }

  std::size_t seeds() const { return seeds_; }

  BandCurve band(const std::string& name, std::size_t number) const {
    BandCurve out;
    out.label = name;
    out.series = number;
    for (const auto& [x, sum] : by_x_) {
      out.x.push_back(x);
      out.mean.push_back(sum.total / static_cast<double>(sum.n));
      out.low.push_back(sum.low);
      out.high.push_back(sum.high);
    }
    return out;
  }

 private:
  struct Sum {
    double total = 0, low = 0, high = 0;
    std::size_t n = 0;
  };
  std::map<double, Sum> by_x_;
  std::size_t seeds_ = 0;
};

}  // namespace

PageData page_data(Listing listing, const PageQuery& asked, const PageInclusions& include,
                   const std::function<void(std::size_t, std::size_t)>& progress) {
  PageData out;
  const ComparisonQuery& query = asked.comparison;
  out.query = asked;
  out.title = listing.sweep;
  out.include = include;
  out.rows = select_cells(listing, {"", asked.filter});
  ComparisonQuery arms = query;
  arms.by = {"arm"};
  out.by_arm = compare_cells(listing, out.rows, arms);
  out.problem = no_contrast(listing, out.rows, out.by_arm);
  std::vector<std::string> factors = query.by;
  if (factors.empty()) {
    for (const std::string& name : factor_names(listing)) {
      const Design design = design_of(listing, out.rows, name);
      const auto levels = std::ranges::count_if(
          design.groups, [](const ComparedGroup& group) { return group.level.has_value(); });
      if (!design.of_arms() && levels > 1) factors.push_back(name);
    }
    if (factors.size() > kMostFactors) factors.clear();  // a list of arms, no grid
  }
  for (const std::string& factor : factors) {
    if (factor == "arm") continue;
    ComparisonQuery one = query;
    one.by = {factor};
    one.baseline.clear();
    out.by_factor.push_back(compare_cells(listing, out.rows, one));
  }
  out.curve_metric = curve_metric_of(out.by_arm.metric);
  std::vector<std::pair<std::size_t, std::size_t>> members;  // arm, row
  const std::vector<ComparedRow>& groups = out.by_arm.effects.front().rows;
  for (std::size_t a = 0; a < groups.size(); ++a) {
    for (const std::size_t row : groups[a].group.cells) members.emplace_back(a, row);
  }
  std::vector<ArmSums> sums(groups.size());
  const std::size_t every = members.size() / kMostCurves + 1;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (progress) progress(i, members.size());
    const auto [arm, row] = members[i];
    auto series = series_of_cell(listing, row, out.curve_metric);
    if (!series || series->steps.empty()) continue;
    ++out.curve_cells;
    if (listing.cells[row].status == CellStatus::Completed) sums[arm].add(*series);
    if (i % every == 0) out.curves.push_back({row, std::move(*series)});
  }
  for (std::size_t a = 0; a < groups.size(); ++a) {
    out.arm_curves.push_back({sums[a].band(groups[a].group.name, a), sums[a].seeds()});
  }
  out.probes = probe_sights(listing, groups);
  if (include.tokens) ask_token_texts(listing, out.probes);
  out.listing = std::move(listing);
  return out;
}

}  // namespace depthgrid
