#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/config/axis_labels.hpp"

namespace depthgrid {

/// Initialisation of a parameter: `fill` plus `scale` times a draw, plus `diagonal` for a square
/// matrix. Scale and fill may differ between cells: initial values are data, not structure.
struct Init {
  enum class Draw : std::uint8_t { None, Normal, Uniform };  // N(0, 1), U[-1, 1)
  Draw draw = Draw::None;
  std::vector<double> scale = {};     // (E) or (1)
  std::vector<double> fill = {};      // (E) or (1); empty = 0
  std::vector<double> diagonal = {};  // (n) of an (n, n) parameter; empty = 0
};

/// One parameter, as requested by a block.
struct ParameterSpec {
  std::string name;                 // unique in the model: "layers.0.mlp.up.weight"
  std::vector<std::int64_t> shape;  // without the leading E
  ParameterGroup group = ParameterGroup::Trunk;
  Init init = {};
  bool factor = false;  // a factor of matrix products: also kept in bf16 if precision is bf16
  /// Not a weight, but a running average: its gradient is the step's observation, and the optimiser
  /// moves it towards that (AverageSlots). Excluded from norms, clip, rates and decay.
  bool average = false;
};

/// Source of a block's parameters. A model is built twice by the same code: from a ParameterLayout,
/// which only counts, and from an Arena, which owns the values.
class ParameterSource {
 public:
  virtual ~ParameterSource() = default;

  /// @return  (E, shape...), or undefined from a layout.
  virtual at::Tensor parameter(const ParameterSpec& spec) = 0;
};

/// One parameter's place in a row of the arena.
struct ParameterSlot {
  ParameterSpec spec;
  std::int64_t offset;
  std::int64_t count;
};

/// Names, shapes and offsets of a model's parameters without allocating values; for `describe`.
class ParameterLayout final : public ParameterSource {
 public:
  /// @throws Error if the name, or its random stream, is taken.
  at::Tensor parameter(const ParameterSpec& spec) override;

  std::int64_t size() const noexcept { return size_; }  // P
  const std::vector<ParameterSlot>& slots() const noexcept { return slots_; }

  /// @throws Error if the layout has no such parameter.
  const ParameterSlot& find(const std::string& name) const;

  /// Parameters of each group, in the order of ParameterGroup, without running averages.
  std::vector<std::int64_t> counts_by_group() const;

  /// All of them, without running averages, which size() counts.
  std::int64_t parameters() const;

 private:
  std::vector<ParameterSlot> slots_;
  std::int64_t size_ = 0;
};

/// Parameters that training changes by their gradient: without frozen groups and running averages.
std::int64_t trainable_parameters(const ParameterLayout& layout,
                                  const std::array<bool, kParameterGroupCount>& frozen);

/// Random stream of a parameter's initial values: a function of its name only, so that two models
/// with the same parameter and seed initialise it alike.
std::uint32_t init_stream(const std::string& name);

}  // namespace depthgrid
