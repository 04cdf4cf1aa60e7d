#pragma once

#include "core/train/optimizer/arena.hpp"
#include "models/model.hpp"
#include "sweeps/protocol/commands.hpp"
#include "worker/bench/bench_device.hpp"

namespace depthgrid {

/// The untrained model of a benchmark of one cell, on its device.
struct BenchModel {
  /// @throws UserError as bench_cell() and BenchDevice.
  explicit BenchModel(const BenchCommand& command);

  CellConfig config;
  BenchDevice bench;
  ModelOptions options;
  Arena arena;
  Model model;
};

}  // namespace depthgrid
