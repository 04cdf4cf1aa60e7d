#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/sweep.hpp"
#include "sweeps/plan/describe_cache.hpp"
#include "sweeps/plan/structure_cost.hpp"

namespace depthgrid {

/// Axes of a control signal that mean something else in the weights that a cell starts from, as a
/// sentence; empty if they do not, or one of both is of text alone.
std::string other_axes(const CellConfig& source, const CellConfig& cell);

/// How weights fit a model that starts from them, by name and shape.
struct StartFit {
  std::vector<std::string> fresh;     // parameters of added modules that the source lacks
  std::vector<std::string> problems;  // one line per difference that is not allowed
};

/// True for parameters of modules that may be added to a trained model (control; the transition
/// network, router, scalars and predictor of skipping layers): the source may lack them.
bool is_added_module(std::string_view group);

/// True for parameters that training learns beside the model, which another phase may lack: those
/// of `train.control.contrastive`.
bool is_training_aid(std::string_view name);

/// Every parameter of the target must be in the source with the same shape, except those of added
/// modules; the source may contain nothing else, except training aids.
StartFit start_fit(const std::vector<TensorInfo>& source, const std::vector<TensorInfo>& target);

/// Parameters by structure.
using TensorTable = std::map<std::string, std::vector<TensorInfo>>;

/// One cell of each structure that starts from another cell or is the start of one.
std::vector<CellPlan> start_structures(const Sweep& sweep);

/// Compares every cell with the one it starts from.
/// @param tensors  of each structure among start_structures().
/// @throws SweepErrors (Usage) with all mismatches, their lines and the names.
void check_starts(const Sweep& sweep, const TensorTable& tensors);

/// The same with the tensors that the worker reports for the structures.
/// @return a note if the worker could not be asked; else empty.
std::string check_starts(const Sweep& sweep, const DescribeCache& cache);

}  // namespace depthgrid
