#include "core/config/sweep/cell_collector.hpp"

#include <algorithm>
#include <set>

#include "core/config/identity.hpp"
#include "core/config/schema.hpp"

namespace depthgrid {
namespace {

constexpr std::size_t kMostMergeNotes = 20;

/// The leaf of a factor that has a level twice; empty if there is none.
std::string repeated_level(const SweepDocument& document) {
  for (const Factor& factor : document.factors) {
    const std::vector<const PooledValue*>& levels = factor.columns.front().values;
    const std::set<const PooledValue*> different(levels.begin(), levels.end());
    if (factor.columns.size() > 1 || different.size() == levels.size()) continue;
    return std::string(schema()[factor.columns.front().leaf].path);
  }
  return {};
}

}  // namespace

CellCollector::CellCollector(const SweepDocument& document, Grid& grid, Resolver& resolver,
                             Diagnostics& diagnostics, const SweepRequest& request,
                             std::uint64_t limit)
    : matching(document, resolver, diagnostics, request.matched),
      document_(document),
      grid_(grid),
      resolver_(resolver),
      diagnostics_(diagnostics),
      limit_(limit),
      naming_(document),
      scratch_(grid.base()) {
  const auto expected = static_cast<std::size_t>(std::min(limit, count_combinations(document)));
  cells.reserve(expected);
  digests_.reserve(expected);
  rows_.reserve(expected);
  names_.reserve(expected);
}

bool CellCollector::take(const Arm& arm, const Slots& written) {
  if (diagnostics_.failed()) return true;  // only search for further problems
  CellPlan plan;
  plan.arm = naming_.arm(arm);
  const bool baseline = !found_baseline_ && grid_.is_baseline(arm, written);
  const Slots* matched = matching.apply(arm, plan.arm, baseline, written);
  const Slots& resolved = matched != nullptr ? *matched : written;
  if (!base_) base_ = base_of(resolver_.shared_pool(), resolved);
  plan.factor = Naming::factor(arm);
  plan.tag = arm.include != nullptr ? arm.include->tag : "";
  plan.structure = structure_key(resolved);
  plan.overrides = overrides(resolved);
  found_baseline_ = found_baseline_ || baseline;
  plan.baseline = baseline;
  const StartName start = start_name(*resolved.values[leaf_rows().init_from]);
  const auto waits = start.is_cell() ? std::make_shared<const Slots>(resolved) : nullptr;
  Slots& slots = scratch_;
  slots = resolved;
  bool named = false;
  for (std::size_t r = 0; r < document_.seeds.size(); ++r) {
    set_seed(slots, document_.seeds[r], resolver_.pool());
    std::size_t row = cells.size();
    Sha256 digest{};
    std::string id;
    if (waits == nullptr) {
      digest = sha256(identity_text(slots));
      id = hex(digest, 12);
      row = rows_.emplace(id, row).first->second;
    }
    if (!plan.tag.empty()) starts_.add_tagged(plan.tag, r, row);
    if (row < cells.size()) {
      merge(arm.place, plan, row, digest);
      continue;
    }
    if (cells.size() >= limit_) {
      too_many_ = true;
      return false;
    }
    if (!named) plan.arm = unique(plan.arm);
    named = true;
    digests_.push_back(digest);
    CellPlan& cell = cells.emplace_back(plan);
    cell.seed = document_.seeds[r];
    cell.replicate = static_cast<std::int64_t>(r);
    cell.alias = plan.arm + ",s" + std::to_string(cell.seed);
    if (waits == nullptr) {
      set_identity(cell, slots, std::move(id));
    } else {
      const Place place = resolved.places[leaf_rows().init_from];
      starts_.add({row, r, waits, start, place.file >= 0 ? place : arm.place});
    }
  }
  return true;
}

void CellCollector::finish() {
  starts_.resolve(
      cells, [this](const WaitingCell& w, std::size_t source) { return resolve(w, source); },
      diagnostics_);
  if (diagnostics_.failed()) return;
  std::erase_if(cells, [](const CellPlan& cell) { return cell.id.empty(); });
}

/// Sets a draft's id once the cell it starts from has one.
std::size_t CellCollector::resolve(const WaitingCell& waiting, std::size_t source) {
  CellPlan& cell = cells[waiting.row];
  Slots& slots = scratch_;
  slots = *waiting.slots;
  set_seed(slots, cell.seed, resolver_.pool());
  const std::int64_t depth = depths_[source] + 1;
  slots.values[leaf_rows().init_from] = resolver_.pool().intern("cell:" + cells[source].id);
  slots.values[start_depth_slot()] = resolver_.pool().intern(depth);
  if (slots.is(leaf_rows().first_step, "source")) {
    const CellConfig& before = cells[source].config;
    slots.values[leaf_rows().first_step] =
        resolver_.pool().intern(before.integer("data.first_step") + before.integer("train.steps"));
  }
  const Sha256 digest = sha256(identity_text(slots));
  std::string id = hex(digest, 12);
  const auto [known, fresh] = rows_.emplace(id, waiting.row);
  if (!fresh) {
    merge(waiting.place, cell, known->second, digest);
    return known->second;
  }
  digests_[waiting.row] = digest;
  depths_[waiting.row] = depth;
  cell.structure = structure_key(slots);
  set_identity(cell, slots, std::move(id));
  starts.push_back({cell.id, cells[source].id, diagnostics_.at(waiting.place, "")});
  return waiting.row;
}

void CellCollector::set_identity(CellPlan& cell, const Slots& slots, std::string id) const {
  cell.id = std::move(id);
  cell.config = CellConfig(base_, delta(slots));
}

CellConfig::Delta CellCollector::delta(const Slots& slots) const {
  CellConfig::Delta out;
  for (std::size_t i = 0; i < slots.values.size(); ++i) {
    if (slots.values[i] != base_->values[i]) {
      out.emplace_back(static_cast<std::uint16_t>(i), slots.values[i]);
    }
  }
  return out;
}

ValueMap CellCollector::overrides(const Slots& slots) const {
  ValueMap out;
  for (const std::size_t leaf : naming_.varying()) {
    if (resolver_.reads(leaf, slots)) {
      out.emplace_back(schema()[leaf].path, static_cast<const Value&>(*slots.values[leaf]));
    }
  }
  return out;
}

void CellCollector::merge(Place place, const CellPlan& plan, std::size_t row,
                          const Sha256& digest) {
  CellPlan& kept = cells[row];
  if (digests_[row] != digest) {
    throw Error("two cells share the id " + kept.id + ": " + kept.alias + " and " + plan.arm);
  }
  kept.baseline = kept.baseline || plan.baseline;
  if (kept.tag.empty()) kept.tag = plan.tag;
  if (++merged_ <= kMostMergeNotes) {
    const std::string twice = plan.arm == kept.arm ? repeated_level(document_) : "";
    diagnostics_.note(
        place, "duplicate cell: " +
                   (twice.empty() ? plan.arm + " equals " + kept.alias
                                  : "two levels of `" + twice + "` are equal: " + kept.alias) +
                   " (" + kept.id + "); it is run once");
  } else if (merged_ == kMostMergeNotes + 1) {
    diagnostics_.note(document_.place, "further duplicate cells are merged, too");
  }
}

std::string CellCollector::unique(const std::string& name) {
  std::string out = name;
  for (int n = 2; !names_.insert(out).second; ++n) out = name + "#" + std::to_string(n);
  return out;
}

}  // namespace depthgrid
