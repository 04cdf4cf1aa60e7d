#include "core/data/token_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/digest.hpp"
#include "core/base/error.hpp"
#include "core/base/json_text.hpp"
#include "core/data/corpus_search.hpp"
#include "core/data/kept_text.hpp"
#include "core/data/mapped_file.hpp"

namespace depthgrid {

TokenFile read_token_file(const std::filesystem::path& bin) {
  const std::filesystem::path described = std::filesystem::path(bin).replace_extension(".json");
  const auto bad = [](const std::filesystem::path& file, const std::string& why) {
    return UserError(ExitCode::BadData,
                     fmt::format("{}: {}; a tokenised corpus is NAME.bin with NAME.json beside it: "
                                 "{{\"dtype\": \"uint16\" or \"uint32\", \"vocab_size\": V}}",
                                 file.string(), why));
  };
  const std::string text = read_corpus_file(described);
  const auto json = parse_json_or_discard(text);
  if (!json.is_object()) throw bad(described, "is not a JSON object");
  const std::string dtype = json.contains("dtype") && json["dtype"].is_string()
                                ? json["dtype"].get<std::string>()
                                : std::string();
  if (dtype != "uint16" && dtype != "uint32") throw bad(described, "has no valid field 'dtype'");
  const auto count = [&](const char* field) -> std::int64_t {
    if (!json.contains(field)) return 0;
    if (!json[field].is_number_unsigned()) {
      throw bad(described, fmt::format("field '{}' is not a count", field));
    }
    return json[field].get<std::int64_t>();
  };
  TokenFile file;
  file.vocab_size = count("vocab_size");
  if (file.vocab_size < 2) throw bad(described, "has no valid field 'vocab_size'");
  if (json.contains("tokenizer")) {
    if (!json["tokenizer"].is_string()) throw bad(described, "field 'tokenizer' is not a text");
    file.tokenizer = json["tokenizer"].get<std::string>();
  }

  const int width = dtype == "uint16" ? 2 : 4;
  const std::shared_ptr<const MappedFile> mapped = MappedFile::open(bin);
  const auto bytes = static_cast<std::int64_t>(mapped->bytes().size());
  if (bytes % width != 0) {
    throw bad(bin, fmt::format("{} bytes are not a whole number of {} ids", bytes, dtype));
  }
  if (json.contains("tokens") && count("tokens") != bytes / width) {
    throw bad(bin,
              fmt::format("holds {} ids, its side-car says {}", bytes / width, count("tokens")));
  }
  file.tokens = TokenStream(mapped, mapped->bytes().data(), bytes / width, width, count("bytes"));
  if (file.tokens.max_id() >= file.vocab_size) {
    throw bad(bin, fmt::format("id {} is not below its vocab_size {}", file.tokens.max_id(),
                               file.vocab_size));
  }
  if (!file.tokenizer.empty() && !keeps_text(file.tokenizer, file.tokens)) {
    file.tokens = file.tokens.with_bytes(0);
  }
  file.source = {bin, bytes, hex(sha256(file.tokens.sha256() + hex(sha256(text))))};
  return file;
}

}  // namespace depthgrid
