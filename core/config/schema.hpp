#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/config/value.hpp"

namespace depthgrid {

/// Version of the schema, part of every cell's identity. Adding a leaf does not change it.
inline constexpr int kSchemaVersion = 1;

/// Role of a leaf in identity and fusion.
enum class LeafClass : std::uint8_t {
  PerCell,       // identity; may differ inside one fused job
  PerCellUnion,  // as PerCell, but the alternative (which word, or whether zero) is in the fusion
                 // key
  Structural,    // identity and fusion key
  Execution,     // neither: belongs to the run
  Observation    // fusion key only: does not affect results
};

/// What of a leaf's value makes cells unequal in structure: what the fusion key holds.
enum class FusionPart : std::uint8_t {
  Nothing,
  Whole,        // the value
  Alternative,  // which word; without words, whether the number is zero
  TokenCount,   // of a capacity, the number of tokens that a layer executes of a sequence
  InCount,      // nothing by itself: it is in the TokenCount of another leaf
  ChainLength   // of a start, how many cells are trained one after another before this one
};

/// Type of a leaf.
enum class ValueKind : std::uint8_t {
  Bool,
  Int,
  Real,
  Word,        // one of `words`
  Text,        // any text: a path, a field name
  WordList,    // subset of `words`, kept in their order
  TextList,    // one text or a list of them
  StepList,    // steps (integers) or percentages ("10 %")
  LayerList,   // one of `words`, or a list of layers (integers)
  LayerRange,  // [a, b]: the layers a to b − 1
  TargetMap,   // one of `words`, or a map from a modulation target to one of them
  Schedule,    // one of `words`, {every: n}, {log_spaced: n} or {at: [steps or percentages]}
  RealList     // numbers, each between min and max
};

/// One row of the table of leaves. All texts are literals.
struct Leaf {
  std::string_view path;  // dotted, "train.lr"
  ValueKind kind;
  double min, max;          // of Int, Real and each of a RealList
  bool open_min, open_max;  // the bound itself is excluded
  std::string_view words;   // alternatives, separated by blanks; also beside a number ("auto off")
  bool nullable;            // null is allowed: the derived default
  std::string_view unit;
  std::string_view default_text;  // as YAML; "null" where the default is derived
  std::string_view derived;       // meaning of null, in words
  LeafClass leaf_class;
  std::string_view doc;
  /// Condition under which a cell reads the leaf: "model.positions=rope"; " or ", " & " and "!=";
  /// "a|b=x|y": any of the leaves has any of the values. Empty: always.
  std::string_view read_when;
  FusionPart fusion;            // follows from the class, but for a few rows
  std::string_view fused_when;  // as read_when: where `fusion` holds; elsewhere Nothing
  bool names_file = false;      // a text is a path, relative to the file that gives it

  /// "int", "real", "int or word", "list of words", ...
  std::string type() const;
  /// "8…8192", "> 0", the words, ...
  std::string range() const;
};

/// The table, in the order of the documentation.
std::span<const Leaf> schema();

/// Row of a path, or schema().size() if there is none.
std::size_t find_leaf(std::string_view path);
/// Row of a path that must exist. @throws Error for an unknown path (a caller's bug).
std::size_t leaf_index(std::string_view path);

/// Typed default of a row; null if derived.
const Value& default_value(std::size_t leaf);

std::string_view name_of(LeafClass leaf_class);

/// A top-level key of a sweep file that is not a leaf but describes the grid.
struct GridKey {
  std::string_view name, type, default_text, doc;
};
std::span<const GridKey> grid_keys();

/// Words of the grid key `match: {on: …}`, the quantity that it equalises: parameters of a cell,
/// floating-point operations per token of a forward pass, or seconds per training step on this
/// machine.
enum class MatchOn : std::uint8_t { Parameters, Flops, Time };
inline constexpr std::array<std::string_view, 3> kMatchOnNames = {"parameters", "flops", "time"};

/// Output of `depthgrid schema LEAF`: these rows, as text and as {"schema":1,"leaves":[...]}.
std::string leaves_text(std::span<const std::size_t> rows);
std::string leaves_json(std::span<const std::size_t> rows);

/// Output of `depthgrid schema`: one line per leaf.
std::string schema_text();
/// {"schema":1,"leaves":[{path,type,range,unit,default,class,read_when,doc}],"sweep":[...]}
std::string schema_json();
/// JSON Schema (draft-07) of a sweep file, for editors.
std::string json_schema();
/// docs/configuration.md.
std::string schema_markdown();

}  // namespace depthgrid
