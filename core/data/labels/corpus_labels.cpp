#include "core/data/labels/corpus_labels.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/digest.hpp"
#include "core/base/error.hpp"
#include "core/base/nan.hpp"
#include "core/data/corpus.hpp"
#include "core/data/labels/token_ends.hpp"

namespace depthgrid {
namespace {

std::vector<std::uint32_t> ids_of(const TokenStream& stream) {
  std::vector<std::uint32_t> out(static_cast<std::size_t>(stream.size()));
  for (std::int64_t i = 0; i < stream.size(); ++i) out[static_cast<std::size_t>(i)] = stream[i];
  return out;
}

/// The ends of a split's tokens, and the text that they are of: the beginning of `text` where
/// data.train_tokens leaves out the rest.
std::pair<std::vector<std::int64_t>, std::string_view> ends_of(const DataOptions& options,
                                                               const Dataset& data, Split split,
                                                               std::string_view text) {
  std::vector<std::uint32_t> ids = ids_of(data.split(split));
  const std::size_t used = ids.size();
  const bool cut = split == Split::Train && options.train_tokens.has_value();
  if (cut) ids = data.tokenizer->encode(text);
  std::vector<std::int64_t> ends;
  try {
    ends = token_ends(options.tokenizer, *data.tokenizer, text, ids);
  } catch (const UserError&) {
    throw;
  } catch (const Error& problem) {
    throw UserError(ExitCode::BadData,
                    fmt::format("corpus {}: the text of split '{}' is not the one that its tokens "
                                "were made of: restore its files",
                                options.corpus, name_of(split)));
  }
  if (!cut) return {std::move(ends), text};
  ends.resize(used);
  const std::size_t end = ends.empty() ? 0 : static_cast<std::size_t>(ends.back());
  return {std::move(ends), text.substr(0, end)};
}

/// An axis whose u is the same for all sentences says nothing: it is left at 0.
void leave_out(SentenceLabels& labels, const std::vector<bool>& trained) {
  for (std::size_t i = 0; i < labels.u.size(); ++i) {
    if (!trained[i % trained.size()]) labels.u[i] = static_cast<float>(kNaN);
  }
}

/// What may be a mistake: another kind of terminator finds far more sentences.
void warn_of_terminator(CorpusLabels& out, const DataOptions& options, const LabelOptions& labels,
                        std::string_view train) {
  constexpr double kFarMore = 1.5;
  const bool spaced = labels.terminator == Terminator::Spaced;
  const auto own = out.attributes.front().ranks.size();
  const std::int64_t other =
      labelled_segments(train, spaced ? Terminator::Raw : Terminator::Spaced);
  if (static_cast<double>(other) < kFarMore * static_cast<double>(own)) return;
  out.warnings.push_back(fmt::format(
      "corpus {}: train.control.labels.terminator: {} finds {} sentences in the training text, {} "
      "would find {}",
      options.corpus, spaced ? "spaced" : "raw", own, spaced ? "raw" : "spaced", other));
}

RankTable ranks_of(const ScoredText& text, std::size_t axis, std::size_t axes) {
  std::vector<double> own;
  for (std::size_t i = axis; i < text.scores.size(); i += axes) own.push_back(text.scores[i]);
  return RankTable(std::span<const double>(own));
}

/// Labels must be there, of one axis at least.
void refuse_no_labels(const CorpusLabels& labels, const DataOptions& options,
                      const LabelOptions& by) {
  const bool any =
      std::ranges::any_of(labels.attributes, [](const Attribute& a) { return a.ranks.size() > 0; });
  if (any) return;
  const std::string raw = by.terminator == Terminator::Raw ? "raw" : "spaced";
  std::string why = fmt::format(
      "its training text has no sentence of five words or more, headings (first word =) aside, as "
      "train.control.labels.terminator: {} takes it apart; a text as it is written needs raw, one "
      "whose full stops stand apart spaced",
      raw);
  if (by.source == "scores") {
    why = fmt::format(
        "no sentence of its training text has a score in {}: scores are those of the SHA-256 of a "
        "sentence's bytes, from its first to the one that ends it (white space included), as "
        "train.control.labels.terminator: {} takes a text apart",
        by.file.string(), raw);
  } else if (by.source == "file") {
    why = fmt::format(
        "no labelled document of {} is in its training text, from the beginning of a line to the "
        "end of one, with the same line breaks; a document that is cut by the shares of dev and "
        "valid is in none of them",
        by.file.string());
  }
  throw UserError(ExitCode::BadData, fmt::format("corpus {}: {}", options.corpus, why));
}

/// Of segments and their scores, to the bit.
std::string digest_of(const std::vector<ScoredText>& texts) {
  std::string bytes;
  const auto add = [&](const auto& number) {
    bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
  };
  for (const ScoredText& text : texts) {
    for (const TextSegment& part : text.parts) add(part.end);
    for (const double score : text.scores) add(std::isnan(score) ? kNaN : score);
  }
  return hex(sha256(bytes));
}

}  // namespace

std::vector<AttributeKind> CorpusLabels::kinds() const {
  std::vector<AttributeKind> out;
  for (const Attribute& attribute : attributes) out.push_back(attribute.kind);
  return out;
}

std::string CorpusLabels::json() const {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const Attribute& attribute : attributes) out.push_back(to_json(attribute));
  if (!scores_sha256.empty()) out.push_back({{"scores_sha256", scores_sha256}});
  return out.dump() + "\n";
}

