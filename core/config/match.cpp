#include "core/config/match.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "core/base/grouped.hpp"
#include "core/base/json_text.hpp"
#include "core/config/identity.hpp"
#include "core/config/resolve/checks.hpp"
#include "core/config/resolve/derive.hpp"

namespace depthgrid {
namespace {

using Json = nlohmann::ordered_json;

std::string percent(double share) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%+.2g %%", 100 * share);
  return text.data();
}

std::string amount(MatchOn on, double value) {
  std::array<char, 32> text{};
  if (on == MatchOn::Parameters) return grouped(std::llround(value));
  std::snprintf(text.data(), text.size(), "%.4g", on == MatchOn::Time ? 1000 * value : value);
  return text.data();
}

std::string_view unit(MatchOn on) {
  constexpr std::array<std::string_view, 3> kUnits = {"parameters", "FLOPs per token",
                                                      "ms per step and cell"};
  return kUnits[static_cast<std::size_t>(on)];
}

}  // namespace

std::string matched_json(const std::vector<MatchedWidth>& widths) {
  Json list = Json::array();
  for (const MatchedWidth& w : widths) {
    list.push_back({{"arm", w.arm},
                    {"leaf", w.leaf},
                    {"value", w.value},
                    {"on", kMatchOnNames[static_cast<std::size_t>(w.on)]},
                    {"reference", w.reference},
                    {"wanted", w.wanted},
                    {"achieved", w.achieved},
                    {"tolerance", w.tolerance}});
  }
  return json_text(list);
}

std::vector<MatchedWidth> matched_from_json(std::string_view json) {
  try {
    std::vector<MatchedWidth> out;
    for (const Json& j : parse_ordered_json(json)) {
      MatchedWidth w;
      w.arm = j.at("arm");
      w.leaf = j.at("leaf");
      w.value = j.at("value");
      const std::string on = j.at("on");
      const auto* const name = std::ranges::find(kMatchOnNames, on);
      if (name == kMatchOnNames.end()) throw Error("match: unknown amount '" + on + "'");
      w.on = static_cast<MatchOn>(name - kMatchOnNames.begin());
      w.reference = j.at("reference");
      w.wanted = j.at("wanted");
      w.achieved = j.at("achieved");
      w.tolerance = j.at("tolerance");
      out.push_back(std::move(w));
    }
    return out;
  } catch (const nlohmann::json::exception& e) {
    throw Error(std::string("match: the widths cannot be read: ") + e.what());
  }
}

std::string matched_text(const MatchedWidth& w) {
  return w.arm + " has " + w.leaf + " = " + std::to_string(w.value) + ": " +
         amount(w.on, w.achieved) + " " + std::string(unit(w.on)) + ", " + percent(w.difference()) +
         " of " + amount(w.on, w.wanted) + " of " + w.reference +
         " (allowed: " + percent(w.tolerance).substr(1) + ")";
}

MatchCandidate candidate_of(const Slots& slots, std::shared_ptr<ValuePool> pool) {
  return {structure_key(slots), CellConfig(base_of(std::move(pool), slots), {})};
}

MatchGoal::MatchGoal(MatchedWidth open, MatchCandidate reference,
                     std::shared_ptr<const Slots> slots, std::shared_ptr<ValuePool> pool,
                     std::size_t leaf, Diagnostic where)
    : open_(std::move(open)),
      reference_(std::move(reference)),
      slots_(std::move(slots)),
      pool_(std::move(pool)),
      leaf_(leaf),
      where_(std::move(where)) {
  const LeafRows& row = leaf_rows();
  if (leaf == row.d_model) {
    step_ = slots_->integer(row.n_heads) * (slots_->is(row.positions, "rope") ? 2 : 1);
  }
  // If zero is allowed, it means another kind of model, not a narrow one.
  const auto least = std::max<std::int64_t>(1, static_cast<std::int64_t>(schema()[leaf].min));
  const auto most = static_cast<std::int64_t>(schema()[leaf].max);
  smallest_ = (least + step_ - 1) / step_ * step_;
  largest_ = smallest_ + (most - smallest_) / step_ * step_;
  const std::int64_t here = slots_->integer(leaf);
  written_ = std::clamp(smallest_ + (here - smallest_) / step_ * step_, smallest_, largest_);
}

std::optional<MatchCandidate> MatchGoal::with(std::int64_t width) const {
  Slots slots = *slots_;
  slots.assign(leaf_, pool_->intern(Value(width)), slots.places[leaf_], Origin::Row);
  Deriver(pool_).derive(slots);
  for (const std::size_t digest : {digest_slot(), labels_digest_slot(), prompts_digest_slot()}) {
    slots.values[digest] = slots_->values[digest];
  }
  Diagnostics problems;
  const Place nowhere{problems.add_text(open_.arm, ""), 0, 0};
  std::ranges::fill(slots.places, nowhere);
  check_cell(slots, nowhere, problems);
  if (problems.failed()) return std::nullopt;
  return candidate_of(slots, pool_);
}

}  // namespace depthgrid
