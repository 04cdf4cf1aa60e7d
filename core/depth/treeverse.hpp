#pragma once

#include <cstdint>
#include <vector>

namespace depthgrid {

/// Reversal of a chain of steps whose states are not all kept: which to keep, so that as few steps
/// as possible are taken again.
///
/// A segment of l steps with s slots (one holds the state at its beginning) is cut in two: the
/// state at the cut takes a slot, the second part is reversed with the others, then the first with
/// all of them again. Source: Griewank & Walther (2000), ACM TOMS 26, 19 (revolve).
namespace treeverse {

/// Steps before the cut of a segment, so that the count is least. @param steps  at least 2.
/// @param slots  at least 2.
std::int64_t cut(std::int64_t steps, std::int64_t slots);

/// Steps that are advanced without a tape while a chain is reversed, the first sweep over it
/// included; each step is taken once more with one. @param slots  at least 1.
std::int64_t advances(std::int64_t steps, std::int64_t slots);

/// Steps whose states the first sweep keeps, in order, besides the chain's beginning.
std::vector<std::int64_t> kept(std::int64_t steps, std::int64_t slots);

}  // namespace treeverse
}  // namespace depthgrid
