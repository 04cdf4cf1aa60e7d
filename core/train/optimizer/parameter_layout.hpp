#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/config/axis_labels.hpp"

namespace depthgrid {

/// How a parameter starts: `fill` plus `scale` times a draw, plus `diagonal` where it is a square
/// matrix. Scale and fill may differ between cells, since start values are data, not structure.
struct Init {
  enum class Draw : std::uint8_t { None, Normal, Uniform };  // N(0, 1), U[-1, 1)
  Draw draw = Draw::None;
  std::vector<double> scale = {};     // (E) or (1)
  std::vector<double> fill = {};      // (E) or (1); empty = 0
  std::vector<double> diagonal = {};  // (n) of an (n, n) parameter; empty = 0
};

/// One parameter, as a block asks for it.
struct ParameterSpec {
  std::string name;                 // unique in the model: "layers.0.mlp.up.weight"
  std::vector<std::int64_t> shape;  // without the leading E
  ParameterGroup group = ParameterGroup::Trunk;
  Init init = {};
  bool factor = false;  // a factor of matrix products: held in bf16 too when precision is bf16
  /// No weight, but an average that training keeps: its gradient is what a step saw of it, and the
  /// optimiser moves it there (AverageSlots). Has no part in norms, clip, rates and decay.
  bool average = false;
};

/// Where a block gets its parameters. A model is built twice by the same code: once from a
/// ParameterLayout, which only counts, and once from an Arena, which owns the numbers.
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

/// Names, shapes and offsets of a model, without a number of it: what `describe` counts.
class ParameterLayout final : public ParameterSource {
 public:
  /// @throws Error if the name, or its random stream, is taken.
  at::Tensor parameter(const ParameterSpec& spec) override;

  std::int64_t size() const noexcept { return size_; }  // P
  const std::vector<ParameterSlot>& slots() const noexcept { return slots_; }

  /// @throws Error if the layout has no such parameter.
  const ParameterSlot& find(const std::string& name) const;

  /// Parameters of each group, in the order of ParameterGroup.
  std::vector<std::int64_t> counts_by_group() const;

 private:
  std::vector<ParameterSlot> slots_;
  std::int64_t size_ = 0;
};

/// Stream of a parameter's start values: of its name alone, so that two models that share a
/// parameter and a seed start it alike.
std::uint32_t init_stream(const std::string& name);

}  // namespace depthgrid
