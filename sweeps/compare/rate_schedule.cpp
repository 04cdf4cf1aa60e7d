#include "sweeps/compare/rate_schedule.hpp"

#include <optional>
#include <string_view>

#include "sweeps/compare/design.hpp"

namespace depthgrid {
namespace {

/// The value of a leaf of the training in a cell; null pointer if it is not known.
const Value* trained_with(const Listing& listing, std::size_t row, std::string_view leaf) {
  const Value* const own = level_of(listing, row, leaf);
  return own != nullptr ? own : find_key(listing.constant, leaf);
}

std::optional<double> number_of(const Value* value) {
  if (value == nullptr || !value->is_number()) return std::nullopt;
  return value->number();
}

}  // namespace

bool rate_changes_after(const Listing& listing, std::size_t row, double step) {
  const auto leaf = [&](std::string_view name) { return trained_with(listing, row, name); };
  const Value* const kind = leaf("train.schedule.kind");
  if (kind == nullptr) return true;
  const double warmup = number_of(leaf("train.schedule.warmup_steps")).value_or(0);
  if (step < warmup) return true;
  const std::optional<double> decay = number_of(leaf("train.schedule.decay_steps"));
  const bool flat = number_of(leaf("train.schedule.final_ratio")) == 1.0 || decay == 0.0;
  if (plain_text(*kind) == "constant" || flat) return false;
  const bool ends_with_the_training = plain_text(*kind) == "wsd" || !decay;
  return ends_with_the_training || step < warmup + *decay;
}

}  // namespace depthgrid
