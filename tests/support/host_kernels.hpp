#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/train/optimizer/block_sums.hpp"
#include "core/train/optimizer/device_kernels.hpp"
#include "core/train/optimizer/optimizer_table.hpp"

namespace depthgrid::testing {

/// The kernels of a GPU, played by the CPU's step over arrays in host memory: what they are given
/// and what they report passes through the same arrays.
class HostKernels final : public DeviceKernels {
 public:
  HostKernels(SegmentTable table, std::string_view optimizer, ClipScope scope)
      : scalars_(optimizer_row(optimizer).scalars.size()),
        step_(std::move(table), optimizer_row(optimizer).make(), scope) {}

  void gradient_norms(const DeviceStepState& state) override {
    load(state);
    norms_ = step_.gradient_norms(state.arena, rates());
    for (std::size_t e = 0; e < steps_.size(); ++e) {
      double* const row = report_of(state, e);
      row[0] = norms_.norm[e];
      row[1] = norms_.norm_clipped[e];
      row[2] = norms_.factor[e];
      row[3] = norms_.nonfinite[e];
      put(norms_.group_norm, e, row + 6);
      put(norms_.group_norm_clipped, e, row + 6 + kGroups);
      put(norms_.group_factor, e, row + 6 + 2 * kGroups);
    }
  }

  void update(const DeviceStepState& state) override {
    load(state);
    const UpdateNorms done = step_.update(state.arena, rates(), norms_);
    for (std::size_t e = 0; e < steps_.size(); ++e) {
      double* const row = report_of(state, e);
      row[4] = done.update_norm[e];
      row[5] = done.parameter_norm[e];
      state.step[e] += 1;
    }
  }

  void squares(const DeviceParts& a) override {
    for (std::int64_t e = 0; e < a.rows; ++e) {
      for (std::int32_t part = 0; part < a.parts; ++part) {
        double sum = 0;
        for (std::int32_t b = a.part_begin[part]; b < a.part_begin[part + 1]; ++b) {
          sum += sum_of_squares(a.x + e * a.row_size + a.offset[b], a.count[b]);
        }
        a.squares[e * a.parts + part] = sum;
      }
    }
  }

 private:
  static constexpr std::size_t kGroups = kParameterGroupCount;

  static double* report_of(const DeviceStepState& state, std::size_t e) {
    return state.report + e * kDeviceReportColumns;
  }

  static void put(const std::vector<double>& from, std::size_t e, double* to) {
    for (std::size_t g = 0; g < kGroups; ++g) to[g] = from[e * kGroups + g];
  }

  void load(const DeviceStepState& state) {
    const auto cells = static_cast<std::size_t>(state.arena.cells);
    state_ = state;
    steps_.assign(state.step, state.step + cells);
    for (std::int64_t& step : steps_) ++step;  // the counter is of updates done
    own_.clear();
    for (std::size_t k = 0; k < scalars_; ++k)
      own_.emplace_back(state.own[k], state.own[k] + cells);
  }

  StepRates rates() const {
    const std::size_t cells = steps_.size();
    return {.lr = {state_.lr, cells * kGroups},
            .weight_decay = {state_.weight_decay, cells * kGroups},
            .own = own_,
            .clip = {state_.clip, cells},
            .active = {state_.active, cells},
            .step = steps_,
            .gradient_scale = {state_.gradient_scale, cells}};
  }

  std::size_t scalars_;
  ArenaStep step_;
  DeviceStepState state_;
  std::vector<std::int64_t> steps_;
  std::vector<std::vector<double>> own_;
  GradientNorms norms_;
};

}  // namespace depthgrid::testing
