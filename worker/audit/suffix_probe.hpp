#pragma once

#include <cstdint>
#include <vector>

#include "worker/audit/audit_model.hpp"

namespace depthgrid {

/// Effect of changing the end of a sequence on the logits.
struct SuffixEffect {
  double before = 0;     // largest change of a logit before its cut
  bool same = true;      // ... and whether all their bits are equal
  bool after = false;    // some logit at or after a cut changed: the model depends on its input
  std::int64_t cut = 0;  // first cut at which an earlier logit changed
};

/// Cut points of a window of T tokens: up to 8, from 1 to T - 1, evenly spaced.
std::vector<std::int64_t> cut_points(std::int64_t tokens);

/// Runs `model` on batches of `rows` copies of one random sequence, then with different tokens
/// after a cut, one cut per row. Row r of a batch is compared with row r of the unchanged batch, so
/// that only the tokens differ.
/// @param context  how the model is executed; `forced` masks hold for all rows.
/// @param most     number of cut points used: the first, the last and evenly spaced ones between.
SuffixEffect change_suffixes(const AuditModel& model, std::int64_t rows, std::int64_t tokens,
                             const ForwardContext& context, std::size_t most = 8);

}  // namespace depthgrid
