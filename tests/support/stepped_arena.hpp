#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <torch/types.h>

#include "core/train/cell_optimizer.hpp"

namespace depthgrid::testing {

/// Of every five cells: an ordinary one, one whose gradients are NaN, an inactive one, one whose
/// gradients are clipped to little, one with a loss scale.
inline bool is_nan_cell(std::size_t cell) {
  return cell % 5 == 1;
}
inline bool is_inactive_cell(std::size_t cell) {
  return cell % 5 == 2;
}

/// What train.clip_scope can ask for. Under `main`, tdt and mod clip some groups by themselves and
/// the others together.
struct NamedScope {
  const char* name;
  ClipScope scope;
};
inline constexpr NamedScope kScopes[] = {
    {"global", ClipScope::Global},
    {"by_group", ClipScope::Group},
    {"main_of_tdt",
     ClipScope::apart({ParameterGroup::Tpn, ParameterGroup::Scalars, ParameterGroup::Router})},
    {"main_of_mod", ClipScope::apart({ParameterGroup::Predictor})}};

inline TrainOptions stepping_options(const std::string& optimizer, ClipScope scope,
                                     std::size_t cells) {
  constexpr double kClips[] = {1, 1, std::numeric_limits<double>::infinity(), 1e-3, 5};
  TrainOptions t;
  t.cells = static_cast<std::int64_t>(cells);
  t.optimizer = optimizer;
  t.clip_scope = scope;
  t.scalars.resize(3);
  t.frozen[static_cast<std::size_t>(ParameterGroup::Norm)] = true;
  for (std::size_t e = 0; e < cells; ++e) {
    const auto kind = static_cast<double>(e % 5);
    t.scalars[0].push_back(0.9 - 0.05 * kind);
    t.scalars[1].push_back(0.99 - 0.01 * kind);
    t.scalars[2].push_back(1e-8);
    t.clip.push_back(kClips[e % 5]);
    t.loss_scale.push_back(e % 5 == 4 ? 64 : 1);
    t.schedule.push_back({.kind = ScheduleKind::Cosine, .steps = 8});
    for (std::size_t g = 0; g < kParameterGroupCount; ++g) {
      t.lr.push_back(1e-2 * (kind + 1) + 1e-3 * static_cast<double>(g));
      t.weight_decay.push_back(g % 2 == 0 ? 0.1 : 0);
    }
  }
  return t;
}

/// More than a block of parameters in five groups, one of them frozen.
inline ParameterLayout stepping_layout() {
  ParameterLayout out;
  out.parameter({.name = "weight", .shape = {70, 41}, .factor = true});
  out.parameter({.name = "norm", .shape = {33}, .group = ParameterGroup::Norm});
  out.parameter({.name = "bias", .shape = {41}, .group = ParameterGroup::Bias});
  out.parameter({.name = "router", .shape = {29}, .group = ParameterGroup::Router});
  out.parameter({.name = "predictor", .shape = {17}, .group = ParameterGroup::Predictor});
  return out;
}

/// An arena after six steps of an optimiser on gradients that are waves.
struct SteppedArena {
  SteppedArena(const TrainOptions& options, bool mixed, at::Device device,
               std::unique_ptr<DeviceKernels> kernels, OptimizerTeam team = {})
      : arena(stepping_layout(), std::vector<std::uint64_t>(options.clip.size(), 1),
              at::TensorOptions().dtype(at::kFloat).device(device), mixed),
        optimizer(arena, options, std::move(kernels), team) {
    std::vector<std::uint8_t> active;
    for (std::size_t e = 0; e < options.clip.size(); ++e) {
      active.push_back(is_inactive_cell(e) ? 0 : 1);
    }
    arena.values().copy_(wave(0));
    arena.refresh_shadow();
    for (std::int64_t step = 1; step <= 6; ++step) {
      arena.gradients().copy_(wave(step));
      for (std::size_t e = 0; e < active.size(); ++e) {
        if (is_nan_cell(e)) arena.gradients()[static_cast<std::int64_t>(e)][7] = std::nan("");
      }
      reports.push_back(optimizer.step(step, active));
    }
  }

  /// (E, P) numbers on the host; a cell's are the same among any neighbours.
  at::Tensor wave(std::int64_t phase) const {
    const at::Tensor n = torch::arange(arena.size(), at::kDouble).unsqueeze(0);
    const at::Tensor e = torch::arange(arena.cells(), at::kDouble).unsqueeze(1);
    return (n * 0.37 + e + static_cast<double>(phase)).sin().to(at::kFloat);
  }

  Arena arena;
  CellOptimizer optimizer;
  std::vector<CellOptimizer::Report> reports;
};

/// Whether two lists of numbers have the same bits. A NaN is like any other: a GPU's has other bits
/// than a CPU's.
template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return std::ranges::equal(a, b, [](T x, T y) {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(x) && std::isnan(y)) return true;
    }
    return std::memcmp(&x, &y, sizeof(T)) == 0;
  });
}

inline bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  const at::Tensor x = a.cpu().contiguous(), y = b.cpu().contiguous();
  return x.nbytes() == y.nbytes() && std::memcmp(x.data_ptr(), y.data_ptr(), x.nbytes()) == 0;
}

/// Names of what differs between two runs of the same steps.
inline std::vector<std::string> differences(SteppedArena& a, SteppedArena& b) {
  std::vector<std::string> out;
  const auto compare = [&](const std::string& name, const auto& x, const auto& y) {
    if (!same_bits(x, y)) out.push_back(name);
  };
  compare("values", a.arena.values(), b.arena.values());
  compare("gradients", a.arena.gradients(), b.arena.gradients());
  if (a.arena.shadow().defined()) compare("shadow", a.arena.shadow(), b.arena.shadow());
  for (std::size_t m = 0; m < a.optimizer.moments().size(); ++m) {
    compare("moment " + std::string(a.optimizer.moments()[m].name), a.optimizer.moments()[m].values,
            b.optimizer.moments()[m].values);
  }
  for (std::size_t step = 0; step < a.reports.size(); ++step) {
    const CellOptimizer::Report &x = a.reports[step], &y = b.reports[step];
    const std::string of = " of step " + std::to_string(step + 1);
    compare("lr" + of, x.lr, y.lr);
    compare("norm" + of, x.norms.norm, y.norms.norm);
    compare("clipped norm" + of, x.norms.norm_clipped, y.norms.norm_clipped);
    compare("factor" + of, x.norms.factor, y.norms.factor);
    compare("nonfinite" + of, x.norms.nonfinite, y.norms.nonfinite);
    compare("norms of groups" + of, x.norms.group_norm, y.norms.group_norm);
    compare("clipped norms of groups" + of, x.norms.group_norm_clipped, y.norms.group_norm_clipped);
    compare("factors of groups" + of, x.norms.group_factor, y.norms.group_factor);
    compare("norm of the update" + of, x.update.update_norm, y.update.update_norm);
    compare("norm of the parameters" + of, x.update.parameter_norm, y.update.parameter_norm);
  }
  return out;
}

}  // namespace depthgrid::testing
