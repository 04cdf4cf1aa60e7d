#include "core/data/labels/label_source.hpp"

#include <algorithm>
#include <cmath>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "core/base/digest.hpp"
#include "core/base/error.hpp"
#include "core/data/labels/attribute_rules.hpp"
#include "core/data/labels/json_records.hpp"
#include "core/data/labels/label_file.hpp"
#include "core/data/labels/score_command.hpp"
#include "core/data/labels/score_file.hpp"

namespace depthgrid {
namespace {

const AttributeRule& rule_of(const std::string& name) {
  const AttributeRule* const rule = find_rule(name);
  if (rule == nullptr) {
    throw UserError(
        ExitCode::Usage,
        fmt::format("model.control.names: no rule labels '{}'; known: {}", name, rule_names()));
  }
  return *rule;
}

/// Scores of segments without any label.
ScoredText unlabelled(std::vector<TextSegment> parts, std::size_t axes) {
  const std::size_t n = parts.size() * axes;
  return {std::move(parts), std::vector<double>(n, kNaN)};
}

/// Two scores make a binary attribute.
AttributeKind kind_of_scores(const RankTable& ranks) {
  return ranks.values().size() <= 2 ? AttributeKind::Binary : AttributeKind::Ordinal;
}

class Rules final : public LabelSource {
 public:
  explicit Rules(const LabelOptions& options) : terminator_(options.terminator) {
    for (const std::string& name : options.names) rules_.push_back(&rule_of(name));
  }

  std::vector<ScoredText> scored(std::span<const UsedText> texts,
                                 std::vector<std::string>& /*warnings*/) const override {
    std::vector<ScoredText> out;
    for (const auto& [text, whole] : texts) {
      ScoredText& one = out.emplace_back(unlabelled(segments(text, terminator_), rules_.size()));
      for (std::size_t i = 0; i < one.parts.size(); ++i) {
        const Sentence read = sentence(text_of(text, one.parts[i]), terminator_);
        for (std::size_t a = 0; a < rules_.size() && labelled(read); ++a) {
          one.scores[i * rules_.size() + a] = rules_[a]->score(read);
        }
      }
    }
    return out;
  }

  Attribute fitted(std::size_t axis, RankTable ranks) const override {
    const AttributeRule& rule = *rules_[axis];
    const double threshold = rule.threshold.value_or(ranks.median());
    return {std::string(rule.name), rule.kind, threshold, std::move(ranks)};
  }

 private:
  Terminator terminator_;
  std::vector<const AttributeRule*> rules_;  // (c)
};

/// Numbers that somebody else gave to sentences.
class Scores : public LabelSource {
 public:
  explicit Scores(const LabelOptions& options) : options_(options) {}

  Attribute fitted(std::size_t axis, RankTable ranks) const override {
    const AttributeKind kind = kind_of_scores(ranks);
    double threshold = ranks.median();
    if (kind == AttributeKind::Binary && ranks.size() > 0) {
      threshold = (ranks.values().front() + ranks.values().back()) / 2;
    }
    if (probability()) threshold = 0.5;
    return {options_.names[axis], kind, threshold, std::move(ranks)};
  }

 protected:
  bool probability() const { return options_.map == LabelMap::Probability; }
  LabelOptions options_;
};

class ScoreFile final : public Scores {
 public:
  explicit ScoreFile(const LabelOptions& options)
      : Scores(options), known_(read_score_file(options.file, options.names, probability())) {}

  std::vector<ScoredText> scored(std::span<const UsedText> texts,
                                 std::vector<std::string>& warnings) const override {
    const std::size_t axes = options_.names.size();
    std::vector<ScoredText> out;
    std::int64_t all = 0, missing = 0;
    for (const auto& [text, whole] : texts) {
      ScoredText& one = out.emplace_back(ScoredText{segments(text, options_.terminator), {}});
      std::vector<std::string_view> parts;
      for (const TextSegment& part : one.parts) parts.push_back(text_of(text, part));
      one.scores = scores_of(known_, parts).scores;
      for (std::size_t i = 0; i < parts.size(); ++i) {
        if (!labelled(sentence(parts[i]))) continue;  // a heading, or a few words
        const auto row = std::span(one.scores).subspan(i * axes, axes);
        const auto none = [](double score) { return std::isnan(score); };
        missing += std::ranges::all_of(row, none) ? 1 : 0;
        ++all;
      }
    }
    if (missing > 0) {
      warnings.push_back(
          fmt::format("train.control.labels.scores: {} of {} sentences have no "
                      "score in {}: they are unlabelled",
                      missing, all, options_.file.string()));
    }
    return out;
  }

 private:
  SegmentScores known_;
};

/// Of the words that are files: a script that has changed is asked again.
std::vector<std::string> digests_of_files(const std::vector<std::string>& words) {
  std::vector<std::string> out;
  for (const std::string& word : words) {
    std::error_code problem;
    if (std::filesystem::is_regular_file(word, problem)) out.push_back(hex(sha256_file(word)));
  }
  return out;
}

class Command final : public Scores {
 public:
  Command(const LabelOptions& options, CommandPlace place)
      : Scores(options), place_(std::move(place)) {}

