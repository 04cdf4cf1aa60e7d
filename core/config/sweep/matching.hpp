#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/config/match.hpp"
#include "core/config/sweep/grid.hpp"

namespace depthgrid {

/// Applies the rules of `match:` while a grid is walked: remembers each rule's reference; an arm
/// subject to a rule gets the width found for it, or becomes a goal.
class Matching {
 public:
  /// @param known  widths found before; those of other rules are ignored.
  Matching(const SweepDocument& document, Resolver& resolver, Diagnostics& diagnostics,
           const std::vector<MatchedWidth>& known);

  /// @param name  of the arm; of several arms with one name only the first keeps it.
  /// @return  the arm with the width found for it, resolved, valid until the next call; null if the
  ///          arm is unchanged.
  const Slots* apply(const Arm& arm, const std::string& name, bool baseline, const Slots& resolved);

  /// Reports rules without a reference or without an arm.
  void finish();

  /// Set by finish(): arms without a width; widths used, in the order of the arms.
  std::vector<MatchGoal> goals;
  std::vector<MatchedWidth> taken;

 private:
  struct Target {
    std::string name;
    std::shared_ptr<const Slots> slots;  // as written
    const MatchedWidth* known = nullptr;
  };
  struct Rule {
    const MatchRow* row;
    std::string reference;
    std::optional<MatchCandidate> candidate;  // the reference as a cell
    std::vector<Target> targets;
  };

  void remember(Rule& rule, const std::string& name, const Slots& resolved);
  bool fits(const Rule& rule, const std::string& name, const Slots& resolved);
  const MatchedWidth* find(const Rule& rule, const std::string& name) const;

  Resolver& resolver_;
  Diagnostics& diagnostics_;
  const std::vector<MatchedWidth>& known_;
  std::vector<Rule> rules_;
  std::set<std::string> names_;
  std::optional<Slots> scratch_;
};

}  // namespace depthgrid
