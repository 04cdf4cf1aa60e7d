#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace depthgrid {

// What the readers of labels, scores and answers have in common: JSON objects, one a line (JSONL),
// in which all mistakes are found before any is reported.

/// Mistakes that are reported in words; more are only counted.
inline constexpr std::size_t kNamedMistakes = 20;

class RecordMistakes {
 public:
  /// @param where  "labels.jsonl:3: spans[2]". @param what  on one line.
  void add(std::string_view where, std::string_view what);
  std::int64_t count() const noexcept { return count_; }
  /// "2 mistakes:" and an indented line for each of the first kNamedMistakes, then how many more.
  std::string text() const;

 private:
  std::vector<std::string> named_;
  std::int64_t count_ = 0;
};

/// Takes one record, a JSON object, and adds what is wrong with it. @param where  "labels.jsonl:3".
using TakeRecord = std::function<void(const std::string& where, const nlohmann::json& record,
                                      RecordMistakes& mistakes)>;

/// Calls `take` with each line of `jsonl` that is a JSON object; blank lines are passed over. A
/// line that is not UTF-8, no JSON, no object, or that has a member twice, is a mistake.
/// @param place  names the text: "labels.jsonl".
/// @return  the number of lines that are not blank.
std::int64_t each_json_record(std::string_view jsonl, const std::string& place,
                              const TakeRecord& take, RecordMistakes& mistakes);

/// The same for a file. @return the SHA-256 of its bytes, in 64 lower-case hexadecimal digits.
/// @throws UserError (NoInput) if it cannot be read, (BadData) if it is blank or no text, or with
///         all mistakes, of `take` too.
std::string read_json_records(const std::filesystem::path& file, const TakeRecord& take);

/// Adds a mistake for each member of `object` that is not `known`.
void refuse_other_members(const nlohmann::json& object, std::span<const std::string_view> known,
                          const std::string& where, RecordMistakes& mistakes);

/// Which numbers a label or a score may be, the ends included. Every one is finite.
struct ScoreRange {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();

  bool holds(double number) const noexcept;  // false for NaN
  std::string text() const;                  // "a number in [0, 1]"
};
inline constexpr ScoreRange kProbabilities{0, 1};

/// The numbers of an object by name, such as {"formality": 0.7}, in the order of `names`: (names),
/// NaN where a name is missing. A name that is not among them, and a value that is no number of
/// `range`, is a mistake.
/// @param where  "labels.jsonl:3: u".
std::vector<double> named_numbers(const nlohmann::json& object, std::span<const std::string> names,
                                  const ScoreRange& range, const std::string& where,
                                  RecordMistakes& mistakes);

/// A value as a message shows it: its JSON, or the beginning of it.
std::string shown_value(const nlohmann::json& value);

/// The beginning of a text, cut at a character, printable(); with "…" if there is more.
/// @param most  bytes.
std::string text_opening(std::string_view text, std::size_t most = 60);
/// The same in quotes, on one line.
std::string quoted_opening(std::string_view text, std::size_t most = 60);

}  // namespace depthgrid
