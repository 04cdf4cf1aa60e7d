#pragma once

#include <string>
#include <vector>

#include "sweeps/compare/design.hpp"
#include "sweeps/compare/seed_pairs.hpp"

namespace depthgrid {

/// Which combinations of two groups are compared, and what there is to say of it.
struct CombinationPairing {
  std::vector<PairedCombinations> paired;
  std::string note;  // of a group without a level beside one with one; else empty
};

/// Two levels, or two arms, are compared within each combination of the other leaves.
///
/// An arm without the factor's leaf (of `include`) has a value of some of the other leaves. Where
/// a level of the factor has that value, too, the arm is compared with the mean over those
/// combinations of the level that agree with it in all such leaves, and over the others' levels;
/// where it shares no leaf, or no combination agrees with it in all of them, with the mean over all
/// combinations. The note says which.
/// @param mine, theirs  groups of the design. @param figures_mine, figures_theirs  theirs.
CombinationPairing combination_pairing(const Listing& listing, const Design& design,
                                       const ComparedGroup& mine, const GroupFigures& figures_mine,
                                       const ComparedGroup& theirs,
                                       const GroupFigures& figures_theirs);

}  // namespace depthgrid
