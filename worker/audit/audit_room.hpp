#pragma once

#include <memory>
#include <optional>
#include <string>

#include "sweeps/plan/structure_audit.hpp"
#include "worker/audit/audit_model.hpp"
#include "worker/audit/audit_twin.hpp"

namespace depthgrid {

/// Sizes at which gradients and fusion are looked at, and those at which a twin learns.
inline constexpr TwinSize kPassTwin{.width = 64, .layers = 4, .tokens = 13, .vocabulary = 61};
inline constexpr TwinSize kLearningTwin{.width = 32, .layers = 3, .tokens = 16, .vocabulary = 16};

/// The models that the checks of one structure share.
class AuditRoom {
 public:
  explicit AuditRoom(AuditSubject subject);

  const AuditSubject& subject() const noexcept { return subject_; }
  /// One cell at the structure's own size, without a number of it.
  const ModelOptions& options() const noexcept { return options_; }

  /// The structure itself, E = 1, made at the first call; null where it would take more memory than
  /// there is.
  AuditModel* full();
  /// Why full() is null.
  std::string too_large() const;
  /// Sequences of T tokens that one pass of the structure itself may have: 1 ... 8.
  std::int64_t rows() const;
  /// T of passes at size.
  std::int64_t tokens() const noexcept { return subject_.tokens; }

  /// E cells of the twin with the subject's seed and those after it.
  AuditModel twin(const TwinSize& size, std::int64_t cells = 1) const;

  /// One cell of the twin that learns, without noise.
  AuditModel learner() const;

 private:
  double row_bytes() const;

  AuditSubject subject_;
  ModelOptions options_;
  std::int64_t parameters_;
  std::optional<AuditModel> full_;
};

/// Pass or Fail with its numbers.
AuditResult judged(bool pass, double value, double threshold, std::string note);
/// Neither: the check could not tell, or was not made. NaN for numbers that there are none of.
AuditResult unjudged(AuditVerdict verdict, double value, double threshold, std::string note);

}  // namespace depthgrid
