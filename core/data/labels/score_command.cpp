#include "core/data/labels/score_command.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/command.hpp"
#include "core/base/error.hpp"
#include "core/base/json_text.hpp"
#include "core/base/nan.hpp"
#include "core/base/printable.hpp"
#include "core/data/labels/json_records.hpp"
#include "core/data/labels/score_cache.hpp"

namespace depthgrid {
namespace {

constexpr std::array<std::string_view, 2> kAnswerMembers{"id", "scores"};
constexpr std::size_t kNamedMissing = 5;                     // ids that a message names
constexpr std::size_t kLinesOfStderr = 10;                   // that a message holds
constexpr std::size_t kMostOfAnswer = 1024;                  // bytes, and as many for each name
constexpr std::size_t kMostOfOther = std::size_t{1} << 20U;  // bytes that are no answers
constexpr std::string_view kStdout = "stdout";

[[noreturn]] void refuse_command(const ScoreCommand& command, ExitCode code,
                                 const std::string& why) {
  std::string line;
  for (const std::string& word : command.argv) line += (line.empty() ? "" : " ") + shell_word(word);
  const std::string leaf = command.leaf.empty() ? "" : command.leaf + ": ";
  throw UserError(code, fmt::format("{}the command  {}  {}", leaf, clipped(line, 120), why));
}

void require_sound(const ScoreCommand& command) {
  if (command.argv.empty() || command.argv.front().empty()) {
    refuse_command(command, ExitCode::Usage,
                   "has no program: expected its name or path, then its arguments");
  }
  if (!(command.timeout_s > 0)) {
    refuse_command(command, ExitCode::Usage,
                   fmt::format("has a time-out of {:g} s: expected a positive number of seconds",
                               command.timeout_s));
  }
}

/// Texts without repetition, in the order of their first places.
struct DistinctTexts {
  std::vector<std::string_view> texts;
  std::vector<std::size_t> places;  // of each given text in `texts`
};

DistinctTexts distinct_of(std::span<const std::string_view> given) {
  DistinctTexts out;
  std::unordered_map<std::string_view, std::size_t> known;
  out.places.reserve(given.size());
  for (const std::string_view text : given) {
    const auto [entry, is_new] = known.try_emplace(text, out.texts.size());
    if (is_new) out.texts.push_back(text);
    out.places.push_back(entry->second);
  }
  return out;
}

std::string questions_of(std::span<const std::string_view> texts) {
  std::string out;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    out += fmt::format("{{\"id\":{},\"text\":{}}}\n", i,
                       json_text(nlohmann::json(std::string(texts[i]))));
  }
  return out;
}

/// The last lines that the command wrote to stderr, for the end of a message; empty if it wrote
/// none.
std::string end_of_stderr(std::string_view err) {
  while (err.ends_with('\n')) err.remove_suffix(1);
  if (err.empty()) return {};
  std::size_t at = err.size();
  for (std::size_t n = 0; n < kLinesOfStderr && at != std::string_view::npos; ++n) {
    at = at == 0 ? std::string_view::npos : err.rfind('\n', at - 1);
  }
  const std::string_view lines = at == std::string_view::npos ? err : err.substr(at + 1);
  std::string out = "\n  its last lines on stderr:";
  for (std::size_t from = 0; from <= lines.size();) {
    const std::size_t end = std::min(lines.find('\n', from), lines.size());
    out += "\n    " + text_opening(lines.substr(from, end - from), 400);
    from = end + 1;
  }
  return out;
}

/// Why an end of the command is none with answers; empty if it may be.
std::string failure_of(const CommandAnswer& answer, double seconds) {
  if (answer.late) {
    const auto lines = std::count(answer.out.begin(), answer.out.end(), '\n');
    return fmt::format(
        "was ended after its time-out of {:g} s, in which it wrote {} lines: give it more time, or "
        "make it faster",
        seconds, lines);
  }
  if (answer.too_much) {
    return fmt::format("was ended after it wrote {} bytes, more than answers can be, the first: {}",
                       answer.out.size(), text_opening(answer.out));
  }
  if (answer.by_signal != 0) {
    return fmt::format("was ended by signal {} ({})", answer.by_signal,
                       strsignal(answer.by_signal));
  }
  if (answer.code != 0) return fmt::format("ended with exit code {}: expected 0", answer.code);
  return {};
}

/// The id of an answer to one of `asked` questions; nothing, and a mistake, if it is none.
std::optional<std::size_t> id_of_answer(const nlohmann::json& record, std::size_t asked,
                                        const std::string& where, RecordMistakes& mistakes) {
  const auto found = record.find("id");
  if (found == record.end()) {
    mistakes.add(where, "no member 'id': expected that of the question");
    return std::nullopt;
  }
  if (!found->is_number_unsigned() || found->get<std::uint64_t>() >= asked) {
    mistakes.add(where, fmt::format("id {} was not asked: ids are whole numbers from 0 to {}",
                                    shown_value(*found), asked - 1));
    return std::nullopt;
  }
  return static_cast<std::size_t>(found->get<std::uint64_t>());
}

/// What came back, as far as it has been read.
class AnswerSheet {
 public:
  AnswerSheet(const ScoreCommand& command, std::span<const std::string_view> texts)
      : names_(command.names),
        range_(command.probability ? kProbabilities : ScoreRange{}),
        texts_(texts),
        places_(texts.size()),
        scores_(texts.size() * command.names.size(), kNaN) {}

