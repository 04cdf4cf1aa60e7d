#include "core/config/sweep/grid.hpp"

#include <algorithm>

#include "core/config/schema.hpp"
#include "core/config/sweep/overrides.hpp"

namespace depthgrid {
namespace {

/// This many problems have a common cause; expanding the rest would only repeat it.
constexpr std::size_t kEnoughErrors = 200;

void replace(std::vector<WrittenLeaf>& levels, const WrittenLeaf& change) {
  for (WrittenLeaf& one : levels) {
    if (one.leaf == change.leaf) {
      one = change;
      return;
    }
  }
  levels.push_back(change);
}

/// The next combination, the last factor fastest; false after the last.
bool advance(std::vector<std::size_t>& digits, const std::vector<Factor>& factors) {
  std::size_t f = digits.size();
  while (f > 0 && ++digits[f - 1] == factors[f - 1].size()) digits[--f] = 0;
  return f > 0;
}

}  // namespace

Grid::Grid(const SweepDocument& document, Resolver& resolver, Diagnostics& diagnostics)
    : document_(document),
      resolver_(resolver),
      diagnostics_(diagnostics),
      base_(resolver.start()),
      scratch_(base_),
      center_(document.factors.size(), 0),
      hits_(document.exclude.size(), 0),
      applied_(document.when.size(), false) {
  for (const auto& [leaf, written] : document.fixed) {
    base_.assign(leaf, written.value, written.place, Origin::Fixed);
  }
  choose_center();
}

void Grid::choose_center() {
  if (!document_.baseline) return;
  by_selection_ = !document_.baseline->tag.empty();
  for (const LeafCondition& one : document_.baseline->conditions) {
    bool found = false;
    for (std::size_t f = 0; f < document_.factors.size() && !found; ++f) {
      for (const Column& column : document_.factors[f].columns) {
        if (column.leaf != one.leaf) continue;
        const auto level = std::find_first_of(column.values.begin(), column.values.end(),
                                              one.values.begin(), one.values.end());
        if (level != column.values.end()) {
          center_[f] = static_cast<std::size_t>(level - column.values.begin());
          found = true;
        }
      }
    }
    by_selection_ = by_selection_ || !found;
  }
}

void Grid::walk(const Visit& visit) {
  bool go_on = true;
  if (document_.method == "grid") go_on = product(visit);
  if (document_.method == "ablation") go_on = ablation(visit);
  if (go_on && includes(visit)) {
    for (std::size_t i = 0; i < hits_.size(); ++i) {
      if (hits_[i] == 0) {
        diagnostics_.note(document_.exclude[i].place, "this `exclude` row matches no cell");
      }
    }
    for (std::size_t i = 0; i < applied_.size(); ++i) {
      if (!applied_[i]) {
        diagnostics_.note(document_.when[i].place, "the `if` of this `when` row holds for no cell");
      }
    }
  }
}

void Grid::add_level(std::vector<WrittenLeaf>& levels, const Factor& factor, std::size_t i) {
  for (const Column& column : factor.columns) {
    levels.push_back({column.leaf, column.values[i], column.places[i]});
  }
}

Arm Grid::centered() const {
  Arm arm;
  arm.place = document_.place;
  for (std::size_t f = 0; f < center_.size(); ++f) {
    add_level(arm.levels, document_.factors[f], center_[f]);
  }
  return arm;
}

bool Grid::product(const Visit& visit) {
  const auto& factors = document_.factors;
  std::vector<std::size_t> digits(factors.size(), 0);
  do {
    Arm arm;
    arm.place = document_.place;
    arm.center = digits == center_;
    for (std::size_t f = 0; f < factors.size(); ++f) add_level(arm.levels, factors[f], digits[f]);
    if (!complete(std::move(arm), 0, true, visit)) return false;
  } while (advance(digits, factors));
  return true;
}

bool Grid::ablation(const Visit& visit) {
  const auto& factors = document_.factors;
  Arm center = centered();
  center.center = true;
  if (!complete(center, 0, true, visit)) return false;
  const auto change = [&](Arm& arm, std::size_t f, std::size_t level) {
    std::vector<WrittenLeaf> levels;
    add_level(levels, factors[f], level);
    for (const WrittenLeaf& one : levels) {
      replace(arm.levels, one);
      arm.changed.push_back(one);
    }
    arm.place = levels.front().place;
  };
  for (std::size_t f = 0; f < factors.size(); ++f) {
    for (std::size_t level = 0; level < factors[f].size(); ++level) {
      if (level == center_[f]) continue;
      Arm arm = centered();
      change(arm, f, level);
      if (!complete(std::move(arm), 0, false, visit)) return false;
    }
  }
  if (!document_.pairs) return true;
  for (std::size_t f = 0; f < factors.size(); ++f) {
    for (std::size_t g = f + 1; g < factors.size(); ++g) {
      for (std::size_t i = 0; i < factors[f].size(); ++i) {
        for (std::size_t j = 0; j < factors[g].size(); ++j) {
          if (i == center_[f] || j == center_[g]) continue;
          Arm arm = centered();
          change(arm, f, i);
          change(arm, g, j);
          if (!complete(std::move(arm), 0, false, visit)) return false;
        }
      }
    }
  }
  return true;
}

bool Grid::includes(const Visit& visit) {
  for (const IncludeRow& row : document_.include) {
    Arm arm = centered();
    arm.include = &row;
    arm.place = row.place;
    if (!complete(std::move(arm), document_.when.size(), false, visit)) return false;
  }
  return true;
}

void Grid::note_what_presets_lose(const Slots& slots) {
  const std::size_t preset = leaf_rows().preset;
  if (slots.origins[preset] != Origin::Level) return;
  std::string lost;
  for (const auto& [leaf, value] : resolver_.preset(slots)) {
    if (slots.origins[leaf] != Origin::Fixed || slots.written[leaf] == value ||
        document_.overrides.contains(leaf)) {
      continue;
    }
    lost += (lost.empty() ? "`" : ", `") + std::string(schema()[leaf].path) + "`";
  }
  if (lost.empty()) return;
  diagnostics_.note(slots.places[preset],
                    "the fixed part sets " + lost + " otherwise than preset " +
                        *slots.written[preset]->get_if<std::string>() + ", and wins");
}

void Grid::assign(Slots& slots, const Arm& arm) {
  slots = base_;
  for (const WrittenLeaf& one : arm.levels) {
    slots.assign(one.leaf, one.value, one.place, Origin::Level);
  }
  for (const WrittenLeaf& one : arm.changed) {
    slots.assign(one.leaf, one.value, one.place, Origin::Row);
  }
  if (arm.include == nullptr) return;
  for (const WrittenLeaf& one : arm.include->leaves) {
    slots.assign(one.leaf, one.value, one.place, Origin::Row);
  }
  if (slots.origins[leaf_rows().preset] == Origin::Row) {
    // The row's preset takes precedence over the fixed part and the baseline's levels.
    for (const auto& [leaf, value] : resolver_.preset(slots)) {
      const Origin origin = slots.origins[leaf];
      if ((origin == Origin::Fixed || origin == Origin::Level) &&
          !document_.overrides.contains(leaf)) {
        slots.assign(leaf, value, slots.places[leaf_rows().preset], Origin::Level);
      }
    }
  }
  // A row starts from the values of its condition, unless it sets them itself.
  for (std::size_t i = 0; i < document_.when.size(); ++i) {
    Slots seen = slots;
    resolver_.fill(seen);
    if (!applies(i, seen)) continue;
    for (const Factor& factor : document_.when[i].factors) {
      const Column& column = factor.columns.front();
      slots.assign(column.leaf, column.values.front(), column.places.front(), Origin::Level);
    }
  }
}

bool Grid::hold(const std::vector<LeafCondition>& conditions, const Slots& slots) {
  return std::ranges::all_of(conditions, [&](const LeafCondition& one) {
    return std::ranges::any_of(one.values, [&](const PooledValue* value) {
      return slots.written[one.leaf] == value || slots.values[one.leaf] == value;
    });
  });
}

bool Grid::applies(std::size_t block, const Slots& slots) {
  const bool yes = hold(document_.when[block].condition, slots);
  applied_[block] = applied_[block] || yes;
  return yes;
}

bool Grid::complete(Arm arm, std::size_t block, bool every_level, const Visit& visit) {
  for (; block < document_.when.size(); ++block) {
    const WhenBlock& when = document_.when[block];
    Slots seen = base_;
    assign(seen, arm);
    resolver_.fill(seen);
    if (!applies(block, seen)) continue;
    std::vector<std::size_t> digits(when.factors.size(), 0);
    for (bool first = true;; first = false) {
      Arm further = arm;
      for (std::size_t f = 0; f < digits.size(); ++f) {
        std::vector<WrittenLeaf> level;
        add_level(level, when.factors[f], digits[f]);
        const bool twice =
            std::any_of(arm.levels.begin(), arm.levels.end(),
                        [&](const WrittenLeaf& one) { return one.leaf == level.front().leaf; });
        if (twice) {
          diagnostics_.error(level.front().place,
                             "two `when` rows that hold together both set `" +
                                 std::string(schema()[level.front().leaf].path) + "`");
        }
        further.levels.push_back(level.front());
        if (document_.method == "ablation" && digits[f] > 0) {
          further.changed.push_back(level.front());
          further.place = level.front().place;
        }
      }
      further.center = arm.center && first;
      if (!complete(std::move(further), block + 1, every_level, visit)) return false;
      // The change of an ablation keeps the first levels; around the baseline one varies at a time.
      if (!every_level) return true;
      if (document_.method == "ablation") {
        const auto at = std::find_if(digits.begin(), digits.end(), [](auto d) { return d > 0; });
        std::size_t moving = static_cast<std::size_t>(at - digits.begin());
        if (at == digits.end()) moving = 0;
        while (moving < digits.size() && ++digits[moving] == when.factors[moving].size()) {
          digits[moving++] = 0;
        }
        if (moving == digits.size()) return true;
        continue;
      }
      if (!advance(digits, when.factors)) return true;
    }
  }
  return finish(arm, visit);
}

bool Grid::finish(const Arm& arm, const Visit& visit) {
  assign(scratch_, arm);
  note_what_presets_lose(scratch_);
  if (arm.include == nullptr && !document_.exclude.empty()) {
    resolver_.fill(scratch_);
    for (std::size_t i = 0; i < hits_.size(); ++i) {
      if (hold(document_.exclude[i].conditions, scratch_)) {
        ++hits_[i];
        return true;
      }
    }
  }
  const bool named = arm.include != nullptr || !arm.changed.empty();
  resolver_.finalise(scratch_, arm.place, named);
  if (diagnostics_.errors() > kEnoughErrors) return false;
  return visit(arm, scratch_);
}

bool Grid::is_baseline(const Arm& arm, const Slots& slots) const {
  if (!by_selection_) {
    return document_.method == "list" ? arm.include == &document_.include.front() : arm.center;
  }
  return selects(*document_.baseline, arm, slots);
}

bool Grid::selects(const ArmSelection& selection, const Arm& arm, const Slots& slots) {
  const std::string& tag = selection.tag;
  if (!tag.empty() && (arm.include == nullptr || arm.include->tag != tag)) return false;
  return hold(selection.conditions, slots);
}

}  // namespace depthgrid