  std::vector<ScoredText> scored(std::span<const UsedText> texts,
                                 std::vector<std::string>& /*warnings*/) const override {
    const std::size_t axes = options_.names.size();
    std::vector<ScoredText> out;
    std::vector<std::string_view> asked;
    std::vector<std::pair<std::size_t, std::size_t>> places;  // text, first score
    for (std::size_t t = 0; t < texts.size(); ++t) {
      const std::string_view text = texts[t].used;
      out.push_back(unlabelled(segments(text, options_.terminator), axes));
      for (std::size_t i = 0; i < out.back().parts.size(); ++i) {
        const std::string_view part = text_of(text, out.back().parts[i]);
        if (!labelled(sentence(part))) continue;
        asked.push_back(part);
        places.emplace_back(t, i * axes);
      }
    }
    const CommandScores answers = run_score_command({.argv = options_.command,
                                                     .versions = digests_of_files(options_.command),
                                                     .names = options_.names,
                                                     .timeout_s = options_.timeout_s,
                                                     .probability = probability(),
                                                     .cache = place_.cache,
                                                     .leaf = "train.control.labels.command",
                                                     .stop = place_.stop},
                                                    asked);
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto [text, first] = places[i];
      const auto row = std::span(answers.scores).subspan(i * axes, axes);
      std::ranges::copy(row, out[text].scores.begin() + static_cast<std::ptrdiff_t>(first));
    }
    return out;
  }

 private:
  CommandPlace place_;
};

/// A user's labels of documents.
class LabelFileSource final : public LabelSource {
 public:
  explicit LabelFileSource(const LabelOptions& options)
      : options_(options), file_(read_label_file(options.file, options.names)) {}

  std::vector<ScoredText> scored(std::span<const UsedText> texts,
                                 std::vector<std::string>& warnings) const override {
    std::vector<ScoredText> out;
    std::vector<bool> found(file_.documents.size(), false);
    for (const auto& [text, whole] : texts) {
      LocatedLabels here = located(whole, file_.documents);
      for (std::size_t d = 0; d < found.size(); ++d) found[d] = found[d] || here.found[d];
      const auto size = std::ssize(text);
      std::erase_if(here.spans, [&](const LabelledSpan& span) { return span.begin >= size; });
      if (!here.spans.empty()) here.spans.back().end = std::min(here.spans.back().end, size);
      out.push_back(segmented(text, here.spans));
    }
    const auto lost = std::ranges::count(found, false);
    if (lost > 0) {
      const auto first = std::ranges::find(found, false) - found.begin();
      warnings.push_back(
          fmt::format("train.control.labels.file: {} of {} documents of {} are not in the corpus, "
                      "each from the beginning of a line; the first: {}",
                      lost, found.size(), options_.file.string(),
                      quoted_opening(file_.documents[static_cast<std::size_t>(first)].text)));
    }
    return out;
  }

  /// The user's numbers are u: above 0 is positive.
  Attribute fitted(std::size_t axis, RankTable ranks) const override {
    const AttributeKind kind = kind_of_scores(ranks);
    return {options_.names[axis], kind, 0, std::move(ranks)};
  }

  LabelMap map_of(AttributeKind /*kind*/) const override { return LabelMap::AsItIs; }

 private:
  /// The parts of a text between the ends of spans and, where sentences are meant, of these.
  ScoredText segmented(std::string_view text, std::span<const LabelledSpan> spans) const {
    std::vector<std::int64_t> ends;
    if (options_.sentences) {
      for (const TextSegment& part : segments(text, options_.terminator)) ends.push_back(part.end);
    }
    for (const LabelledSpan& span : spans) {
      ends.push_back(span.begin);
      ends.push_back(span.end);
    }
    if (!text.empty()) ends.push_back(std::ssize(text));
    std::ranges::sort(ends);
    ScoredText out;
    std::size_t at = 0;  // of spans
    std::int64_t begin = 0;
    for (const std::int64_t end : ends) {
      if (end == begin) continue;
      out.parts.push_back({begin, end});
      while (at < spans.size() && spans[at].end <= begin) ++at;
      const bool inside = at < spans.size() && spans[at].begin <= begin;
      for (std::size_t k = 0; k < options_.names.size(); ++k) {
        out.scores.push_back(inside ? spans[at].u[k] : kNaN);
      }
      begin = end;
    }
    return out;
  }

  LabelOptions options_;
  LabelFile file_;
};

}  // namespace

LabelOptions label_options(const CellConfig& config) {
  const std::string& source = config.word("train.control.labels.source");
  LabelOptions out{
      .names = config.names("model.control.names"),
      .source = source,
      .command = config.names("train.control.labels.command"),
      .timeout_s = config.real("train.control.labels.timeout"),
      .terminator = terminator(config.word("train.control.labels.terminator")),
      .sentences = source != "file" || config.word("train.control.labels.span") == "sentence"};
  const std::string leaf = "train.control.labels." + source;
  if (source == "file" || source == "scores") out.file = config.word(leaf);
  constexpr std::string_view kMap = "train.control.labels.map";
  if (!config.null(kMap)) out.map = label_map(config.word(kMap));
  return out;
}

std::unique_ptr<LabelSource> label_source(const LabelOptions& options, const CommandPlace& place) {
  if (options.source == "file") return std::make_unique<LabelFileSource>(options);
  if (options.source == "scores") return std::make_unique<ScoreFile>(options);
  if (options.source == "command") return std::make_unique<Command>(options, place);
  return std::make_unique<Rules>(options);
}

std::int64_t labelled_segments(std::string_view text, Terminator kind) {
  std::int64_t n = 0;
  for (const TextSegment& part : segments(text, kind)) {
    n += labelled(sentence(text_of(text, part))) ? 1 : 0;
  }
  return n;
}

}  // namespace depthgrid
