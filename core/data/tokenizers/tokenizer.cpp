#include "core/data/tokenizers/tokenizer.hpp"

#include <array>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/data/corpus_search.hpp"
#include "core/data/tokenizers/byte_tokenizer.hpp"
#include "core/data/tokenizers/char256_tokenizer.hpp"
#include "core/data/tokenizers/char_tokenizer.hpp"
#include "core/data/tokenizers/gpt2_tokenizer.hpp"
#include "core/data/tokenizers/word_tokenizer.hpp"

namespace depthgrid {
namespace {

using Made = std::unique_ptr<Tokenizer>;

struct Kind {
  std::string_view name;
  Made (*make)(const TokenizerOptions&, std::string_view train_text);
};

Made make_gpt2(const TokenizerOptions& options, std::string_view /*train_text*/) {
  return std::make_unique<Gpt2Tokenizer>(find_corpus("gpt2-bpe", {"encoder.json", "vocab.bpe"},
                                                     "data.tokenizer_path", options.folder));
}

constexpr std::array<Kind, 5> kKinds{{
    {"char256",
     [](const TokenizerOptions&, std::string_view) -> Made {
       return std::make_unique<Char256Tokenizer>();
     }},
    {"byte",
     [](const TokenizerOptions&, std::string_view) -> Made {
       return std::make_unique<ByteTokenizer>();
     }},
    {"gpt2", make_gpt2},
    {"char",
     [](const TokenizerOptions&, std::string_view text) -> Made {
       return std::make_unique<CharTokenizer>(text);
     }},
    {"word",
     [](const TokenizerOptions& options, std::string_view text) -> Made {
       return std::make_unique<WordTokenizer>(text, options.word_vocab_size);
     }},
}};

}  // namespace

std::vector<std::uint32_t> Tokenizer::encode(std::string_view text) const {
  std::vector<std::uint32_t> ids;
  encode(text, ids);
  return ids;
}

std::unique_ptr<Tokenizer> make_tokenizer(const TokenizerOptions& options,
                                          std::string_view train_text) {
  std::string known;
  for (const Kind& kind : kKinds) {
    if (kind.name == options.kind) return kind.make(options, train_text);
    known += fmt::format("{}{}", known.empty() ? "" : ", ", kind.name);
  }
  throw UserError(ExitCode::Usage, fmt::format("data.tokenizer: unknown tokeniser '{}'; known: {}",
                                               options.kind, known));
}

}  // namespace depthgrid