CorpusLabels label_corpus(const DataOptions& options, const Dataset& data,
                          const LabelOptions& labels, const std::string* frozen_self_text,
                          const CommandPlace& place) {
  if (!data.tokenizer) {
    throw UserError(ExitCode::Usage,
                    fmt::format("corpus {}: labels need a text, and this corpus has tokens alone",
                                options.corpus));
  }
  const Corpus corpus = read_corpus(options, frozen_self_text, options.tokenizer != "byte");
  std::vector<Split> splits;  // train first
  std::vector<UsedText> texts;
  std::vector<std::vector<std::int64_t>> ends;
  for (const Split split : {Split::Train, Split::Dev, Split::Valid, Split::Test}) {
    if (data.split(split).empty()) continue;
    auto [of_tokens, text] = ends_of(options, data, split, corpus.text(split));
    splits.push_back(split);
    texts.push_back({text, corpus.text(split)});
    ends.push_back(std::move(of_tokens));
  }
  CorpusLabels out;
  const std::unique_ptr<LabelSource> source = label_source(labels, place);
  const std::vector<ScoredText> scored = source->scored(texts, out.warnings);
  std::vector<LabelMap> maps;
  for (std::size_t a = 0; a < labels.names.size(); ++a) {
    out.attributes.push_back(source->fitted(a, ranks_of(scored.front(), a, labels.names.size())));
    maps.push_back(labels.map.value_or(source->map_of(out.attributes.back().kind)));
  }
  refuse_no_labels(out, options, labels);
  if (labels.source == "rules" || labels.source == "command") {
    warn_of_terminator(out, options, labels, texts.front().used);
  }
  for (std::size_t i = 0; i < splits.size(); ++i) {
    out.splits[static_cast<std::size_t>(splits[i])] =
        labels_of(out.attributes, maps, texts[i].used, scored[i], ends[i]);
  }
  if (labels.source != "rules") out.scores_sha256 = digest_of(scored);
  out.statistics =
      label_statistics(out.attributes, out.splits[static_cast<std::size_t>(Split::Train)].positive);
  for (std::size_t a = 0; a < out.attributes.size(); ++a) {
    const bool by_sign = maps[a] == LabelMap::Sign;
    const double entropy = by_sign ? out.statistics.entropy[a] : out.attributes[a].ranks.entropy();
    out.signal_entropy.push_back(entropy);
    out.trained.push_back(entropy > 0);
    if (entropy > 0) continue;
    const bool any = out.attributes[a].ranks.size() > 0;
    out.warnings.push_back(
        fmt::format("corpus {}: {} of the training text {} label '{}': the axis is not trained",
                    options.corpus, any ? "all sentences" : "no sentence",
                    any ? "have the same" : "has a", out.attributes[a].name));
  }
  for (SentenceLabels& split : out.splits) leave_out(split, out.trained);
  return out;
}

}  // namespace depthgrid
