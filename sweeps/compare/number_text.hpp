#pragma once

#include <string>

#include "sweeps/compare/contrast.hpp"
#include "sweeps/compare/statistics.hpp"

namespace depthgrid {

// Numbers of a comparison for people: as many decimals as the uncertainty lets stand.

/// Decimals that show two digits of a spread; four where there is none.
int decimals_of(double spread);

/// With so many decimals; from 10^7 on four digits, and no minus before what is rounded to zero.
std::string fixed_text(double value, int decimals);
/// The same with a sign, which a zero that was below 0 has none of.
std::string signed_text(double value, int decimals);

/// "2.3876 ± 0.0011"; the mean alone where there is no spread, "-" where it is no finite number.
std::string mean_text(const SampleSummary& sample);

/// A signed difference, with two digits of the value or of its half-width, whichever is smaller;
/// without a half-width four decimals, or more where two digits of the value need them.
std::string difference_text(double value, double half_width);

/// "[-0.0081, -0.0037]", with two digits of the half-width, of limits that are one as of a
/// difference without one; "-" without limits.
std::string interval_text(const ConfidenceLimits& limits);

/// In full precision, for a CSV; empty for NaN.
std::string exact_number(double value);

/// Three digits, "<.0001" below that, "-" for NaN.
std::string probability_text(double p);

/// The same of a p that is a count over a power of two, with four digits where these are all: .0625
/// is then not printed as less than itself.
std::string exact_probability_text(double p);

}  // namespace depthgrid
