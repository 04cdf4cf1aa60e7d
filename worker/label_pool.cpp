#include "worker/label_pool.hpp"

#include <optional>

#include <fmt/format.h>

#include "core/base/digest.hpp"
#include "core/base/error.hpp"
#include "core/config/identity.hpp"

namespace depthgrid {

std::shared_ptr<const CorpusLabels> LabelPool::open(const CellConfig& config) {
  if (config.word("train.task") != "control") return nullptr;
  const DataOptions options = data_options(config);
  const auto data = data_.open(config);
  std::string fitted = data->corpus_sha256 + data->tokens_sha256;
  for (const char* leaf : {"model.control.names", "train.control.labels.terminator"}) {
    fitted += "\n";
    append_canonical_json(fitted, config.at(leaf));
  }
  const LabelOptions by = label_options(config);
  if (by.source != "rules") {
    fitted += "\n" + by.source + (by.sentences ? " by sentence " : " ") + label_digest(config);
    for (const std::string& word : by.command) (fitted += '\0') += word;
    if (by.map == LabelMap::Probability) fitted += " probabilities";
  }
  std::string key = data_key(config) + fitted;
  append_canonical_json(key, config.at("train.control.labels.map"));
  if (const auto at = open_.find(key); at != open_.end()) return at->second;
  std::optional<std::string> self;
  if (options.corpus == "self") self = store_.read_text("self");
  auto labels = std::make_shared<const CorpusLabels>(
      label_corpus(options, *data, by, self ? &*self : nullptr,
                   {.cache = options.cache.empty() ? store_.root() / "tokens" : options.cache,
                    .stop = [this] { return alive_ && !alive_(); }}));
  const std::string name = fmt::format("labels-{}.json", hex(sha256(fitted), 12));
  const std::string text = labels->json();
  if (store_.freeze_text(name, text) != text) {
    throw UserError(ExitCode::BadData,
                    fmt::format("corpus {}: its sentences have other labels now than those that "
                                "cells in {} were trained under (texts/{}): train further cells in "
                                "another store",
                                options.corpus, store_.root().string(), name));
  }
  for (const std::string& warning : labels->warnings) warn_of(warning);
  open_.emplace(key, labels);
  return labels;
}

}  // namespace depthgrid
