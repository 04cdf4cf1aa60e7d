#include "core/probe/gates/gates_probe.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/ops/cat.h>
#include <ATen/ops/linspace.h>

#include "core/base/nan.hpp"
#include "core/config/axis_labels.hpp"
#include "core/probe/gates/gate_measures.hpp"

namespace depthgrid {
namespace {

void append(std::vector<double>& to, const std::vector<double>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

/// Numbers per type of weight in `parts` (types, n, k), as (n, types, k).
std::vector<double> types_inside(const std::vector<std::vector<double>>& parts, std::size_t n) {
  std::vector<double> out;
  for (std::size_t i = 0; i < n; ++i) {
    for (const std::vector<double>& part : parts) {
      const std::size_t k = part.size() / n;
      out.insert(out.end(), part.begin() + static_cast<std::ptrdiff_t>(i * k),
                 part.begin() + static_cast<std::ptrdiff_t>((i + 1) * k));
    }
  }
  return out;
}

}  // namespace

GatesProbe::GatesProbe(const ProbeSubject& subject, const GatesOptions& options)
    : subject_(subject), options_(options), steps_(subject.depth()) {
  const at::Tensor steps = subject.gate_times();
  if (!steps.defined()) return;
  const at::Tensor fine = at::linspace(0, 1, options.grid, at::kDouble).unsqueeze(0);
  times_ = at::cat({steps, fine.expand({steps.size(0), -1})}, 1);
  steps_ = steps.size(1);
}

void GatesProbe::declare_factors(RecordSink& out) {
  std::vector<std::string> names;
  for (const DepthFactor& factor : subject_.depth_factors()) names.emplace_back(factor.name);
  if (names.empty()) return;
  const SeriesAxis depth{.name = "depth", .length = steps_};
  const SeriesAxis factor{
      .name = "depth_factor", .length = static_cast<std::int64_t>(names.size()), .labels = names};
  constexpr std::array kNames = {"factor_mean", "factor_std", "factor_min", "factor_max"};
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    factors_[i] = out.declare({kNames[i], {depth, factor}});
  }
}

void GatesProbe::declare(RecordSink& out) {
  declare_factors(out);
  if (!times_.defined()) return;
  const SeriesAxis depth{.name = "depth", .length = steps_};
  const SeriesAxis type = weight_type_axis(subject_.depth_factors());
  types_ = type.labels;
  mean_ = out.declare({"gate_mean", {depth, type}});
  std_ = out.declare({"gate_std", {depth, type}});
  min_ = out.declare({"gate_min", {depth, type}});
  max_ = out.declare({"gate_max", {depth, type}});
  share_ = out.declare({"gate_depth_variance", {type}});
  variation_ = out.declare({"gate_total_variation", {type}});
  const at::Tensor fine = times_.select(0, 0).narrow(0, steps_, options_.grid).contiguous();
  const double* tau = fine.const_data_ptr<double>();
  fine_ = out.declare({"gate_fine",
                       {type,
                        {.name = "fine_depth",
                         .length = options_.grid,
                         .values = std::vector<double>(tau, tau + options_.grid)}}});
  std::vector<double> frequencies;
  for (std::int64_t k = 0; k <= (options_.grid - 1) / 2; ++k) {
    frequencies.push_back(static_cast<double>(k));
  }
  power_ = out.declare({"gate_power",
                        {type,
                         {.name = "frequency_bin",
                          .length = static_cast<std::int64_t>(frequencies.size()),
                          .values = frequencies}}});
  const GateRange range = subject_.gate_range();
  if (std::isnan(range.low)) return;
  saturation_ = out.declare({"gate_saturation", {depth, type}});
  histogram_ = out.declare({"gate_histogram",
                            {depth,
                             type,
                             {.name = "histogram_bin",
                              .length = options_.bins,
                              .values = histogram_centres(range, options_.bins)}}});
}

void GatesProbe::measure(std::int64_t /*step*/, RecordSink& out) {
  measure_factors(out);
  if (times_.defined()) measure_gates(out);
}

void GatesProbe::measure_factors(RecordSink& out) {
  const std::vector<DepthFactor> factors = subject_.depth_factors();
  for (std::int64_t e = 0; !factors.empty() && e < subject_.cells(); ++e) {
    std::array<std::vector<std::vector<double>>, 4> parts;
    for (const DepthFactor& factor : factors) {
      GateSummary summary = gate_summary(
          factor.values.select(0, e).to(at::kCPU, at::kDouble).contiguous(), {kNaN, kNaN});
      parts[0].push_back(std::move(summary.mean));
      parts[1].push_back(std::move(summary.std));
      parts[2].push_back(std::move(summary.min));
      parts[3].push_back(std::move(summary.max));
    }
    for (std::size_t i = 0; i < parts.size(); ++i) {
      out.write(factors_[i], static_cast<std::size_t>(e),
                types_inside(parts[i], static_cast<std::size_t>(steps_)));
    }
  }
}

void GatesProbe::measure_gates(RecordSink& out) {
  const std::vector<GateValues> gates = subject_.gates(times_);
  const GateRange range = subject_.gate_range();
  const auto n = static_cast<std::size_t>(steps_);
  for (std::int64_t e = 0; e < subject_.cells(); ++e) {
    std::vector<std::vector<double>> mean, std, min, max, saturation, histogram;
    std::vector<double> share, variation, fine, power;
    for (const std::string& name : types_) {
      const auto type = std::ranges::find(gates, name, &GateValues::weight_type);
      if (type == gates.end()) {  // this type has no gate
        for (auto* part : {&mean, &std, &min, &max, &saturation}) part->emplace_back(n, kNaN);
        histogram.emplace_back(n * static_cast<std::size_t>(options_.bins), kNaN);
        for (auto* part : {&share, &variation}) part->push_back(kNaN);
        fine.insert(fine.end(), static_cast<std::size_t>(options_.grid), kNaN);
        power.insert(power.end(), static_cast<std::size_t>((options_.grid - 1) / 2 + 1), kNaN);
        continue;
      }
      const at::Tensor all = type->values.select(0, e).to(at::kCPU, at::kDouble).contiguous();
      const at::Tensor at_steps = all.narrow(0, 0, steps_);
      const at::Tensor between = all.narrow(0, steps_, options_.grid);
      GateSummary summary = gate_summary(at_steps, range);
      if (histogram_) histogram.push_back(gate_histogram(at_steps, range, options_.bins));
      mean.push_back(std::move(summary.mean));
      std.push_back(std::move(summary.std));
      min.push_back(std::move(summary.min));
      max.push_back(std::move(summary.max));
      saturation.push_back(std::move(summary.saturation));
      share.push_back(depth_variance_share(at_steps));
      variation.push_back(total_variation(between));
      std::vector<double> course = gate_summary(between, range).mean;
      append(fine, course);
      course.pop_back();
      append(power, power_spectrum(course));
    }
    const auto cell = static_cast<std::size_t>(e);
    out.write(mean_, cell, types_inside(mean, n));
    out.write(std_, cell, types_inside(std, n));
    out.write(min_, cell, types_inside(min, n));
    out.write(max_, cell, types_inside(max, n));
    out.write(share_, cell, share);
    out.write(variation_, cell, variation);
    out.write(fine_, cell, fine);
    out.write(power_, cell, power);
    if (saturation_) out.write(*saturation_, cell, types_inside(saturation, n));
    if (histogram_) out.write(*histogram_, cell, types_inside(histogram, n));
  }
}

}  // namespace depthgrid
