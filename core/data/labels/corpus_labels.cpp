#include "core/data/labels/corpus_labels.hpp"

#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "core/base/nan.hpp"
#include "core/config/cell_config.hpp"
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

}  // namespace

LabelOptions label_options(const CellConfig& config) {
  LabelOptions out{.names = config.names("model.control.names"),
                   .terminator = terminator(config.word("train.control.labels.terminator"))};
  constexpr std::string_view kMap = "train.control.labels.map";
  if (!config.null(kMap)) out.map = label_map(config.word(kMap));
  return out;
}

std::vector<AttributeKind> CorpusLabels::kinds() const {
  std::vector<AttributeKind> out;
  for (const Attribute& attribute : attributes) out.push_back(attribute.kind);
  return out;
}

std::string CorpusLabels::json() const {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const Attribute& attribute : attributes) out.push_back(to_json(attribute));
  return out.dump() + "\n";
}

CorpusLabels label_corpus(const DataOptions& options, const Dataset& data,
                          const LabelOptions& labels, const std::string* frozen_self_text) {
  if (!data.tokenizer) {
    throw UserError(ExitCode::Usage,
                    fmt::format("corpus {}: labels need a text, and this corpus has tokens alone",
                                options.corpus));
  }
  const Corpus corpus = read_corpus(options, frozen_self_text, options.tokenizer != "byte");
  CorpusLabels out;
  const auto [train_ends, train_text] =
      ends_of(options, data, Split::Train, corpus.text(Split::Train));
  out.attributes = fit_attributes(labels.names, train_text, labels.terminator);
  std::vector<LabelMap> maps;
  for (const Attribute& attribute : out.attributes) {
    if (attribute.ranks.size() == 0) {
      throw UserError(
          ExitCode::BadData,
          fmt::format("corpus {}: its training text has no sentence that "
                      "train.control.labels.terminator: {} ends; a text as it is "
                      "written needs raw, one whose full stops stand apart spaced",
                      options.corpus, labels.terminator == Terminator::Raw ? "raw" : "spaced"));
    }
    maps.push_back(labels.map.value_or(default_map(attribute.kind)));
  }
  warn_of_terminator(out, options, labels, train_text);
  for (const Split split : {Split::Train, Split::Dev, Split::Valid, Split::Test}) {
    if (data.split(split).empty()) continue;
    const auto [ends, text] = split == Split::Train
                                  ? std::pair(train_ends, train_text)
                                  : ends_of(options, data, split, corpus.text(split));
    out.splits[static_cast<std::size_t>(split)] =
        label_text(out.attributes, text, labels.terminator, ends, maps);
  }
  out.statistics =
      label_statistics(out.attributes, out.splits[static_cast<std::size_t>(Split::Train)].positive);
  for (std::size_t a = 0; a < out.attributes.size(); ++a) {
    const bool ranks = maps[a] == LabelMap::Rank;
    const double entropy = ranks ? out.attributes[a].ranks.entropy() : out.statistics.entropy[a];
    out.signal_entropy.push_back(entropy);
    out.trained.push_back(entropy > 0);
    if (entropy > 0) continue;
    out.warnings.push_back(
        fmt::format("corpus {}: all sentences of the training text have the same label '{}': the "
                    "axis is not trained",
                    options.corpus, out.attributes[a].name));
  }
  for (SentenceLabels& split : out.splits) leave_out(split, out.trained);
  return out;
}

}  // namespace depthgrid
