#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/config/sweep/grid.hpp"

namespace depthgrid {

/// Short, readable names of arms: the last part of each varying leaf and its value, a real number
/// with three significant digits where these distinguish it from the leaf's other values.
class Naming {
 public:
  explicit Naming(const SweepDocument& document);

  /// "hidden=64,scale=1/L"; the tag of an include row, if any; the changes of an ablation;
  /// "baseline" if nothing varies.
  std::string arm(const Arm& arm) const;

  /// Leaves changed by an ablation, joined by "+"; else empty.
  static std::string factor(const Arm& arm);

  /// Every leaf that some cell of the sweep sets differently, by path.
  const std::vector<std::size_t>& varying() const { return varying_; }

 private:
  std::string value_text(const WrittenLeaf& one) const;

  bool ablation_;
  std::vector<std::size_t> varying_;
  std::map<std::size_t, std::string> short_names_;  // of leaves shown in names
  /// Values of a leaf by their text with three digits.
  std::map<std::pair<std::size_t, std::string>, std::set<const PooledValue*>> rounded_;
};

}  // namespace depthgrid
