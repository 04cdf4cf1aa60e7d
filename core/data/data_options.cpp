#include "core/data/data_options.hpp"

#include "core/config/cell_config.hpp"

namespace depthgrid {
namespace {

std::filesystem::path path_or_empty(const CellConfig& config, std::string_view leaf) {
  return config.null(leaf) ? std::filesystem::path() : std::filesystem::path(config.word(leaf));
}

SyntheticOptions synthetic_options(const CellConfig& config) {
  SyntheticOptions options;
  options.order = config.integer("data.synthetic.order");
  options.vocab_size = config.integer("data.synthetic.vocab_size");
  options.tokens = config.integer("data.synthetic.tokens");
  options.lag = config.integer("data.synthetic.lag");
  constexpr std::string_view kConcentration = "data.synthetic.concentration";
  options.concentration = config.is_word(kConcentration)  // the one word is `uniform`
                              ? std::nullopt
                              : std::optional(config.real(kConcentration));
  return options;
}

}  // namespace

DataOptions data_options(const CellConfig& config) {
  DataOptions options;
  options.corpus = config.word("data.corpus");
  const std::vector<std::string> names = config.names("data.path");
  options.paths.assign(names.begin(), names.end());
  options.valid = path_or_empty(config, "data.valid");
  options.test = path_or_empty(config, "data.test");
  options.format = config.word("data.format");
  options.text_key = config.word("data.text_key");
  options.tokenizer = config.word("data.tokenizer");
  options.word_vocab_size = config.integer("data.vocab_size");
  options.join_published_2 = config.word("data.join") == "published_2";
  options.tokenizer_path = path_or_empty(config, "data.tokenizer_path");
  options.published_split = config.word("data.split") == "published";
  options.dev_fraction = config.real("data.dev_fraction");
  options.valid_fraction = config.real("data.valid_fraction");
  options.test_fraction = config.real("data.test_fraction");
  options.train_tokens = config.integer_if("data.train_tokens");
  options.seq_len = config.integer("data.seq_len");
  options.cache = path_or_empty(config, "data.cache");
  options.synthetic = synthetic_options(config);
  options.model_vocab_size = config.integer_if("model.vocab_size");
  return options;
}

}  // namespace depthgrid
