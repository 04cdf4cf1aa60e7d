#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/base/error.hpp"

namespace depthgrid {

/// One problem of a sweep file at its place.
struct Diagnostic {
  std::string file;
  int line = 0;    // 1-based; 0 = the whole file
  int column = 0;  // 1-based, in characters
  std::string message;
  std::string source_line;

  /// "file:line:column: message", the source line and a caret.
  std::string text() const;
};

/// All problems of a sweep file; what() renders each with its line and a caret.
class SweepErrors : public UserError {
 public:
  explicit SweepErrors(std::vector<Diagnostic> diagnostics);
  const std::vector<Diagnostic>& diagnostics() const noexcept { return diagnostics_; }

 private:
  std::vector<Diagnostic> diagnostics_;
};

/// A place in one of the texts read; file is an index into Diagnostics.
struct Place {
  int file = -1;  // -1: nowhere (a default)
  int line = 0;
  int column = 0;  // 1-based, in bytes

  auto operator<=>(const Place&) const = default;
};

/// A text that a sweep was read from.
struct SweepSource {
  std::string file;  // as named on the command line or by `base:`; "--set" for overrides
  std::string text;
};

/// So many problems are listed; a file with more is not a sweep file.
inline constexpr std::size_t kMostErrors = 500;

/// Collects problems and notes; knows the texts, so that it can quote them.
class Diagnostics {
 public:
  /// Registers a text; `name` is how messages call it. @return its index.
  int add_text(std::string name, std::string text);
  const std::string& name(int file) const { return texts_[static_cast<std::size_t>(file)].file; }
  const std::string& text(int file) const { return texts_[static_cast<std::size_t>(file)].text; }

  /// The same message at the same place is kept once; at most kMostErrors are kept.
  void error(Place place, const std::string& message);
  void note(Place place, const std::string& message);

  /// The value of this leaf is unknown because what was written for it was refused: rules that
  /// look at it stay silent, so that one mistake is one message.
  void distrust(std::size_t leaf) { distrusted_.insert(leaf); }
  bool trusts(std::size_t leaf) const { return !distrusted_.contains(leaf); }

  bool failed() const { return !errors_.empty(); }
  std::size_t errors() const { return errors_.size(); }
  /// Further problems are counted no more: whoever explains at length may stop.
  bool full() const { return errors_.size() >= kMostErrors; }
  /// @throws SweepErrors, in the order of the texts, if there is any error.
  void throw_if_failed() const;
  /// All texts, in the order in which they were read.
  const std::vector<SweepSource>& sources() const { return texts_; }
  /// A problem that somebody else will report.
  Diagnostic at(Place place, const std::string& message) const {
    return diagnostic({place, message});
  }
  /// "file:line:column: message" each.
  std::vector<std::string> notes() const;

 private:
  struct Entry {
    Place place;
    std::string message;
  };
  Diagnostic diagnostic(const Entry& entry) const;

  std::vector<SweepSource> texts_;
  std::vector<Entry> errors_, notes_;
  std::set<std::tuple<Place, std::string>> seen_;
  std::set<std::size_t> distrusted_;
};

/// The candidate nearest to a misspelt word, or "" if none is near (Damerau–Levenshtein distance of
/// at most a third of the length, and at least one).
std::size_t edit_distance(std::string_view a, std::string_view b);
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace depthgrid
