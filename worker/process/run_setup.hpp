#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/config/sweep.hpp"
#include "distributed/collective.hpp"
#include "sweeps/plan/structure_cost.hpp"

namespace depthgrid {

/// The device of this rank and its name in the records: "cpu (AMD EPYC 9B14)" or
/// "cuda 0000:3b:00.0".
struct DeviceChoice {
  at::Device device = at::kCPU;
  std::string name;
};

/// Leaves resources.device and resources.gpus. Collective: ranks must not share a GPU.
/// @throws UserError (BadConfig) if a GPU is asked for and there is none for this rank.
DeviceChoice choose_device(const CellConfig& run, Collective& world, int local_rank,
                           int local_size);

/// Leaf resources.threads, which is then in force.
/// @param warnings  gets a text if the threads do not fit on the CPUs of this process.
std::int64_t choose_threads(const CellConfig& run, std::vector<std::string>& warnings);

/// Fusing limits and rough costs of every structure, without calibration: enough to order jobs, and
/// the same on every rank.
CostTable quick_costs(const Sweep& sweep, at::Device device);

/// Costs measured by `plan` on this machine where they are still cached, else quick_costs(): for
/// the predictions that are recorded beside the actual figures.
CostTable known_costs(const Sweep& sweep, const CostTable& quick);

}  // namespace depthgrid
