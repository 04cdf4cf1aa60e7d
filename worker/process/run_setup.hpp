#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/config/sweep.hpp"
#include "distributed/collective.hpp"
#include "distributed/device_map.hpp"
#include "sweeps/plan/structure_cost.hpp"

namespace depthgrid {

/// The device of this rank and its name in the records: "cpu (AMD EPYC 9B14)" or
/// "cuda 0000:3b:00.0".
struct DeviceChoice {
  at::Device device = at::kCPU;
  std::string name;
  CardMap::Place place = {};  ///< of a GPU
  double memory_share = 1;    ///< part of the GPU's memory that this rank may take
};

/// Leaves resources.device and resources.gpus. Collective: all ranks train on GPUs, or none does.
/// Ranks that share a GPU, because there are more of them, divide its memory; one rank says so.
/// @throws SharedError (BadConfig) with the reason if a GPU is asked for and a rank sees none, or
///         only some ranks see one.
DeviceChoice choose_device(const CellConfig& run, Collective& world, int local_rank);

/// Part of a card's memory for a process: what the rank that started it hands on (see
/// variables_of_one_card(); null = nothing), else memory_share() of the ranks on the card.
/// @throws UserError (BadConfig) if what is handed on is not a number above 0 and up to 1.
double share_of_card(int sharers, const char* handed_on);

/// Environment in which a process of its own finds the card of this rank, and no other: it would
/// take the first one, which may be in use. It takes over this rank's part of the card's memory,
/// since it does not know of the other ranks there. Empty on the CPU.
std::map<std::string, std::string> variables_of_one_card(const DeviceChoice& device);

/// What keeps train.deterministic from its promise on this device, with the way out.
/// @param workspace  value of CUBLAS_WORKSPACE_CONFIG, or null.
std::optional<std::string> reproducibility_problem(bool deterministic, const DeviceChoice& device,
                                                   const char* workspace);

/// An error's message; that of an operation without a reproducible form says what to do.
std::string with_its_leaf(const std::string& message);

/// Leaf resources.threads, which is then in force.
/// @param warnings  gets a text if the threads do not fit on the CPUs of this process.
std::int64_t choose_threads(const CellConfig& run, std::vector<std::string>& warnings);

/// Leaf train.deterministic for LibTorch. An operation that has no reproducible form then throws,
/// and attention takes its reproducible form, which it does not where a warning is all that is
/// asked for.
void use_reproducible_operations(bool deterministic);

/// Fusing limits and rough costs of every structure, without calibration: enough to order jobs, and
/// the same on every rank.
CostTable quick_costs(const Sweep& sweep, at::Device device);

/// Costs measured by `plan` on this machine where they are still cached, else quick_costs(): for
/// the predictions that are recorded beside the actual figures.
CostTable known_costs(const Sweep& sweep, const CostTable& quick);

}  // namespace depthgrid
