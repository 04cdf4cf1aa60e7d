#include "worker/data_pool.hpp"

#include <optional>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/subprocess.hpp"
#include "core/config/schema.hpp"
#include "core/config/text_format.hpp"
#include "core/data/corpus_search.hpp"
#include "core/data/dataset_card.hpp"
#include "core/data/self_corpus.hpp"
#include "worker/data_cards.hpp"

namespace depthgrid {
namespace {

constexpr std::array kGpt2Files = {"encoder.json", "vocab.bpe"};

/// The text of `self` as the store keeps it; nothing for other corpora.
std::optional<std::string> kept_self(const Store& store, const DataOptions& options) {
  if (options.corpus != "self") return std::nullopt;
  if (auto kept = store.read_text("self")) return kept;
  return store.freeze_text("self",
                           load_self_text(options.paths.empty() ? "" : options.paths.front()));
}

/// Keeps in the store, under the name of its card, what evaluation and generation need of `data`.
void keep(const Store& store, const std::string& name, const DataOptions& options,
          const Dataset& data) {
  if (options.is_synthetic() || store.read_text(name)) return;
  if (options.tokenizer == "gpt2" && data.tokenizer) {
    const auto folder = find_corpus("gpt2-bpe", {kGpt2Files.begin(), kGpt2Files.end()},
                                    "data.tokenizer_path", options.tokenizer_path);
    for (const char* file : kGpt2Files) store.freeze_text(file, read_corpus_file(folder / file));
  }
  store.freeze_text(name, dataset_card(data));
}

/// Why a store whose cells were trained on other tokens in this split refuses those that are made
/// now.
std::string refusal_of(const Store& store, const std::string& corpus, const std::string& split) {
  const int rules = store.pinned_text_rules(corpus);
  const std::string why =
      rules != kTextRules
          ? fmt::format(
                "this release makes tokens by rules {}, the store was begun under {} "
                "(docs/store-format.md: Text rules)",
                kTextRules, rules)
          : "their tokeniser's files (data.tokenizer_path) have changed";
  return fmt::format(
      "corpus {}: the tokens of split '{}' are not those that the cells in {} were "
      "trained on: {}; finished cells stay as they are: train further ones in "
      "another store",
      corpus, split, store.root().string(), why);
}

/// Why the tokens of `data` are not those that cells of the store were trained on; empty if they
/// are.
std::string token_refusal(const Store& store, const std::vector<std::string>& cards,
                          const Dataset& data) {
  std::string split;
  for (const std::string& card : cards) {
    if (split.empty()) split = changed_split(card, data);
  }
  return split.empty() ? std::string() : refusal_of(store, data.corpus, split);
}

/// The same where the store has no card for these leaves of `data`: whether what it has for others
/// would be made of the corpus now as it was then.
std::string other_token_refusal(const Store& store, const CellConfig& config,
                                const std::string* self) {
  const DataOptions mine = data_options(config);
  if (mine.is_synthetic()) return {};
  for (const OtherCard& other : other_data_cards(store, config)) {
    DataOptions options = data_options(other.config);
    options.paths = mine.paths;
    if (!options.valid.empty() && !mine.valid.empty()) options.valid = mine.valid;
    if (!options.test.empty() && !mine.test.empty()) options.test = mine.test;
    options.tokenizer_path = mine.tokenizer_path;
    options.cache = mine.cache;
    try {
      const Dataset data = open_dataset(options, store.root() / "tokens", self);
      const std::string split = changed_split(other.card, data);
      if (!split.empty()) return refusal_of(store, data.corpus, split);
    } catch (const UserError&) {  // its files are not there, or cannot be read now
      continue;
    }
  }
  return {};
}

/// The dataset from what the store keeps. @param why  there are no files, or other ones.
/// @throws UserError `missing` if the store does not suffice.
Dataset kept_dataset(const Store& store, const std::vector<std::string>& cards, DataOptions options,
                     std::string_view why, const UserError& missing) {
  if (options.tokenizer == "gpt2") options.tokenizer_path = store.root() / "texts";
  const auto folder = options.cache.empty() ? store.root() / "tokens" : options.cache;
  for (const std::string& card : cards) {
    auto data = dataset_of_card(card, options, folder);
    if (!data) continue;
    log(LogLevel::Info, fmt::format("corpus {}: its files {}; its tokens are read from {}",
                                    options.corpus, why, folder.string()));
    return *std::move(data);
  }
  throw missing;
}

}  // namespace

void warn_of(const std::string& warning) {
  launcher_rank() == 0 ? log(LogLevel::Warning, warning) : log_quietly(LogLevel::Warning, warning);
}

std::string data_key(const CellConfig& config) {
  std::string key = canonical_json(config.at("model.vocab_size"));
  for (const Leaf& leaf : schema()) {
    if (!leaf.path.starts_with("data.") || leaf.path == "data.seed") continue;
    if (leaf.path == "data.first_step") continue;  // says where the order begins
    key += "\n";
    append_canonical_json(key, config.at(leaf.path));
  }
  return key;
}

bool DataPool::changed(const Dataset& data) const {
  const auto differs = [this](const std::string& name, const std::string& sha256,
                              const std::string& bytes) {
    return !sha256.empty() && !store_.corpus_refusal(name, sha256, bytes).empty();
  };
  return differs(data.corpus, data.corpus_sha256, combined_bytes(data.files)) ||
         differs(data.corpus + ".test", data.test_sha256, data.test_file.sha256);
}

std::shared_ptr<const Dataset> DataPool::open(const CellConfig& config) {
  const std::string key = data_key(config);
  if (const auto at = open_.find(key); at != open_.end()) return at->second;
  const std::vector<std::string> cards = data_cards(store_, config);
  const DataOptions options = data_options(config);
  std::shared_ptr<const Dataset> dataset;
  std::optional<std::string> self;
  try {
    self = kept_self(store_, options);
    dataset = std::make_shared<const Dataset>(
        open_dataset(options, store_.root() / "tokens", self ? &*self : nullptr));
  } catch (const UserError& problem) {
    if (problem.code() != ExitCode::NoInput) throw;
    dataset = std::make_shared<const Dataset>(
        kept_dataset(store_, cards, options, "or those of its tokeniser are not there", problem));
  }
  if (use_ == Use::Reading && changed(*dataset)) {
    const UserError problem(ExitCode::BadData,
                            "corpus " + dataset->corpus +
                                " has changed since this store was begun, and the store does not "
                                "hold its tokens: restore its files");
    dataset = std::make_shared<const Dataset>(
        kept_dataset(store_, cards, options, "have changed since the store was begun", problem));
  }
  if (!dataset->corpus_sha256.empty()) {
    store_.pin_corpus(dataset->corpus, dataset->corpus_sha256, combined_bytes(dataset->files));
  }
  if (!dataset->test_sha256.empty()) {
    store_.pin_corpus(dataset->corpus + ".test", dataset->test_sha256, dataset->test_file.sha256);
  }
  std::string refusal = token_refusal(store_, cards, *dataset);
  if (cards.empty() && use_ == Use::Training) {
    refusal = other_token_refusal(store_, config, self ? &*self : nullptr);
  }
  if (!refusal.empty()) {
    const UserError problem(ExitCode::BadData, refusal);
    if (use_ == Use::Training) throw problem;
    dataset = std::make_shared<const Dataset>(
        kept_dataset(store_, cards, options, "give other tokens now", problem));
  }
  keep(store_, data_card_name(config), options, *dataset);
  for (const std::string& warning : dataset->warnings) warn_of(warning);
  open_.emplace(key, dataset);
  return dataset;
}

}  // namespace depthgrid
