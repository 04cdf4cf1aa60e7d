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

  /// "file:line:column: message".
  std::string heading() const;
  /// The heading, the source line and a caret.
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

/// One of the texts that a sweep was read from.
struct SweepSource {
  std::string file;  // as named on the command line or by `base:`; "--set" for overrides
  std::string text;
};

/// Most problems listed; a file with more is not a sweep file.
inline constexpr std::size_t kMostErrors = 500;

/// Collects problems and notes, and keeps the texts to quote them.
class Diagnostics {
 public:
  /// Registers a text under its name in messages. @return its index.
  int add_text(std::string name, std::string text);
  const std::string& name(int file) const { return texts_[static_cast<std::size_t>(file)].file; }
  const std::string& text(int file) const { return texts_[static_cast<std::size_t>(file)].text; }

  /// Equal messages at the same place are kept once, and at most kMostErrors.
  void error(Place place, const std::string& message);
  void note(Place place, const std::string& message);

  /// Marks the leaf's value as unknown because the written one was refused: rules that involve it
  /// stay silent, so that one mistake gives one message.
  void distrust(std::size_t leaf) { distrusted_.insert(leaf); }
  bool trusts(std::size_t leaf) const { return !distrusted_.contains(leaf); }

  bool failed() const { return !errors_.empty(); }
  std::size_t errors() const { return errors_.size(); }
  /// True once the list is full; callers may skip long explanations.
  bool full() const { return errors_.size() >= kMostErrors; }
  /// @throws SweepErrors, in the order of the texts, if there are errors.
  void throw_if_failed() const;
  /// All texts, in the order in which they were read.
  const std::vector<SweepSource>& sources() const { return texts_; }
  /// A problem for the caller to report.
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

/// nearest(): the candidate closest to a misspelt word, or "" if none is close (Damerau–Levenshtein
/// distance of at most a third of the length, but at least one).
std::size_t edit_distance(std::string_view a, std::string_view b);
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace depthgrid
