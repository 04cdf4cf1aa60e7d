#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace depthgrid {

/// Scores of segments by what they say, as `train.control.labels.scores` names them.
struct SegmentScores {
  /// By the SHA-256 of a segment's bytes in 64 lower-case hexadecimal digits: (axes), NaN = none.
  std::unordered_map<std::string, std::vector<double>> by_digest;
  std::string sha256;              // of the file's bytes
  std::vector<std::string> names;  // of the axes
};

/// Reads JSONL: {"sha256": "<of the segment's bytes>", "scores": {"formality": 0.3}}. A segment may
/// stand there more than once if its scores are the same each time; a name may be missing.
/// @param names        of the axes, in their order.
/// @param probability  scores are probabilities, in [0, 1]; else any finite numbers.
/// @throws UserError (NoInput) if the file cannot be read, (BadData) if it is blank or no text, or
///         with all mistakes by line: digests that are none, scores that differ from those of the
///         same digest, unknown or repeated names, values that are no numbers of the range, lines
///         that are not JSON or not UTF-8.
SegmentScores read_score_file(const std::filesystem::path& file,
                              const std::vector<std::string>& names, bool probability = false);

struct ScoredSegments {
  std::vector<double> scores;  // (segments, axes), row by row; NaN = none
  std::int64_t missing = 0;    // segments without any; all of them: this is the file of other text
};

/// @param segments  the texts of segments, byte for byte.
ScoredSegments scores_of(const SegmentScores& scores, std::span<const std::string_view> segments);

}  // namespace depthgrid
