#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace depthgrid {

class CellConfig;

/// Leaves `data.synthetic.*`: a source with an exactly known entropy rate.
struct SyntheticOptions {
  std::int64_t order = 1;
  std::int64_t vocab_size = 64;
  std::int64_t tokens = 1'000'000;
  std::optional<double> concentration = 0.1;  // none = uniform rows, entropy rate ln V
  std::int64_t lag = 32;
};

/// Typed leaves `data.*` of one structure: everything that determines the token streams.
struct DataOptions {
  std::string corpus = "wikitext-2";
  std::vector<std::filesystem::path> paths;  // empty = search order
  std::filesystem::path valid;               // empty = a share of the text
  std::filesystem::path test;                // empty = no test split
  std::string format = "auto";               // of the user's own files, see text_format()
  std::string text_key = "text";
  std::string tokenizer = "char256";
  std::int64_t word_vocab_size = 4096;  // V of `word`
  bool join_published_2 = false;
  std::filesystem::path tokenizer_path;  // empty = search order
  bool published_split = false;          // no dev: all of train is trained on
  double dev_fraction = 0.02;
  double valid_fraction = 0.02;  // of a corpus of one text
  double test_fraction = 0;      // likewise
  std::optional<std::int64_t> train_tokens;
  std::int64_t seq_len = 128;
  std::filesystem::path cache;  // empty = the caller's default
  SyntheticOptions synthetic;
  std::optional<std::int64_t> model_vocab_size;  // none = the tokeniser's own

  /// True for corpora that need neither files nor a tokeniser.
  bool is_synthetic() const { return corpus.starts_with("synthetic:"); }
};

/// Reads the leaves of one cell.
DataOptions data_options(const CellConfig& config);

}  // namespace depthgrid
