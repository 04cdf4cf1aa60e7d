#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sweeps/plan/structure_audit.hpp"
#include "worker/audit/audit_model.hpp"
#include "worker/audit/audit_twin.hpp"

namespace depthgrid {

/// Sizes of the twins: for fusion, and for training.
inline constexpr TwinSize kPassTwin{.width = 64, .layers = 4, .tokens = 13, .vocabulary = 61};
inline constexpr TwinSize kLearningTwin{.width = 32, .layers = 3, .tokens = 16, .vocabulary = 16};
/// As many layers as the structure, up to 24: for gradients and steps of training.
inline constexpr TwinSize kDeepTwin{.width = 32, .layers = 24, .tokens = 13, .vocabulary = 61};
/// As many tokens as well: every position is a cut.
inline constexpr TwinSize kLongTwin{.width = 32, .layers = 24, .tokens = 128, .vocabulary = 61};
/// The same in float64, where also small kernels are slow: a shorter window.
inline constexpr TwinSize kWideTwin{.width = 16, .layers = 24, .tokens = 64, .vocabulary = 31};
/// One cell for each cut of a short window.
inline constexpr TwinSize kGradientTwin{.width = 16, .layers = 12, .tokens = 13, .vocabulary = 31};

/// Operations at the structure's own size that the checks of one structure divide among them. A
/// pass that is the least a check can do is made even where it takes more.
inline constexpr double kAuditFlops = 4e11;

/// The models that the checks of one structure share.
class AuditModels {
 public:
  explicit AuditModels(AuditSubject subject);

  const AuditSubject& subject() const noexcept { return subject_; }
  /// Options of cell 0 at the structure's own size; allocates no values.
  const ModelOptions& options() const noexcept { return options_; }

  /// The structure itself, E = 1, built at the first call; null if it would take more memory than
  /// allowed.
  AuditModel* full();
  /// Why full() is null.
  std::string too_large() const;
  /// Different cells of the structure itself, E >= 3, moved away from their start, in the
  /// arithmetic in which it trains, built at the first call; cell 0 alone where memory or time does
  /// not allow more; null as full().
  AuditModel* several();
  /// Number of sequences of T tokens in one pass of cell 0: 1 ... 8.
  std::int64_t rows() const;
  /// T of passes at the structure's own size.
  std::int64_t tokens() const noexcept { return subject_.tokens; }
  /// Operations of a pass of one sequence through the structure itself.
  double row_flops() const;
  /// Sequences that may pass through one cell of the structure for this share of the audit's
  /// operations.
  std::int64_t affordable(double share) const;
  double affordable_rows(double share) const;  // before it is rounded down
  /// Most sequences that a pass of this model may hold with its graph.
  std::int64_t most_rows(const ModelOptions& o, std::int64_t tokens) const;

  /// Numbers of the cells that checks examine together: all that differ, and no fewer than three.
  std::vector<std::size_t> cells() const;
  /// Options of cells at the sizes of a twin. A number beyond the structure's variety is cell 0
  /// with another residual scale and, where layers skip, another capacity; where no capacity
  /// would make a layer of this twin choose among its tokens, half of them.
  ModelOptions various(const TwinSize& size, const std::vector<std::size_t>& cells) const;
  /// The same at the structure's own size.
  ModelOptions various(const std::vector<std::size_t>& cells) const;
  /// One of the cells of several(), alone.
  ModelOptions one_of(std::size_t cell) const;

  /// These cells, number i with seed i above the subject's.
  AuditModel built(ModelOptions o, const std::vector<std::size_t>& cells, AuditedAs as) const;
  /// Cells of a twin. @param as  none: moved away from the start, in float32.
  AuditModel twin(const TwinSize& size, const std::vector<std::size_t>& cells,
                  AuditedAs as = {.moved = true}) const;
  /// Cell 0 of the twin that is trained, without noise.
  AuditModel learner() const;

 private:
  double row_bytes() const;
  ModelOptions various(ModelOptions o, const std::vector<std::size_t>& cells,
                       std::int64_t tokens) const;

  AuditSubject subject_;
  ModelOptions options_;
  std::int64_t parameters_;
  std::optional<AuditModel> full_, several_;
};

/// A result that is Pass or Fail; the table adds the name.
AuditResult judged(bool pass, double value, double threshold, std::string note);

}  // namespace depthgrid
