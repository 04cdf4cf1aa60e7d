#pragma once

#include <span>
#include <string_view>

#include "worker/audit/audit_room.hpp"

namespace depthgrid {

/// Changes the tokens from each of 8 cut points on, in training and evaluation, in batches of other
/// compositions and alone: no logit before the cut may change a bit. Value: largest change.
AuditResult check_causality(AuditRoom& room);

/// The same for modes that are declared to look ahead, with the masks of their routing held: then
/// the routing is the whole leak. Evaluation must not be among them.
AuditResult check_declaration(AuditRoom& room);

/// A sequence alone against the same sequence in a batch. Value: largest difference over the
/// largest logit, or over 1.
AuditResult check_batch_independence(AuditRoom& room);

/// Value: parameters of the layout; threshold: the family's closed form.
AuditResult check_parameter_count(AuditRoom& room);

/// Value: parameters of the twin whose gradient is not finite, or zero without being declared dead.
AuditResult check_gradient_flow(AuditRoom& room);

/// Value: loss of the start values on random tokens less ln V.
AuditResult check_initial_loss(AuditRoom& room);

/// Value: loss of the twin on one batch that it learns by heart.
AuditResult check_overfit_batch(AuditRoom& room);

/// Trains the twin on a Markov chain. Value: its validation loss, with the chain's own surprise on
/// the same tokens as control variate; threshold: the entropy rate less 0.01. Undecided if the twin
/// has not come near the rate: one that has learned nothing cannot be told from an honest one.
AuditResult check_entropy_floor(AuditRoom& room);

/// Four cells that differ in seed, rate and residual scale, together and each alone, and beside a
/// cell of NaN. Value: largest difference of a loss, a gradient or a weight after two steps.
AuditResult check_fusion(AuditRoom& room);

/// One row of the table of checks.
struct AuditCheckRow {
  std::string_view name;  // leaf audit.NAME, label of the store's axis audit_check
  AuditResult (*run)(AuditRoom& room);
};

/// All checks, in the order of the axis audit_check.
std::span<const AuditCheckRow> audit_checks();

}  // namespace depthgrid
