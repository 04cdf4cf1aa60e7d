#pragma once

#include <string>

#include "sweeps/compare/compare.hpp"

namespace depthgrid {

/// The answer in one sentence: the largest differences that are decided, how many have no effect,
/// how many are undecided and what could have been detected, how many are refused. Empty if there
/// is no contrast.
/// @example  "hidden=128 differs from hidden=64 by -0.012 [-0.020, -0.004] nat (better); 9 of 10
/// arms are undecided: at these seeds a single test detects a difference of 0.010 nat."
std::string answer_sentence(const Comparison& comparison, const EffectTable& effects);

}  // namespace depthgrid
