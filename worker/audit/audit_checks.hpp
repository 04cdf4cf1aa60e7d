#pragma once

#include <span>
#include <string_view>

#include "worker/audit/audit_models.hpp"

namespace depthgrid {

/// Changes the tokens from a cut onwards, in every mode, with one cut per sequence: neither a logit
/// nor a router's logit, score or decision before the cut may change in any bit. In the structure
/// itself as many cuts as time allows, in cells that differ and in the arithmetic in which it
/// trains; in its twins every cut of every cell, in float32, and in float64 to 1e-12; and the
/// gradients of early training logits. Value: largest change.
AuditResult check_causality(AuditModels& models);

/// The same for modes that are declared non-causal, with the masks of their routing held fixed, to
/// show that the routing is the only leak. Evaluation must not be among them.
AuditResult check_declaration(AuditModels& models);

/// Replaces every second sequence of a batch, which must leave the bits of the others, and compares
/// sequences alone with the same ones in the batch. Value: largest difference relative to the
/// largest logit, or to 1.
AuditResult check_batch_independence(AuditModels& models);

/// Value: number of parameters in the layout; threshold: the family's closed form.
AuditResult check_parameter_count(AuditModels& models);

/// Value: number of parameters of the twin whose gradient is not finite, or is zero at six draws of
/// their start although they are not declared dead.
AuditResult check_gradient_flow(AuditModels& models);

/// The loss of the initial weights on random tokens must be what their logits give for targets that
/// know nothing of them, ln V plus what the spread of the logits costs, within the error of that
/// sample. Undecided, which warns, if the spread costs more than two nats: a start may be meant so.
/// Value: loss minus ln V, in nats.
AuditResult check_initial_loss(AuditModels& models);

/// Value: loss of the twin on one batch that it memorises, in nats.
AuditResult check_overfit_batch(AuditModels& models);

/// Trains the twin on a Markov chain. Value: its validation loss in nats, with the chain's own
/// surprise on the same tokens as control variate; threshold: the entropy rate minus 0.01.
/// Undecided if the loss has not come near the rate: a cheating twin that has learned nothing looks
/// like an honest one.
AuditResult check_entropy_floor(AuditModels& models);

/// Runs four cells of different seed, rate and residual scale together, each alone, and with a cell
/// of NaN. Value: largest difference of a loss, a gradient or a weight after two steps.
AuditResult check_fusion(AuditModels& models);

/// Losses, loss terms, scores of tokens and figures of evaluations against sums over the logits of
/// the same passes, written apart. Value: the largest difference.
AuditResult check_scores(AuditModels& models);

/// The gradient by a position's vector equals that by the token there, for all positions of a
/// sequence of different tokens. Value: largest difference, relative to the largest gradient.
AuditResult check_positions(AuditModels& models);

/// Makes two steps of training with all that a recipe may have, in micro-batches, and compares what
/// every parameter does with the optimiser written apart in float64, by the whole batch's gradient,
/// which is compared with finite differences first. Value: largest deviation, relative to the
/// largest change of its tensor.
AuditResult check_training_step(AuditModels& models);

/// Every leaf that may differ between cells changes some number, and a residual scale of 0 makes
/// every layer the identity. Value: number of leaves without effect.
AuditResult check_leaves(AuditModels& models);

/// One row of the table of checks.
struct AuditCheckRow {
  std::string_view name;  // leaf audit.NAME, label of the store's axis audit_check
  AuditResult (*run)(AuditModels& models);
};

/// All checks, in the order of the axis audit_check.
std::span<const AuditCheckRow> audit_checks();

}  // namespace depthgrid
