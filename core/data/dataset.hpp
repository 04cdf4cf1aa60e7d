#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/config/axis_labels.hpp"
#include "core/data/corpus.hpp"
#include "core/data/data_options.hpp"
#include "core/data/token_stream.hpp"
#include "core/data/tokenizers/tokenizer.hpp"

namespace depthgrid {

/// The token streams of one structure's data, ready to be read in windows.
struct Dataset {
  std::array<TokenStream, 4> streams;  // by Split; empty = no such split
  std::int64_t vocab_size = 0;         // V of the data: of its tokeniser or source
  std::string corpus;                  // name
  std::string corpus_sha256;           // of the raw files; synthetic: empty (identity by name)
  std::string test_sha256;             // of the user's test text, else empty
  std::string tokens_sha256;           // of the training ids as used
  std::array<std::string, 4> split_sha256{};  // of the ids of each split; empty = no such split
  std::string variant;                        // known variant of the text, may be empty
  std::vector<SourceFile> files;
  SourceFile test_file;                              // of the user's test text
  std::optional<double> entropy_rate;                // nats per token, of synthetic sources
  std::shared_ptr<const Tokenizer> tokenizer;        // null: synthetic or pre-tokenised
  std::array<std::filesystem::path, 4> token_files;  // of the cache, by Split; empty = none
  std::vector<std::string> warnings;                 // concern every cell that is trained on it

  const TokenStream& split(Split which) const { return streams[static_cast<std::size_t>(which)]; }
  const TokenStream& train() const { return split(Split::Train); }
  const TokenStream& valid() const { return split(Split::Valid); }
};

/// Reads, tokenises (or takes from the cache) and checks all data before the first step.
/// @param cache             folder of token files unless `options.cache` names one; empty = memory.
/// @param frozen_self_text  text of `self` as kept in the store; null = read from the sources.
/// @throws UserError for a missing corpus, invalid UTF-8, a training text shorter than one window
///         of seq_len + 1 tokens, or ids of `model.vocab_size` and more.
Dataset open_dataset(const DataOptions& options, const std::filesystem::path& cache = {},
                     const std::string* frozen_self_text = nullptr);

}  // namespace depthgrid
