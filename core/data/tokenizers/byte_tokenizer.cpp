#include "core/data/tokenizers/byte_tokenizer.hpp"

#include "core/base/error.hpp"

namespace depthgrid {

void ByteTokenizer::encode(std::string_view text, std::vector<std::uint32_t>& out) const {
  out.reserve(out.size() + text.size());
  for (const char c : text) out.push_back(static_cast<unsigned char>(c));
}

std::string ByteTokenizer::decode(std::span<const std::uint32_t> ids) const {
  std::string text;
  text.reserve(ids.size());
  for (const std::uint32_t id : ids) {
    if (id > 255) throw Error("byte: id " + std::to_string(id) + " is not below 256");
    text += static_cast<char>(id);
  }
  return text;
}

}  // namespace depthgrid
