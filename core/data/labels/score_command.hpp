#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace depthgrid {

/// A user's classifier, as `train.control.labels.command` names it.
///
/// It is started once, without a shell, and gets on its standard input one line for each text,
/// {"id": 0, "text": "..."}, with ids from 0 in the order of the texts; then the input ends. On its
/// standard output it writes one line for each id, {"id": 0, "scores": {"formality": 0.3}}, in any
/// order, with a finite number for each name, and nothing else; then it ends with exit code 0. Its
/// standard error is free: the last lines stand in the error if it fails. Bytes of a text that are
/// not UTF-8 reach it as U+FFFD.
struct ScoreCommand {
  std::vector<std::string> argv;  // the program, by path or by name in PATH, and its arguments
  /// What else its answers depend on, such as the digest of a script: part of the cache's key.
  std::vector<std::string> versions = {};
  std::vector<std::string> names;  // of the scores, in the order of the result
  double timeout_s = 3600;         // seconds, for all texts together
  bool probability = false;        // scores are in [0, 1]; else any finite number
  std::filesystem::path cache;     // folder of answers that are known; empty = none are kept
  std::string leaf = {};           // that names the command, for messages; may be empty
  /// Asked several times a second while the command runs; true ends it. It does not throw.
  std::function<bool()> stop = {};
};

struct CommandScores {
  std::vector<double> scores;  // (texts, names), row by row; all finite
  std::int64_t asked = 0;      // different texts that the command was asked
  std::int64_t cached = 0;     // different texts whose answers were known
};

/// Scores of texts: those that are known from the cache, and those of the command for the others,
/// each different text once. If all are known, the command is not started. No answer is used or
/// kept unless every one is sound; the command and its group have ended when this returns.
/// @throws UserError, one for all that is wrong: (Usage) for an empty command or a time-out that is
///         not positive, (BadConfig) if the command cannot be started, (TempFail) if `stop` ended
///         it, (BadData) if it ended by an exit code that is not 0, by a signal or by the time-out,
///         wrote more than answers can be, or gave answers with mistakes: ids that are missing, not
///         asked or answered twice, lines that are not JSON, names that are missing or unknown,
///         numbers that are not finite or out of range.
CommandScores run_score_command(const ScoreCommand& command,
                                std::span<const std::string_view> texts);

}  // namespace depthgrid
