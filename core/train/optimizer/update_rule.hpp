#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace depthgrid {

inline constexpr std::size_t kMaxMoments = 4;           ///< rows that an optimiser may keep
inline constexpr std::size_t kMaxOptimizerScalars = 8;  ///< own leaves that it may read

/// One block's part of a cell's arrays.
struct ParameterBlock {
  float* parameters;
  float* moments[kMaxMoments];  ///< null beyond those that the optimiser keeps
  float* gradients;
  std::uint16_t* shadow;  ///< bfloat16 copy of the parameters, or null
  std::int64_t count;
};

/// Sums of squares over one block.
struct BlockSums {
  double update;     ///< of p_new - p_old
  double parameter;  ///< of p_new
};

/// Numbers of one (cell, parameter group) at one step, as given by the hyper-parameters.
struct GroupScalars {
  double lr;                                     ///< after the schedule
  double weight_decay;                           ///< 0 where the group does not decay
  double gradient_factor;                        ///< clip factor / loss scale
  std::int64_t step;                             ///< from 1
  std::array<double, kMaxOptimizerScalars> own;  ///< of OptimizerRow::scalars, in their order
};

/// How one optimiser changes parameters. Norms, sums and clip are the same for all (ArenaStep).
class UpdateRule {
 public:
  virtual ~UpdateRule() = default;

  /// Called once per step. @param scalars  one per (cell, group).
  virtual void prepare(std::span<const GroupScalars> scalars) = 0;

  /// Updates one block of at most 2048 parameters and zeroes its gradients; called concurrently.
  /// The bits must be a function of the block and its scalars alone.
  /// @param at  index of the block's (cell, group) in the scalars given to prepare().
  virtual BlockSums update(const ParameterBlock& block, std::size_t at) const = 0;
};

}  // namespace depthgrid
