#include "core/config/sweep/matching.hpp"

#include <algorithm>

#include "core/config/schema.hpp"

namespace depthgrid {

Matching::Matching(const SweepDocument& document, Resolver& resolver, Diagnostics& diagnostics,
                   const std::vector<MatchedWidth>& known)
    : resolver_(resolver), diagnostics_(diagnostics), known_(known) {
  for (const MatchRow& row : document.match) rules_.push_back({&row, "", {}, {}});
}

void Matching::remember(Rule& rule, const std::string& name, const Slots& resolved) {
  if (rule.candidate) {
    diagnostics_.error(rule.row->place, "`match.reference` names several arms: " + rule.reference +
                                            " and " + name + "; name leaves that one arm has");
    return;
  }
  rule.reference = name;
  rule.candidate = candidate_of(resolved, resolver_.shared_pool());
}

bool Matching::fits(const Rule& rule, const std::string& name, const Slots& resolved) {
  const std::size_t leaf = rule.row->vary;
  const std::string path(schema()[leaf].path);
  if (resolved.origins[leaf] > Origin::Fixed) {
    diagnostics_.error(resolved.places[leaf],
                       "`" + path + "` of arm " + name + " is what `match` (line " +
                           std::to_string(rule.row->place.line) + ") sets: take it out here");
    return false;
  }
  if (!resolver_.reads(leaf, resolved)) {
    diagnostics_.error(rule.row->place, "`match.vary`: arm " + name + " does not read `" + path +
                                            "`; name a leaf that it reads, or leave it out of "
                                            "`match.arms`");
    return false;
  }
  return true;
}

const MatchedWidth* Matching::find(const Rule& rule, const std::string& name) const {
  const auto at = std::ranges::find_if(known_, [&](const MatchedWidth& w) {
    return w.arm == name && w.on == rule.row->on && w.leaf == schema()[rule.row->vary].path;
  });
  return at == known_.end() ? nullptr : &*at;
}

const Slots* Matching::apply(const Arm& arm, const std::string& name, bool baseline,
                             const Slots& resolved) {
  if (rules_.empty()) return nullptr;
  std::string unique = name;
  for (int n = 2; !names_.insert(unique).second; ++n) unique = name + "#" + std::to_string(n);
  Rule* target = nullptr;
  bool reference = false;
  for (Rule& rule : rules_) {
    const MatchRow& row = *rule.row;
    if (row.reference ? Grid::selects(*row.reference, arm, resolved) : baseline) {
      remember(rule, unique, resolved);
      reference = true;
    } else if (!row.arms || Grid::selects(*row.arms, arm, resolved)) {
      if (target != nullptr) {
        diagnostics_.error(row.place, "`match`: arm " + unique + " has a rule already (line " +
                                          std::to_string(target->row->place.line) + ")");
      }
      target = &rule;
    }
  }
  if (target == nullptr) return nullptr;
  if (reference) {
    diagnostics_.error(target->row->place, "`match`: arm " + unique +
                                               " is a reference and would be matched itself: name "
                                               "the arms to be matched with `arms:`");
    return nullptr;
  }
  if (!fits(*target, unique, resolved)) return nullptr;
  const MatchedWidth* known = find(*target, unique);
  target->targets.push_back({unique, std::make_shared<const Slots>(resolved), known});
  if (known == nullptr) return nullptr;
  scratch_ = resolved;
  scratch_->assign(target->row->vary, resolver_.pool().intern(Value(known->value)),
                   target->row->place, Origin::Row);
  resolver_.finalise(*scratch_, target->row->place, true);
  return &*scratch_;
}

void Matching::finish() {
  for (Rule& rule : rules_) {
    const MatchRow& row = *rule.row;
    if (!rule.candidate) {
      diagnostics_.error(row.place, "`match.reference` names no arm of the sweep");
      continue;
    }
    if (rule.targets.empty()) {
      diagnostics_.error(row.place, "`match`: no arm to be matched to " + rule.reference);
      continue;
    }
    const MatchCandidate& reference = *rule.candidate;
    for (const Target& target : rule.targets) {
      if (target.known != nullptr && target.known->reference == rule.reference) {
        taken.push_back(*target.known);
        continue;
      }
      MatchedWidth open;
      open.arm = target.name;
      open.reference = rule.reference;
      open.leaf = schema()[row.vary].path;
      open.on = row.on;
      open.tolerance = row.tolerance;
      goals.emplace_back(std::move(open), reference, target.slots, resolver_.shared_pool(),
                         row.vary, diagnostics_.at(row.place, ""));
    }
  }
}

}  // namespace depthgrid
