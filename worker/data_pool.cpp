#include "worker/data_pool.hpp"

#include <optional>

#include "core/config/schema.hpp"
#include "core/data/self_corpus.hpp"

namespace depthgrid {
namespace {

/// Everything that decides the tokens of a cell.
std::string data_key(const CellConfig& config) {
  std::string key = canonical_json(config.at("model.vocab_size"));
  for (const Leaf& leaf : schema()) {
    if (!leaf.path.starts_with("data.") || leaf.path == "data.seed") continue;
    key += "\n";
    append_canonical_json(key, config.at(leaf.path));
  }
  return key;
}

}  // namespace

std::shared_ptr<const Dataset> DataPool::open(const CellConfig& config) {
  const std::string key = data_key(config);
  if (const auto at = open_.find(key); at != open_.end()) return at->second;
  const DataOptions options = data_options(config);
  std::optional<std::string> self;
  if (options.corpus == "self") {
    self = store_.read_text("self");
    if (!self) {
      self = store_.freeze_text(
          "self",
          load_self_text(options.paths.empty() ? std::filesystem::path() : options.paths.front()));
    }
  }
  auto dataset = std::make_shared<const Dataset>(
      open_dataset(options, store_.root() / "tokens", self ? &*self : nullptr));
  if (!dataset->corpus_sha256.empty()) store_.pin_corpus(dataset->corpus, dataset->corpus_sha256);
  if (!dataset->test_sha256.empty()) {
    store_.pin_corpus(dataset->corpus + ".test", dataset->test_sha256);
  }
  open_.emplace(key, dataset);
  return dataset;
}

}  // namespace depthgrid
