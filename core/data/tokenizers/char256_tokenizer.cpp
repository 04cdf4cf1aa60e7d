#include "core/data/tokenizers/char256_tokenizer.hpp"

#include <algorithm>

#include "core/base/error.hpp"
#include "core/data/tokenizers/utf8.hpp"

namespace depthgrid {

void Char256Tokenizer::encode(std::string_view text, std::vector<std::uint32_t>& out) const {
  out.reserve(out.size() + text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::int32_t code = next_code_point(text, at);
    if (code < 0) throw Error("char256: the text is not UTF-8");
    out.push_back(static_cast<std::uint32_t>(std::min(code, 255)));
  }
}

std::string Char256Tokenizer::decode(std::span<const std::uint32_t> ids) const {
  std::string text;
  for (const std::uint32_t id : ids) {
    if (id > 255) throw Error("char256: id " + std::to_string(id) + " is not below 256");
    append_utf8(text, id);
  }
  return text;
}

}  // namespace depthgrid
