#pragma once

#include <cstdint>
#include <vector>

#include "core/train/cell_optimizer.hpp"
#include "worker/audit/audit_model.hpp"

namespace depthgrid {

/// Adam on an audited model: no decay, clip at 1, a short warm-up, cosine decay to a tenth.
class AuditTraining {
 public:
  /// @param model  must outlive this. @param lr  (E) peak rates.
  AuditTraining(AuditModel& model, const std::vector<double>& lr, std::int64_t steps);

  /// Gradients of the mean loss. @param windows  (E, B, T + 1).
  /// @param steered  under a signal, the same for all cells, if the model is trained under labels.
  /// @return (E) nats per token, cross-entropy of the next tokens only
  at::Tensor backward(const at::Tensor& windows, std::int64_t step, bool steered = false);
  /// @param step  from 1.
  void update(std::int64_t step);

  /// Mean loss of cell 0 in evaluation. @param windows  (n, T + 1). @return nats per token
  double evaluate(const at::Tensor& windows);

 private:
  AuditModel& model_;
  CellOptimizer optimizer_;
  std::vector<std::uint8_t> active_;
};

}  // namespace depthgrid
