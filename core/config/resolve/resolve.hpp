#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/config/presets.hpp"
#include "core/config/resolve/derive.hpp"
#include "core/config/resolve/schema_condition.hpp"

namespace depthgrid {

/// Resolves a cell's written leaves to values, and refuses leaves that it would not read.
class Resolver {
 public:
  Resolver(std::shared_ptr<ValuePool> pool, Diagnostics& diagnostics);

  /// All leaves at their defaults.
  Slots start() const { return Slots(*pool_); }

  /// Fills the preset and derived defaults; checks nothing.
  void fill(Slots& slots);

  /// Leaves filled in by the written preset; empty without one.
  const std::vector<PresetLeaf>& preset(const Slots& slots);

  /// As fill(), then refuses leaves that the cell does not read and checks rules between leaves.
  /// @param arm   where the cell is written, for problems without a leaf in a file.
  /// @param drop  unread leaves that the arm does not name itself (Origin below Row) are dropped
  ///              with a note instead: for include rows and the changes of an ablation.
  void finalise(Slots& slots, Place arm, bool drop);

  /// Refuses leaves of class Execution that no resolved cell reads; notes such of class
  /// Observation, which change no result: a probe may be switched off with what it was asked left
  /// standing.
  void finish(const Slots& base);

  /// True if a cell reads the leaf, by the `read_when` column of the schema.
  bool reads(std::size_t leaf, const Slots& slots) const {
    return read_when_[leaf].holds(slots.lookup());
  }
  ValuePool& pool() { return *pool_; }
  const std::shared_ptr<ValuePool>& shared_pool() const { return pool_; }

 private:
  bool drop_unread(Slots& slots, bool drop, std::string* dropped);
  void find_corpus(Slots& slots, Place arm);
  /// Digest of the files that a leaf names; nothing, and an error, if one cannot be read.
  std::optional<std::string> content_of(std::size_t leaf, const Slots& slots, Place arm);
  void find_labels(Slots& slots, Place arm);
  /// The same of one file.
  std::optional<std::string> digest_of_file(std::size_t leaf, const std::string& file,
                                            const Slots& slots, Place arm);
  void check_files(const Slots& slots, Place arm);
  void find_start(Slots& slots, Place arm);
  /// False if a leaf of its condition has no trusted value.
  bool certain(std::size_t leaf) const;
  /// "`model.rope_base` is read with `model.positions: rope`; here `model.positions` is `learned`".
  std::string explain(std::size_t leaf, const Slots& slots) const;
  /// " (nearest leaf that is read: `model.positions`)", for one written in the place of another.
  std::string nearest_read(std::size_t leaf, const Slots& slots) const;

  std::shared_ptr<ValuePool> pool_;
  Diagnostics& diagnostics_;
  Deriver deriver_;
  std::vector<SchemaCondition> read_when_;  // by leaf
  std::map<const PooledValue*, std::vector<PresetLeaf>> presets_;
  std::map<std::array<const PooledValue*, 3>, const PooledValue*>
      corpora_;  // data.path, data.valid, data.format -> digest
  std::set<std::array<const PooledValue*, 9>> checked_files_;
  std::map<const PooledValue*, const PooledValue*> starts_;     // path -> digest
  std::map<const PooledValue*, const PooledValue*> own_files_;  // path -> digest
  std::vector<LeafClass> classes_;                              // by leaf
  std::vector<bool> read_;                                      // by leaf: by a resolved cell
  /// By leaf: where a cell did not read it first, and why.
  std::vector<std::optional<std::pair<Place, std::string>>> unread_observations_;
};

}  // namespace depthgrid
