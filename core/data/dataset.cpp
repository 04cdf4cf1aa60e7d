#include "core/data/dataset.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/config/text_format.hpp"
#include "core/data/kept_text.hpp"
#include "core/data/split_warnings.hpp"
#include "core/data/synthetic.hpp"
#include "core/data/token_cache.hpp"
#include "core/data/token_file.hpp"

namespace depthgrid {
namespace {

TokenStream& stream_of(Dataset& data, Split split) {
  return data.streams[static_cast<std::size_t>(split)];
}

std::filesystem::path& file_of(Dataset& data, Split split) {
  return data.token_files[static_cast<std::size_t>(split)];
}

/// All of the user's files are tokenised already. Resolving has refused a mixture.
bool reads_token_files(const DataOptions& options) {
  return options.corpus.starts_with("file") && !options.paths.empty() &&
         text_format(options.paths.front(), options.format) == TextFormat::Tokens;
}

/// Splits of one kind of file.
/// @throws UserError (Usage) otherwise.
void require_one_kind(const DataOptions& options) {
  const bool tokens = reads_token_files(options);
  std::vector<std::filesystem::path> files = options.paths;
  files.push_back(options.valid);
  files.push_back(options.test);
  const bool own = options.corpus.starts_with("file");
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (files[i].empty() || (!own && i + 1 < files.size())) continue;
    if ((text_format(files[i], options.format) == TextFormat::Tokens) == tokens) continue;
    throw UserError(ExitCode::Usage,
                    fmt::format("'{}': texts and tokenised files (.bin, or data.format: tokens) "
                                "cannot be splits of one corpus; give files of one kind",
                                files[i].string()));
  }
}

void open_synthetic(Dataset& data, const DataOptions& options) {
  const SyntheticData drawn = draw_synthetic(options.corpus, options.synthetic);
  data.vocab_size = options.synthetic.vocab_size;
  data.entropy_rate = drawn.entropy_rate;
  const auto keep = [&](Split split, const std::vector<std::uint32_t>& ids) {
    stream_of(data, split) = TokenStream::from_ids(ids, data.vocab_size, 0);
  };
  keep(Split::Train, drawn.train);
  if (!options.published_split) keep(Split::Dev, drawn.dev);
  keep(Split::Valid, drawn.valid);
}

TokenFile read_own(const std::filesystem::path& path, const DataOptions& options) {
  TokenFile file = read_token_file(path);
  if (!file.tokenizer.empty() && file.tokenizer != options.tokenizer) {
    throw UserError(ExitCode::BadData,
                    fmt::format("{}: its ids are of tokeniser '{}', the sweep has data.tokenizer: "
                                "{}; make them equal",
                                path.string(), file.tokenizer, options.tokenizer));
  }
  // Ids of nobody's word are of the sweep's, where that is not the default of all sweeps.
  const bool declared = options.tokenizer != TokenizerOptions().kind;
  if (file.tokenizer.empty() && declared && !keeps_text(options.tokenizer, file.tokens)) {
    file.tokens = file.tokens.with_bytes(0);
  }
  return file;
}

TokenStream concatenate(const std::vector<TokenFile>& files, std::int64_t vocab_size) {
  if (files.size() == 1) return files.front().tokens;
  std::vector<std::uint32_t> ids;
  std::int64_t bytes = 0;
  bool bytes_known = true;
  for (const TokenFile& file : files) {
    for (std::int64_t i = 0; i < file.tokens.size(); ++i) ids.push_back(file.tokens[i]);
    bytes += file.tokens.bytes();
    bytes_known = bytes_known && file.tokens.bytes() > 0;
  }
  return TokenStream::from_ids(ids, vocab_size, bytes_known ? bytes : 0);
}

void open_token_files(Dataset& data, const DataOptions& options, const TokenCache& cache) {
  std::vector<TokenFile> files;
  for (const std::filesystem::path& path : options.paths) {
    files.push_back(read_own(path, options));
    data.vocab_size = std::max(data.vocab_size, files.back().vocab_size);
    data.files.push_back(files.back().source);
  }
  if (!options.valid.empty()) {
    const TokenFile valid = read_own(options.valid, options);
    data.vocab_size = std::max(data.vocab_size, valid.vocab_size);
    data.files.push_back(valid.source);
    stream_of(data, Split::Valid) = cache.keep(valid.tokens);
  }
  data.corpus_sha256 = combined_sha256(data.files);
  const TokenStream all = concatenate(files, data.vocab_size);
  const auto share = [&](double fraction) {
    return static_cast<std::int64_t>(std::floor(static_cast<double>(all.size()) * fraction + 1e-9));
  };
  std::int64_t end = all.size();
  const auto cut_off = [&](Split split, double fraction) {
    const std::int64_t begin = std::max<std::int64_t>(0, end - share(fraction));
    if (begin < end) stream_of(data, split) = cache.keep(all.slice(begin, end));
    end = begin;
  };
  if (options.test.empty()) cut_off(Split::Test, options.test_fraction);
  if (options.valid.empty()) cut_off(Split::Valid, options.valid_fraction);
  cut_off(Split::Dev, options.published_split ? 0 : options.dev_fraction);
  stream_of(data, Split::Train) = all.slice(0, end);
  if (!options.test.empty()) {
    const TokenFile test = read_own(options.test, options);
    data.vocab_size = std::max(data.vocab_size, test.vocab_size);
    data.test_sha256 = test.source.sha256;
    data.test_file = test.source;
    stream_of(data, Split::Test) = cache.keep(test.tokens);
  }
  for (const Split split : {Split::Dev, Split::Valid, Split::Test}) {
    const TokenStream& tokens = data.split(split);
    if (!tokens.empty()) file_of(data, split) = cache.file_of(tokens);
  }
}

void open_texts(Dataset& data, const DataOptions& options, const TokenCache& cache,
                const std::string* frozen_self_text) {
  const Corpus corpus = read_corpus(options, frozen_self_text, options.tokenizer != "byte");
  data.files = corpus.files;
  data.corpus_sha256 = corpus.sha256;
  data.test_sha256 = corpus.test_sha256;
  data.test_file = corpus.test;
  data.variant = corpus.variant;
  data.tokenizer =
      make_tokenizer({options.tokenizer, options.word_vocab_size, options.tokenizer_path},
                     corpus.text(Split::Train));
  data.vocab_size = data.tokenizer->vocab_size();
  for (std::size_t i = 0; i < data.streams.size(); ++i) {
    if (corpus.texts[i].empty()) continue;
    data.streams[i] = cache.tokens(corpus.texts[i], *data.tokenizer);
    data.token_files[i] = cache.file_of(corpus.texts[i], *data.tokenizer);
  }
}

void check_vocabulary(const Dataset& data, const DataOptions& options) {
  if (!options.model_vocab_size) {
    if (options.tokenizer != "char" || !data.tokenizer) return;
    throw UserError(ExitCode::Usage,
                    fmt::format("data.tokenizer: char needs model.vocab_size in the sweep file; "
                                "this text's own number is {}",
                                data.vocab_size));
  }
  if (*options.model_vocab_size >= data.vocab_size) return;
  throw UserError(
      ExitCode::Usage,
      fmt::format(
          "model.vocab_size: {} is too small; the text's own number ({} of corpus {}) is {}: "
          "set model.vocab_size to {} or more",
          *options.model_vocab_size, data.tokenizer ? "data.tokenizer " + options.tokenizer : "ids",
          options.corpus, data.vocab_size, data.vocab_size));
}

void check_lengths(const Dataset& data, const DataOptions& options) {
  if (data.train().size() < options.seq_len + 1) {
    throw UserError(ExitCode::BadData,
                    fmt::format("corpus {}: {} training tokens are too few for one window of "
                                "data.seq_len + 1 = {}; use a longer text or a smaller "
                                "data.seq_len",
                                options.corpus, data.train().size(), options.seq_len + 1));
  }
  for (const Split split : {Split::Dev, Split::Valid, Split::Test}) {
    const std::int64_t size = data.split(split).size();
    const bool asked = split == Split::Test && (!options.test.empty() || options.test_fraction > 0);
    const bool wanted = split == Split::Valid || asked || size > 0;
    const std::filesystem::path own = split == Split::Valid  ? options.valid
                                      : split == Split::Test ? options.test
                                                             : "";
    if (!own.empty() && size < options.seq_len + 1) {
      throw UserError(ExitCode::BadData,
                      fmt::format("data.{}: '{}' has {} tokens, too few for one window of "
                                  "data.seq_len + 1 = {}; use a longer text or a smaller "
                                  "data.seq_len",
                                  name_of(split), own.string(), size, options.seq_len + 1));
    }
    if (!wanted || size >= 2) continue;
    throw UserError(ExitCode::BadData,
                    fmt::format("corpus {}: the split '{}' has {} tokens; a prediction needs two: "
                                "use a longer text, or a larger share of it (data.{}_fraction)",
                                options.corpus, name_of(split), size, name_of(split)));
  }
}

}  // namespace

Dataset open_dataset(const DataOptions& options, const std::filesystem::path& cache_folder,
                     const std::string* frozen_self_text) {
  Dataset data;
  data.corpus = options.corpus;
  require_one_kind(options);
  const TokenCache cache(options.cache.empty() ? cache_folder : options.cache);
  if (options.is_synthetic()) {
    open_synthetic(data, options);
  } else if (reads_token_files(options)) {
    open_token_files(data, options, cache);
  } else {
    open_texts(data, options, cache, frozen_self_text);
  }
  if (cache.in_memory()) data.token_files = {};
  check_vocabulary(data, options);
  if (options.train_tokens) {
    TokenStream& train = stream_of(data, Split::Train);
    train = train.slice(0, std::min(*options.train_tokens, train.size()));
    if (data.tokenizer && keeps_text(options.tokenizer, train)) {
      train = train.with_bytes(bytes_of(*data.tokenizer, train));
    }
  }
  check_lengths(data, options);
  describe_splits(data, options.tokenizer);
  data.warnings = split_warnings(data, options);
  data.tokens_sha256 = data.split_sha256[static_cast<std::size_t>(Split::Train)];
  return data;
}

}  // namespace depthgrid
