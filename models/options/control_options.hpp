#pragma once

#include <cstdint>
#include <vector>

#include "models/options/leaf_readers.hpp"

namespace depthgrid {

/// How a control signal enters a field.
enum class Injection : std::uint8_t { Additive, Film, Concat };

/// Profile of the signal over depth-time.
enum class ControlProfileKind : std::uint8_t { Constant, RampUp, RampDown, Window };

/// A control signal u of c axes: where and how it enters the depth.
///
/// Its maps have no bias and begin at zero unless said otherwise, so that u = 0 means no signal, to
/// the bit, and a signal changes nothing before it is trained.
struct ControlOptions {
  std::int64_t axes = 0;                      // c; 0: no signal, no parameters for one
  bool in_flow = false;                       // it enters the field of the flow
  bool as_prefix = false;                     // c vectors, times its components, before the text
  std::vector<std::int64_t> layers{};         // discrete layers whose inputs it moves
  Injection injection = Injection::Additive;  // into the field
  bool bias = false;                          // of the field's additive map
  bool drawn = false;  // the field's map is drawn as other matrices are, as text was trained before
  std::vector<ControlProfileKind> profile{};       // (E); empty: constant
  std::vector<double> window_from{}, window_to{};  // (E) depth-times, read with a window
  /// (E) of c numbers: the signal of every token of passes that are not given another; empty: none.
  std::vector<std::vector<double>> constant{};

  bool labelled = false;  // trained under labels or prompts (`train.task` other than lm)

  /// Sentences are distinguished by their likelihoods (`train.control.contrastive`): a scale and,
  /// for each axis, a bias are learned with the model.
  bool contrasts = false;

  /// Whether training moves the maps of some axis.
  bool trained() const;
};

/// Reads the leaves `model.control` of cells that share a structure.
ControlOptions control_options(const CellConfigs& cells);

}  // namespace depthgrid
