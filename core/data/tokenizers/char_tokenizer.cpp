#include "core/data/tokenizers/char_tokenizer.hpp"

#include <algorithm>

#include "core/base/digest.hpp"
#include "core/base/error.hpp"
#include "core/data/tokenizers/utf8.hpp"

namespace depthgrid {

CharTokenizer::CharTokenizer(std::string_view train_text) {
  std::vector<bool> seen(0x110000);
  for (std::size_t at = 0; at < train_text.size();) {
    const std::int32_t code = next_code_point(train_text, at);
    if (code < 0) throw Error("char: the training text is not UTF-8");
    seen[static_cast<std::size_t>(code)] = true;
  }
  for (std::uint32_t code = 0; code < seen.size(); ++code) {
    if (!seen[code]) continue;
    characters_.push_back(code);
    id_.resize(code + 1, 0);
    id_[code] = static_cast<std::uint32_t>(characters_.size());
  }
}

std::string CharTokenizer::identity() const {
  return "char " + hex(sha256(std::as_bytes(std::span(characters_))));
}

std::int64_t CharTokenizer::vocab_size() const {
  return static_cast<std::int64_t>(characters_.size()) + 1;
}

void CharTokenizer::encode(std::string_view text, std::vector<std::uint32_t>& out) const {
  out.reserve(out.size() + text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::int32_t code = next_code_point(text, at);
    if (code < 0) throw Error("char: the text is not UTF-8");
    const auto index = static_cast<std::size_t>(code);
    out.push_back(index < id_.size() ? id_[index] : 0);
  }
}

std::string CharTokenizer::decode(std::span<const std::uint32_t> ids) const {
  std::string text;
  for (const std::uint32_t id : ids) {
    if (id > characters_.size()) {
      throw Error("char: id " + std::to_string(id) + " is not below " +
                  std::to_string(vocab_size()));
    }
    append_utf8(text, id == 0 ? 0xFFFDU : characters_[id - 1]);
  }
  return text;
}

}  // namespace depthgrid
