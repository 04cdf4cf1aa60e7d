#pragma once

#include <span>
#include <string_view>

#include "worker/audit/audit_room.hpp"

namespace depthgrid {

/// Changes the tokens from each of 8 cut points onwards, in training and evaluation, in a batch
/// with a different cut in every row and in sequences alone: no logit before the cut may change in
/// any bit. Value: largest change.
AuditResult check_causality(AuditRoom& room);

/// The same for modes that are declared non-causal, with the masks of their routing held fixed, to
/// show that the routing is the only leak. Evaluation must not be among them.
AuditResult check_declaration(AuditRoom& room);

/// Compares a sequence alone with the same sequence in a batch. Value: largest difference relative
/// to the largest logit, or to 1.
AuditResult check_batch_independence(AuditRoom& room);

/// Value: number of parameters in the layout; threshold: the family's closed form.
AuditResult check_parameter_count(AuditRoom& room);

/// Value: number of parameters of the twin whose gradient is not finite, or is zero although they
/// are not declared dead.
AuditResult check_gradient_flow(AuditRoom& room);

/// Value: loss of the initial weights on random tokens minus ln V, in nats.
AuditResult check_initial_loss(AuditRoom& room);

/// Value: loss of the twin on one batch that it memorises, in nats.
AuditResult check_overfit_batch(AuditRoom& room);

/// Trains the twin on a Markov chain. Value: its validation loss in nats, with the chain's own
/// surprise on the same tokens as control variate; threshold: the entropy rate minus 0.01.
/// Undecided if the loss has not come near the rate: a cheating twin that has learned nothing looks
/// like an honest one.
AuditResult check_entropy_floor(AuditRoom& room);

/// Runs four cells of different seed, rate and residual scale together, each alone, and with a cell
/// of NaN. Value: largest difference of a loss, a gradient or a weight after two steps.
AuditResult check_fusion(AuditRoom& room);

/// One row of the table of checks.
struct AuditCheckRow {
  std::string_view name;  // leaf audit.NAME, label of the store's axis audit_check
  AuditResult (*run)(AuditRoom& room);
};

/// All checks, in the order of the axis audit_check.
std::span<const AuditCheckRow> audit_checks();

}  // namespace depthgrid
