#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "core/config/sweep/leaf_reader.hpp"
#include "core/config/sweep/sweep_document.hpp"

namespace depthgrid {

/// Reads a sweep file and its bases into a document.
class SweepReader {
 public:
  SweepReader(ValuePool& pool, Diagnostics& diagnostics);

  /// @throws StorageError (NoInput) if the file itself cannot be read; all else is reported.
  SweepDocument read(const std::filesystem::path& file);

  /// False if a text could not be read completely: the rest would be reported as missing.
  bool complete() const { return complete_; }

  /// Reads one sweep-level key of a file or override. @return false if it is not one.
  bool read_key(SweepDocument& document, const std::string& key, Place place,
                const YamlNode& value);

 private:
  void read_base(SweepDocument& document, const std::filesystem::path& file, const YamlNode& node);
  void read_document(SweepDocument& document, const std::filesystem::path& file, int text,
                     bool is_base);
  void read_leaf(SweepDocument& document, std::size_t leaf, Place key, const YamlNode& value);
  void read_metric(SweepDocument& document, const YamlNode& node);
  void read_seeds(SweepDocument& document, const YamlNode& node);
  void read_order(SweepDocument& document, const YamlNode& node);
  void read_overrides(SweepDocument& document, const YamlNode& node);
  void read_tags(SweepDocument& document, const YamlNode& node);
  void read_parameters(std::vector<Factor>& factors, const YamlNode& node);
  void read_zip(SweepDocument& document, const YamlNode& node);
  void read_when(SweepDocument& document, const YamlNode& node);
  void read_exclude(SweepDocument& document, const YamlNode& node);
  void read_include(SweepDocument& document, const YamlNode& node);
  void read_baseline(SweepDocument& document, const YamlNode& node);
  std::vector<LeafCondition> read_conditions(const YamlNode& node, std::string_view skip);
  bool expect_rows(const YamlNode& node, std::string_view what, std::string_view row);

  ValuePool& pool_;
  Diagnostics& diagnostics_;
  LeafReader leaves_;
  std::vector<std::filesystem::path> open_;  // files being read, for cycles
  bool complete_ = true;
  std::set<std::size_t> written_;  // leaves of the text being read
};

/// {leaf: value, ..., tag: name}: selects arms. Problems are reported.
/// @param what  its key, for messages.
ArmSelection read_selection(const YamlNode& node, std::string_view what, LeafReader& leaves,
                            Diagnostics& diagnostics);

/// The value of `match`: one rule {on, vary, tolerance, reference, arms}, or a list of them.
std::vector<MatchRow> read_match(const YamlNode& node, LeafReader& leaves,
                                 Diagnostics& diagnostics);

/// Reports contradictions in a document: a leaf that is fixed and swept, or swept twice, a grid in
/// `method: list`, a metric of a split that is not evaluated.
void check_document(SweepDocument& document, Diagnostics& diagnostics);

/// Notes that a `seed` above 1 is one run, where so many may be meant.
/// @param sign  between key and value: ": " of a file, "=" of --set.
void note_one_seed(std::int64_t seed, std::string_view sign, Place place, Diagnostics& diagnostics);

}  // namespace depthgrid
