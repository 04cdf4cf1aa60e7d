#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/cell_config.hpp"
#include "core/config/schema.hpp"
#include "core/config/yaml/diagnostics.hpp"

namespace depthgrid {

struct Slots;
class ValuePool;

/// A width found for `match:`. Once in a store's plan, it is read from there, so that neither
/// another machine nor another measurement changes the identity of a cell.
struct MatchedWidth {
  std::string arm, reference;  // names of arms
  std::string leaf;            // path of the free leaf
  MatchOn on = MatchOn::Parameters;
  std::int64_t value = 0;           // of the leaf
  double wanted = 0, achieved = 0;  // amounts of the reference and of the arm
  double tolerance = 0;             // allowed relative difference
  bool sealed = false;              // read from the plan of a store

  /// achieved / wanted - 1
  double difference() const { return achieved / wanted - 1; }
};

/// Widths to and from a JSON list, without `sealed`. @throws Error if the text is not such a list.
std::string matched_json(const std::vector<MatchedWidth>& widths);
std::vector<MatchedWidth> matched_from_json(std::string_view json);

/// "gpt has model.d_model = 120: 1,123,200 parameters, -0.5 % of 1,129,216 of mlp (allowed: 3 %)".
std::string matched_text(const MatchedWidth& width);

/// An arm with one candidate width.
struct MatchCandidate {
  std::string structure;  // fusion key
  CellConfig config;
};

/// An arm whose width is yet to be found.
class MatchGoal {
 public:
  /// @param slots  the arm as written, resolved. @param leaf  row of the free leaf.
  /// @param open   arm, reference, leaf, matched quantity and tolerance.
  /// @param where  the rule in the file.
  MatchGoal(MatchedWidth open, MatchCandidate reference, std::shared_ptr<const Slots> slots,
            std::shared_ptr<ValuePool> pool, std::size_t leaf, Diagnostic where);

  const MatchedWidth& open() const { return open_; }
  const MatchCandidate& reference() const { return reference_; }
  const Diagnostic& where() const { return where_; }

  /// Widths are smallest() + i * step() up to largest(): d_model is a multiple of n_heads.
  std::int64_t smallest() const { return smallest_; }
  std::int64_t largest() const { return largest_; }
  std::int64_t step() const { return step_; }
  /// The width given in the file, rounded to one of the above.
  std::int64_t written() const { return written_; }

  /// The arm with this width; nothing if a rule between leaves forbids it.
  std::optional<MatchCandidate> with(std::int64_t width) const;

 private:
  MatchedWidth open_;
  MatchCandidate reference_;
  std::shared_ptr<const Slots> slots_;
  std::shared_ptr<ValuePool> pool_;
  std::size_t leaf_;
  Diagnostic where_;
  std::int64_t smallest_, largest_, step_ = 1, written_;
};

/// Resolved slots as a cell.
MatchCandidate candidate_of(const Slots& slots, std::shared_ptr<ValuePool> pool);

}  // namespace depthgrid
