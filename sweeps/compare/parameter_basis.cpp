#include "sweeps/compare/parameter_basis.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace depthgrid {
namespace {

/// A block of the sweep file that makes its arms equal in parameters: all others grow to the
/// largest arm, as a width takes what they lack and cannot take away what they have. Empty where
/// no such block can be known: of tables, where model.d_ff is a factor, of an arm without leaves.
std::string matching_block(const Listing& listing, double tolerance) {
  constexpr std::string_view kFree = "model.d_ff";  // the default of match.vary
  const CellSummary* largest = nullptr;
  const bool matched = std::ranges::any_of(
      listing.matched, [kFree](const MatchedWidth& width) { return width.leaf == kFree; });
  for (std::size_t row = 0; row < listing.cells.size(); ++row) {
    const CellSummary& cell = listing.cells[row];
    if (listing.of_table(row) || (!matched && find_key(cell.overrides, kFree) != nullptr)) {
      return {};
    }
    if (!cell.in_plan) continue;
    if (largest == nullptr || cell.parameters > largest->parameters) largest = &cell;
  }
  if (largest == nullptr) return {};
  std::vector<std::string> reference;
  if (!largest->tag.empty()) {
    reference.push_back("tag: " + canonical_json(Value(largest->tag)));
  } else {
    for (const auto& [leaf, value] : largest->overrides) {
      if (leaf == "seed" || leaf == kFree) continue;
      reference.push_back(fmt::format("{}: {}", leaf, canonical_json(value)));
    }
  }
  if (reference.empty()) return {};
  return fmt::format("match: {{on: parameters, vary: {}, tolerance: {}, reference: {{{}}}}}", kFree,
                     shortest(tolerance), fmt::join(reference, ", "));
}

}  // namespace

ParameterBasis::ParameterBasis(const Listing& listing, std::optional<double> tolerance)
    : listing_(listing), tolerance_(tolerance) {
  if (!tolerance) return;
  const std::string block = matching_block(listing, *tolerance);
  advice_ = block.empty() ? "match: in a sweep file makes arms equal"
                          : "in the sweep file, " + block + " makes arms equal";
}

BasisMismatch ParameterBasis::mismatch(std::size_t mine, std::size_t theirs) const {
  const std::int64_t a = listing_.cells[mine].parameters, b = listing_.cells[theirs].parameters;
  BasisMismatch out;
  if (!tolerance_ || a <= 0 || b <= 0) return out;
  const double apart = std::abs(static_cast<double>(a) / static_cast<double>(b) - 1);
  if (apart <= *tolerance_) return out;
  out.differences.push_back({"the number of parameters", Value(a), Value(b)});
  out.advice = fmt::format("{:.3g} % apart, {:.3g} % allowed; {} (docs/comparing.md)", 100 * apart,
                           100 * *tolerance_, advice_);
  return out;
}

}  // namespace depthgrid
