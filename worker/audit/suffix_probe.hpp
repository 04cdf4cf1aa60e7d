#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "worker/audit/audit_modes.hpp"
#include "worker/audit/audited_pass.hpp"

namespace depthgrid {

/// Effect of changing the end of a sequence on what comes before.
struct SuffixEffect {
  double before = 0;      // largest change before a cut, of logits or routing
  bool same = true;       // ... and whether there was none
  bool after = false;     // some logit at or after a cut changed: the model reads its input
  std::int64_t cut = 0;   // smallest cut at which something earlier changed
  std::int64_t cell = 0;  // ... in this cell
  std::string what;       // ... "a logit", "router logits of layer 3"
  double least = 1;       // executed share of the tokens of dynamic layers: the smallest of a
  double most = 0;        // cell and the largest; 1 and 0: no layer routes
};

/// Which sequences a probe runs.
struct SuffixPlan {
  std::vector<std::int64_t> cuts;  // ascending, 1 to T - 1
  /// A cut in one of the cells, not in each of them: another one at another turn.
  bool dealt = false;
  std::int64_t rows = 8;  // most sequences per pass
  std::size_t turn = 0;   // each has other rows for the cuts, and other steps
  /// 0: all bits of what comes before a cut must stay. Else a change of up to this, relative to
  /// the largest number (or 1), counts as none.
  double tolerance = 0;
};

/// Every cut of a window of T tokens: 1 to T - 1.
std::vector<std::int64_t> all_cuts(std::int64_t tokens);

/// At most `most` of these: the first and last three, the others evenly spaced.
std::vector<std::int64_t> some_cuts(std::int64_t tokens, std::int64_t most);

/// Runs a model on random sequences, one per row and different in every row and cell, then on the
/// same sequences with other tokens (and another control signal) from a cut onwards, each with its
/// own. Row r is compared with row r, so that only the tokens differ: logits, and what layers that
/// skip tokens record before they decide. Which row has which cut is drawn for each cell. Training
/// passes record a graph, as those of a step do, and each has another step (audited_step). Where no
/// layer records anything, every second pass is not recorded, as in training.
/// @param tokens   T.
/// @param context  its step is not read.
/// @param held    execute what the unchanged sequences execute (with_held_masks).
SuffixEffect change_suffixes(const AuditModel& model, std::int64_t tokens,
                             const ForwardContext& context, const SuffixPlan& plan, bool held);

}  // namespace depthgrid
