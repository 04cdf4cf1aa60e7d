#include "core/data/tokenizers/tokenizer.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/data/tokenizers/tokenizer_kinds.hpp"

namespace depthgrid {
namespace {

struct Kind {
  std::string_view name;
  std::unique_ptr<Tokenizer> (*make)(const TokenizerOptions&, std::string_view train_text);
};

constexpr Kind kKinds[] = {
    {"char256", make_char256_tokenizer}, {"byte", make_byte_tokenizer},
    {"gpt2", make_gpt2_tokenizer},       {"char", make_char_tokenizer},
    {"word", make_word_tokenizer},
};

}  // namespace

std::string Tokenizer::decode(std::span<const std::uint32_t> ids) const {
  std::string text;
  for (const std::uint32_t id : ids) {
    if (id >= vocab_size()) {
      const std::string name = identity();
      throw Error(fmt::format("{}: id {} is not below {}", name.substr(0, name.find(' ')), id,
                              vocab_size()));
    }
    append(id, text);
  }
  return text;
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
