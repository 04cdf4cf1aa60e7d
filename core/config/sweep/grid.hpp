#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/config/resolve/resolve.hpp"
#include "core/config/sweep/sweep_document.hpp"

namespace depthgrid {

/// One point of the grid, without a seed.
struct Arm {
  std::vector<WrittenLeaf> levels;   // in the order of the factors, those of `when` last
  std::vector<WrittenLeaf> changed;  // ablation: what differs from the baseline
  const IncludeRow* include = nullptr;
  bool center = false;  // first level (or the baseline's) of every factor
  Place place;
};

/// Walks the grid in order: parameters and zip as a product (the first factor slowest), then
/// `when`, `exclude`, and finally `include` rows. Only one arm exists at a time.
class Grid {
 public:
  Grid(const SweepDocument& document, Resolver& resolver, Diagnostics& diagnostics);

  /// The fixed part of the document.
  const Slots& base() const { return base_; }

  /// Returns false to stop. The slots are final: resolved and checked.
  using Visit = std::function<bool(const Arm& arm, const Slots& slots)>;
  void walk(const Visit& visit);

  bool is_baseline(const Arm& arm, const Slots& slots) const;
  /// True if a selection includes the arm. @param slots  of the arm, resolved.
  static bool selects(const ArmSelection& selection, const Arm& arm, const Slots& slots);

 private:
  void choose_center();
  bool product(const Visit& visit);
  bool ablation(const Visit& visit);
  bool includes(const Visit& visit);
  Arm centered() const;
  /// Expands `when` from the given block on, drops excluded arms, visits the rest.
  bool complete(Arm arm, std::size_t block, bool every_level, const Visit& visit);
  bool finish(const Arm& arm, const Visit& visit);
  void assign(Slots& slots, const Arm& arm);
  /// Notes leaves of the fixed part that override a preset at a factor's level: not obvious.
  void note_what_presets_lose(const Slots& slots);
  static bool hold(const std::vector<LeafCondition>& conditions, const Slots& slots);
  /// hold() of the condition of a `when` row, remembered.
  bool applies(std::size_t block, const Slots& slots);
  static void add_level(std::vector<WrittenLeaf>& levels, const Factor& factor, std::size_t i);

  const SweepDocument& document_;
  Resolver& resolver_;
  Diagnostics& diagnostics_;
  Slots base_;
  Slots scratch_;
  std::vector<std::size_t> center_;  // level of each factor
  bool by_selection_ = false;
  std::vector<std::size_t> hits_;  // of each exclude row
  std::vector<bool> applied_;      // of each when row
};

}  // namespace depthgrid