  void take(const std::string& where, const nlohmann::json& record, RecordMistakes& mistakes) {
    refuse_other_members(record, kAnswerMembers, where, mistakes);
    auto id = id_of_answer(record, texts_.size(), where, mistakes);
    if (id && !places_[*id].empty()) {
      mistakes.add(where, fmt::format("id {} was answered at {} already", *id, places_[*id]));
      id.reset();
    }
    if (id) places_[*id] = where;
    const auto given = record.find("scores");
    if (given == record.end()) {
      mistakes.add(where, "no member 'scores': expected numbers by name");
      return;
    }
    const std::string place = where + ": scores";
    const std::vector<double> row = named_numbers(*given, names_, range_, place, mistakes);
    if (!given->is_object()) return;
    for (const std::string& name : names_) {
      if (!given->contains(name)) mistakes.add(place, fmt::format("no number for '{}'", name));
    }
    if (!id) return;
    std::ranges::copy(row, scores_.begin() + static_cast<std::ptrdiff_t>(*id * names_.size()));
  }

  /// Adds a mistake if there are texts without an answer. @param took_input  see CommandAnswer.
  void refuse_missing(bool took_input, RecordMistakes& mistakes) const {
    std::string named;
    std::size_t missing = 0;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (!places_[i].empty()) continue;
      if (missing < kNamedMissing) {
        named += fmt::format("{}id {} {}", missing == 0 ? "" : ", ", i, quoted_opening(texts_[i]));
      }
      ++missing;
    }
    if (missing == 0) return;
    mistakes.add(kStdout, fmt::format("{} of {} answers are missing: {}{}{}", missing,
                                      places_.size(), named, missing > kNamedMissing ? ", …" : "",
                                      took_input ? "" : "; it did not read all questions"));
  }

  const std::vector<double>& scores() const noexcept { return scores_; }

 private:
  const std::vector<std::string>& names_;
  ScoreRange range_;
  std::span<const std::string_view> texts_;
  std::vector<std::string> places_;  // (texts) where each was answered; empty = nowhere
  std::vector<double> scores_;       // (texts, names)
};

/// The command's scores of texts: (texts, names).
/// @throws UserError, see run_score_command().
std::vector<double> answers_of(const ScoreCommand& command,
                               std::span<const std::string_view> texts) {
  const CommandQuestion question{
      .child = {.command = command.argv, .err = {.kind = ChildStream::Kind::Pipe}},
      .seconds = command.timeout_s,
      .most_output = kMostOfOther + texts.size() * (command.names.size() + 1) * kMostOfAnswer,
      .stop = command.stop};
  CommandAnswer answer;
  try {
    answer = ask(question, questions_of(texts));
  } catch (const StartError& problem) {
    refuse_command(command, ExitCode::BadConfig,
                   fmt::format("cannot be started: {}: {}", problem.program(), problem.reason()));
  }
  if (answer.stopped) {
    refuse_command(command, ExitCode::TempFail, "was ended because this process is to stop");
  }
  const std::string failure = failure_of(answer, command.timeout_s);
  if (!failure.empty()) {
    refuse_command(command, ExitCode::BadData, failure + end_of_stderr(answer.err));
  }
  AnswerSheet sheet(command, texts);
  RecordMistakes mistakes;
  const auto take = [&sheet](const std::string& where, const nlohmann::json& record,
                             RecordMistakes& to) { sheet.take(where, record, to); };
  each_json_record(answer.out, std::string(kStdout), take, mistakes);
  sheet.refuse_missing(answer.took_input, mistakes);
  if (mistakes.count() > 0) {
    refuse_command(command, ExitCode::BadData,
                   "gave answers that cannot be used, so none was: " + mistakes.text() +
                       end_of_stderr(answer.err));
  }
  return sheet.scores();
}

}  // namespace

CommandScores run_score_command(const ScoreCommand& command,
                                std::span<const std::string_view> texts) {
  require_sound(command);
  const ScoreRange range = command.probability ? kProbabilities : ScoreRange{};
  const std::size_t width = command.names.size();
  const DistinctTexts distinct = distinct_of(texts);
  std::vector<std::string> asks = command.argv;
  asks.insert(asks.end(), command.versions.begin(), command.versions.end());
  ScoreCache cache(command.cache, asks, command.names);
  std::vector<double> rows(distinct.texts.size() * width, kNaN);
  const auto row_at = [&](std::size_t i) {
    return rows.begin() + static_cast<std::ptrdiff_t>(i * width);
  };
  std::vector<std::size_t> lacking;  // of distinct.texts
  std::vector<std::string> keys;     // of those
  std::vector<std::string_view> asked;
  for (std::size_t i = 0; i < distinct.texts.size(); ++i) {
    std::string key = cache.key(distinct.texts[i]);
    const std::vector<double>* const known = cache.find(key);
    // Answers of a time when another range was allowed are asked again, and refused then.
    if (known != nullptr &&
        std::ranges::all_of(*known, [&](double score) { return range.holds(score); })) {
      std::ranges::copy(*known, row_at(i));
      continue;
    }
    lacking.push_back(i);
    keys.push_back(std::move(key));
    asked.push_back(distinct.texts[i]);
  }
  if (!asked.empty()) {
    const std::vector<double> answers = answers_of(command, asked);
    for (std::size_t j = 0; j < asked.size(); ++j) {
      const std::span<const double> row = std::span(answers).subspan(j * width, width);
      std::ranges::copy(row, row_at(lacking[j]));
      cache.add(keys[j], row);
    }
    cache.keep();
  }
  CommandScores out;
  out.asked = static_cast<std::int64_t>(asked.size());
  out.cached = static_cast<std::int64_t>(distinct.texts.size() - asked.size());
  out.scores.reserve(texts.size() * width);
  for (const std::size_t place : distinct.places) {
    out.scores.insert(out.scores.end(), row_at(place),
                      row_at(place) + static_cast<std::ptrdiff_t>(width));
  }
  return out;
}

}  // namespace depthgrid
