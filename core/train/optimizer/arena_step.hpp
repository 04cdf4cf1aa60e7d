#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "core/train/optimizer/segment_table.hpp"
#include "core/train/optimizer/update_rule.hpp"

namespace depthgrid {

/// Which parameter groups of a cell are clipped by a norm and a factor of their own; the others
/// share one norm and one factor. Global: none, Group: all.
struct ClipScope {
  std::uint32_t alone = 0;  ///< bit g: group g by itself

  static const ClipScope Global, Group;
  /// All groups but these are clipped together.
  static constexpr ClipScope apart(std::initializer_list<ParameterGroup> groups) {
    ClipScope scope;
    for (const ParameterGroup g : groups) scope.alone |= 1U << static_cast<unsigned>(g);
    return scope;
  }
  constexpr bool by_itself(std::size_t group) const { return (alone >> group & 1U) != 0; }
};
inline constexpr ClipScope ClipScope::Global{};
inline constexpr ClipScope ClipScope::Group{(1U << kParameterGroupCount) - 1};

/// The optimiser's arrays: (E, P) row-major in memory, one row per cell.
struct StepArena {
  std::int64_t cells = 0;            ///< E
  float* parameters = nullptr;       ///< (E, P)
  float* moments[kMaxMoments] = {};  ///< (E, own columns) each; null beyond those of the rule
  float* gradients = nullptr;        ///< (E, P), zero after update()
  std::uint16_t* shadow = nullptr;   ///< (E, P) bfloat16 copy of the parameters, or none
  /// Columns that update() changes, at the edges of blocks: [own_begin, own_end), all by default.
  std::int64_t own_begin = 0, own_end = std::numeric_limits<std::int64_t>::max();

  std::int64_t own_columns(std::int64_t row_size) const {
    return (own_end < row_size ? own_end : row_size) - own_begin;
  }
};

/// Per-cell rates of one step. Spans with G = kParameterGroupCount columns are (E, G) row-major.
struct StepRates {
  std::span<const double> lr;                ///< (E, G) rate of this step, after the schedule
  std::span<const double> weight_decay;      ///< (E, G)
  std::span<const std::vector<double>> own;  ///< (E) each: OptimizerRow::scalars, in their order
  std::span<const double> clip;              ///< (E) largest norm; infinity = no clip
  std::span<const std::uint8_t> active;      ///< (E) 0: the cell keeps its bits
  std::span<const std::int64_t> step;        ///< (E) number of this update, from 1
  std::span<const double> gradient_scale;    ///< (E) factor on the gradients: 1 / loss scale
};

/// Result of the norm pass, per cell; norms are of the scaled gradient.
struct GradientNorms {
  std::vector<double> norm;          ///< (E) before clip
  std::vector<double> norm_clipped;  ///< (E) after clip
  std::vector<double> factor;        ///< (E) factor of the clip; the smallest, if there are several
  std::vector<double> group_norm;    ///< (E, G) before clip; 0 for absent or frozen groups
  std::vector<double> group_norm_clipped;  ///< (E, G)
  std::vector<double> group_factor;        ///< (E, G)
  std::vector<std::uint8_t> nonfinite;     ///< (E) 1: NaN or infinite, this cell is not updated
};

/// Norms of an update, per cell.
struct UpdateNorms {
  std::vector<double> update_norm;     ///< (E) ||p_new - p_old||; 0 if the cell was not updated
  std::vector<double> parameter_norm;  ///< (E) ||p_new||
};

/// One optimiser's step over a whole arena on the CPU: per-cell rates, per-cell clip, two passes.
///
/// First gradient_norms() (reads g), then update() (reads g, moments, p; writes p, moments, the
/// bfloat16 shadow, and zeroes g). A cell's numbers are a function of its own row and rates: the
/// same bits for any E, any neighbours, any number of threads and any x86-64 CPU. Denormals are
/// flushed in both passes, whatever mode the calling thread is in. It writes through raw pointers,
/// unseen by autograd: never call it between a forward pass and its backward pass.
class ArenaStep {
 public:
  ArenaStep(SegmentTable table, std::unique_ptr<UpdateRule> rule, ClipScope scope);

  /// Sums of squares per cell and group in fixed blocks, then the clip factors
  /// min(1, clip / (norm + 1e-6)). A |g| beyond 1e19 counts as non-finite, as its square overflows.
  /// @throws ShapeError unless every span of `rates` fits the arena.
  GradientNorms gradient_norms(const StepArena& arena, const StepRates& rates);

  /// One step. Cells that are inactive or non-finite, and frozen segments, keep p, moments and
  /// shadow to the bit (they are skipped, never multiplied by zero); their gradients are zeroed
  /// too. Blocks that are not this arena's own keep their parameters, have no moments here and are
  /// in no sum of the result.
  /// @param norms  what gradient_norms() returned for these gradients and rates.
  /// @throws ShapeError as above, or if a step is below 1.
  UpdateNorms update(const StepArena& arena, const StepRates& rates, const GradientNorms& norms);

  const SegmentTable& table() const noexcept { return table_; }

 private:
  SegmentTable table_;
  std::unique_ptr<UpdateRule> rule_;
  ClipScope scope_;
  std::vector<double> partials_;  // (E, blocks) sums of squares
  std::vector<double> updates_;   // (E, blocks)
};

}  // namespace depthgrid
