#pragma once

#include <cstdint>
#include <vector>

#include "worker/audit/audit_model.hpp"

namespace depthgrid {

/// What changing the end of a sequence did to the logits.
struct SuffixEffect {
  double before = 0;     // largest change of a logit before its cut
  bool same = true;      // ... and whether all their bits are the same
  bool after = false;    // some logit at or after a cut has changed: the model looks at its input
  std::int64_t cut = 0;  // first cut at which an earlier logit changed
};

/// Cut points of a window of T tokens: up to 8, from 1 to T - 1, spread evenly.
std::vector<std::int64_t> cut_points(std::int64_t tokens);

/// Runs `model` on batches of `rows` copies of one random sequence, then with another end behind
/// each cut. Row r of a batch is compared with row r of the unchanged one, so that nothing but the
/// tokens differs.
/// @param context  how the model is executed; `forced` masks hold for all rows.
/// @param most     cut points that are looked at: the first, the last and those between, evenly.
SuffixEffect change_suffixes(const AuditModel& model, std::int64_t rows, std::int64_t tokens,
                             const ForwardContext& context, std::size_t most = 8);

}  // namespace depthgrid
