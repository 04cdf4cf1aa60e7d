#include "core/train/cell_optimizer.hpp"

#include <cmath>

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include "core/base/error.hpp"
#include "core/cells/queued_tensor.hpp"
#include "core/train/optimizer/optimizer_table.hpp"

namespace depthgrid {
namespace {

std::vector<double> rates_at(const TrainOptions& o, std::int64_t step) {
  std::vector<double> lr = o.lr;
  for (std::size_t e = 0; e < o.schedule.size(); ++e) {
    const double factor = schedule_factor(o.schedule[e], step);
    for (std::size_t g = 0; g < kParameterGroupCount; ++g) {
      lr[e * kParameterGroupCount + g] *= factor;
    }
  }
  return lr;
}

std::vector<double> inverses(const std::vector<double>& v) {
  std::vector<double> out;
  for (const double x : v) out.push_back(1 / x);
  return out;
}

}  // namespace

SegmentTable segment_table(const ParameterLayout& layout, const TrainOptions& options) {
  std::vector<Segment> segments;
  for (const ParameterSlot& slot : layout.slots()) {
    const auto g = static_cast<std::size_t>(slot.spec.group);
    segments.push_back({.offset = slot.offset,
                        .count = slot.count,
                        .group = slot.spec.group,
                        .frozen = options.frozen[g] || slot.spec.average});
  }
  return {layout.size(), segments};
}

CellOptimizer::CellOptimizer(Arena& arena, const TrainOptions& options,
                             std::unique_ptr<DeviceKernels> kernels, OptimizerTeam team)
    : arena_(arena),
      options_(options),
      averages_(arena),
      step_(segment_table(arena.layout(), options), optimizer_row(options.optimizer).make(),
            options.clip_scope),
      kernels_(std::move(kernels)),
      shards_(team.divide && team.sync != nullptr ? ColumnShards(step_.table(), *team.sync)
                                                  : ColumnShards(arena.size(), team.sync)) {
  for (const std::string_view name : optimizer_row(options.optimizer).moments) {
    moments_.push_back({name, at::zeros({arena.cells(), shards_.end() - shards_.begin()},
                                        arena.values().options())});
  }
}

void CellOptimizer::collect_moments() {
  if (!shards_.divided()) return;
  collected_.clear();
  for (const Moment& moment : moments_) {
    for (std::int64_t e = 0; e < arena_.cells(); ++e) {
      collected_.push_back(shards_.gathered(moment.values.select(0, e)));
    }
  }
}

at::Tensor CellOptimizer::moment_row(std::size_t m, std::int64_t e) const {
  if (!shards_.divided()) return moments_[m].values.select(0, e).cpu();
  const std::size_t at = m * static_cast<std::size_t>(arena_.cells()) + static_cast<std::size_t>(e);
  if (at >= collected_.size() || !collected_[at].defined()) {
    throw Error("the moments are divided among the ranks and have not been collected");
  }
  return collected_[at];
}

void CellOptimizer::set_moment_row(std::size_t m, std::int64_t e, const at::Tensor& row) {
  shards_.scatter(moments_[m].values.select(0, e), row);
}

/// Of parameters and norms, each rank has its own part after the update.
void CellOptimizer::exchange_update(UpdateNorms& norms) {
  if (!shards_.divided()) return;
  shards_.exchange(arena_.values());
  arena_.refresh_shadow();
  const auto cells = static_cast<std::int64_t>(norms.update_norm.size());
  at::Tensor squares = at::empty({2, cells}, at::kDouble);
  auto* const of_update = squares.mutable_data_ptr<double>();
  double* const of_parameters = of_update + cells;
  for (std::size_t e = 0; e < norms.update_norm.size(); ++e) {
    of_update[e] = norms.update_norm[e] * norms.update_norm[e];
    of_parameters[e] = norms.parameter_norm[e] * norms.parameter_norm[e];
  }
  shards_.add_up(squares);
  for (std::size_t e = 0; e < norms.update_norm.size(); ++e) {
    norms.update_norm[e] = std::sqrt(of_update[e]);
    norms.parameter_norm[e] = std::sqrt(of_parameters[e]);
  }
}

StepArena CellOptimizer::arena_view() {
  StepArena a;
  a.cells = arena_.cells();
  a.parameters = arena_.values().mutable_data_ptr<float>();
  for (std::size_t i = 0; i < moments_.size(); ++i) {
    a.moments[i] = moments_[i].values.mutable_data_ptr<float>();
  }
  a.gradients = arena_.gradients().mutable_data_ptr<float>();
  if (arena_.shadow().defined()) {
    a.shadow = static_cast<std::uint16_t*>(arena_.shadow().mutable_data_ptr());
  }
  a.own_begin = shards_.begin();
  a.own_end = shards_.end();
  return a;
}

CellOptimizer::Report CellOptimizer::step(std::int64_t step,
                                          const std::vector<std::uint8_t>& active) {
  const std::vector<at::Tensor> seen = averages_.seen();
  collected_.clear();
  Report report = kernels_ ? step_on_device(step, active) : step_on_host(step, active);
  exchange_update(report.update);
  std::vector<std::uint8_t> moves = active;
  for (std::size_t e = 0; e < moves.size(); ++e) {
    if (report.norms.nonfinite[e] != 0) moves[e] = 0;
  }
  averages_.update(step, seen, options_.loss_scale, moves);
  return report;
}

CellOptimizer::Report CellOptimizer::step_on_host(std::int64_t step,
                                                  const std::vector<std::uint8_t>& active) {
  const std::vector<double> lr = rates_at(options_, step);
  const std::vector<std::int64_t> steps(active.size(), step);
  const std::vector<double> unscale = inverses(options_.loss_scale);
  const StepRates rates{.lr = lr,
                        .weight_decay = options_.weight_decay,
                        .own = options_.scalars,
                        .clip = options_.clip,
                        .active = active,
                        .step = steps,
                        .gradient_scale = unscale};
  const StepArena arena = arena_view();
  Report report;
  report.norms = step_.gradient_norms(arena, rates);
  report.update = step_.update(arena, rates, report.norms);
  for (std::size_t e = 0; e < active.size(); ++e) report.lr.push_back(lr[e * kParameterGroupCount]);
  return report;
}

CellOptimizer::Report CellOptimizer::step_on_device(std::int64_t step,
                                                    const std::vector<std::uint8_t>& active) {
  const at::TensorOptions there = arena_.values().options().dtype(at::kDouble);
  const std::vector<double> lr = rates_at(options_, step);
  const std::vector<std::int64_t> done(active.size(), step - 1);
  const auto doubles = [&](const std::vector<double>& v) { return queued_tensor(v, there); };
  const at::Tensor d_lr = doubles(lr), d_active = queued_tensor(active, there.dtype(at::kByte)),
                   d_decay = doubles(options_.weight_decay), d_clip = doubles(options_.clip),
                   d_unscale = doubles(inverses(options_.loss_scale)),
                   d_step = queued_tensor(done, there.dtype(at::kLong));
  const auto cells = static_cast<std::int64_t>(active.size());
  const at::Tensor report = at::empty({cells, kDeviceReportColumns}, d_lr.options());
  DeviceStepState state{.arena = arena_view(),
                        .lr = d_lr.const_data_ptr<double>(),
                        .weight_decay = d_decay.const_data_ptr<double>(),
                        .clip = d_clip.const_data_ptr<double>(),
                        .active = d_active.const_data_ptr<std::uint8_t>(),
                        .step = d_step.mutable_data_ptr<std::int64_t>(),
                        .report = report.mutable_data_ptr<double>(),
                        .gradient_scale = d_unscale.const_data_ptr<double>()};
  std::vector<at::Tensor> own;  // holds the memory until the step is done
  for (const std::vector<double>& of_cells : options_.scalars) {
    const std::size_t at = own.size();
    state.own[at] = own.emplace_back(doubles(of_cells)).const_data_ptr<double>();
  }
  kernels_->gradient_norms(state);
  kernels_->update(state);
  const at::Tensor host = report.cpu();  // waits for the step
  Report out;
  for (std::int64_t e = 0; e < cells; ++e) {
    const double* row = host.const_data_ptr<double>() + e * kDeviceReportColumns;
    const double* groups = row + 6;
    out.norms.norm.push_back(row[0]);
    out.norms.norm_clipped.push_back(row[1]);
    out.norms.factor.push_back(row[2]);
    out.norms.nonfinite.push_back(row[3] != 0 ? 1 : 0);
    out.update.update_norm.push_back(row[4]);
    out.update.parameter_norm.push_back(row[5]);
    const auto take = [&](std::vector<double>& to, int block) {
      const double* from = groups + block * static_cast<int>(kParameterGroupCount);
      to.insert(to.end(), from, from + kParameterGroupCount);
    };
    take(out.norms.group_norm, 0);
    take(out.norms.group_norm_clipped, 1);
    take(out.norms.group_factor, 2);
    out.lr.push_back(lr[static_cast<std::size_t>(e) * kParameterGroupCount]);
  }
  return out;
}

}  // namespace depthgrid
