#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace depthgrid {

/// When the gradient of a layer counts as vanishing or exploding; the leaves probes.gradients.*.
struct GradientBounds {
  double vanish_below = 1e-6, explode_above = 100;
};

/// Gradients with which the cells of a job are trained, by layer: those of the last step, and how
/// many steps so far had extreme ones.
class TrainingGradients {
 public:
  /// Steps that count of one cell; NaN if they are not known.
  struct Counts {
    std::vector<double> vanished, exploded;  // (layers) norm before clip below, above its bound
    double clipped = 0;                      // the clip was active
  };

  TrainingGradients(std::size_t cells, std::int64_t layers, GradientBounds bounds);

  /// A step that cell e has made. @param norm, clipped  (layers) before and after clip; NaN for a
  /// layer of which nothing is trained, which has neither vanishing nor exploding gradients.
  /// @param factor  of the clip; below 1 it was active.
  void step(std::size_t e, std::span<const double> norm, std::span<const double> clipped,
            double factor);

  std::int64_t layers() const noexcept { return layers_; }
  /// Of the last step: (layers), NaN before the first.
  const std::vector<double>& norm(std::size_t e) const { return cells_.at(e).norm; }
  const std::vector<double>& norm_clipped(std::size_t e) const { return cells_.at(e).clipped; }
  const Counts& counts(std::size_t e) const { return cells_.at(e).counts; }
  /// Those of the steps of earlier attempts.
  void restore(std::size_t e, Counts counts) { cells_.at(e).counts = std::move(counts); }

 private:
  struct Cell {
    std::vector<double> norm, clipped;
    Counts counts;
  };
  std::int64_t layers_;
  GradientBounds bounds_;
  std::vector<Cell> cells_;
};

}  // namespace depthgrid
