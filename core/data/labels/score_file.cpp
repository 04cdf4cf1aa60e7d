#include "core/data/labels/score_file.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/digest.hpp"
#include "core/base/nan.hpp"
#include "core/data/labels/json_records.hpp"

namespace depthgrid {
namespace {

constexpr std::array<std::string_view, 2> kScoreMembers{"sha256", "scores"};

/// 64 hexadecimal digits in lower case, from digits of either case; nothing from another text.
std::optional<std::string> as_digest(std::string text) {
  if (text.size() != 64) return std::nullopt;
  for (char& c : text) {
    if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
    const bool digit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
    if (!digit) return std::nullopt;
  }
  return text;
}

/// The digest of a record; nothing, and a mistake, if it has none.
std::optional<std::string> digest_of_record(const nlohmann::json& record, const std::string& where,
                                            RecordMistakes& mistakes) {
  const auto found = record.find("sha256");
  if (found == record.end()) {
    mistakes.add(where, "no member 'sha256': expected that of the segment's bytes");
    return std::nullopt;
  }
  auto out = found->is_string() ? as_digest(found->get<std::string>()) : std::nullopt;
  if (!out) {
    mistakes.add(where + ": sha256",
                 fmt::format("{} is no SHA-256: expected 64 hexadecimal digits of the segment's "
                             "bytes",
                             shown_value(*found)));
  }
  return out;
}

bool are_same_scores(const std::vector<double>& a, const std::vector<double>& b) {
  return std::ranges::equal(
      a, b, [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

}  // namespace

SegmentScores read_score_file(const std::filesystem::path& file,
                              const std::vector<std::string>& names, bool probability) {
  SegmentScores out;
  out.names = names;
  const ScoreRange range = probability ? kProbabilities : ScoreRange{};
  std::unordered_map<std::string, std::string> places;  // where a digest stood first
  out.sha256 = read_json_records(file, [&](const std::string& where, const nlohmann::json& record,
                                           RecordMistakes& mistakes) {
    refuse_other_members(record, kScoreMembers, where, mistakes);
    const auto digest = digest_of_record(record, where, mistakes);
    const auto given = record.find("scores");
    if (given == record.end()) {
      mistakes.add(where, "no member 'scores': expected numbers by name");
      return;
    }
    std::vector<double> scores = named_numbers(*given, names, range, where + ": scores", mistakes);
    if (!digest) return;
    const auto [entry, is_new] = out.by_digest.try_emplace(*digest, scores);
    if (is_new) {
      places.emplace(*digest, where);
    } else if (!are_same_scores(entry->second, scores)) {
      mistakes.add(where, fmt::format("{} has other scores than at {}: a segment has one score a "
                                      "name",
                                      *digest, places.at(*digest)));
    }
  });
  return out;
}

ScoredSegments scores_of(const SegmentScores& scores, std::span<const std::string_view> segments) {
  const std::size_t axes = scores.names.size();
  ScoredSegments out;
  out.scores.assign(segments.size() * axes, kNaN);
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const auto found = scores.by_digest.find(hex(sha256(segments[i])));
    const bool has_some =
        found != scores.by_digest.end() &&
        std::ranges::any_of(found->second, [](double score) { return !std::isnan(score); });
    if (!has_some) {
      ++out.missing;
      continue;
    }
    std::ranges::copy(found->second, out.scores.begin() + static_cast<std::ptrdiff_t>(i * axes));
  }
  return out;
}

}  // namespace depthgrid
