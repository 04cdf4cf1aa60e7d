#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sweeps/plan/structure_audit.hpp"
#include "worker/audit/audit_model.hpp"
#include "worker/audit/audit_twin.hpp"

namespace depthgrid {

/// Sizes of the twin for gradients and fusion, and of the twin that is trained.
inline constexpr TwinSize kPassTwin{.width = 64, .layers = 4, .tokens = 13, .vocabulary = 61};
inline constexpr TwinSize kLearningTwin{.width = 32, .layers = 3, .tokens = 16, .vocabulary = 16};

/// The models that the checks of one structure share.
class AuditRoom {
 public:
  explicit AuditRoom(AuditSubject subject);

  const AuditSubject& subject() const noexcept { return subject_; }
  /// Options of one cell at the structure's own size; allocates no values.
  const ModelOptions& options() const noexcept { return options_; }

  /// The structure itself, E = 1, built at the first call; null if it would take more memory than
  /// allowed.
  AuditModel* full();
  /// Why full() is null.
  std::string too_large() const;
  /// Number of sequences of T tokens in one pass of the structure itself: 1 ... 8.
  std::int64_t rows() const;
  /// T of passes at the structure's own size.
  std::int64_t tokens() const noexcept { return subject_.tokens; }

  /// One cell of the twin of size kPassTwin.
  AuditModel twin() const;
  /// One cell of the twin that is trained, without noise.
  AuditModel learner() const;

 private:
  double row_bytes() const;

  AuditSubject subject_;
  ModelOptions options_;
  std::int64_t parameters_;
  std::optional<AuditModel> full_;
};

/// A result that is Pass or Fail; the table adds the name.
AuditResult judged(bool pass, double value, double threshold, std::string note);

}  // namespace depthgrid
