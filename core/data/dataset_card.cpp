#include "core/data/dataset_card.hpp"

#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "core/base/json_text.hpp"
#include "core/data/kept_text.hpp"
#include "core/data/token_cache.hpp"

namespace depthgrid {
namespace {

using Json = nlohmann::json;

constexpr int kCardSchema = 1;
constexpr std::array kSplits = {Split::Train, Split::Dev, Split::Valid, Split::Test};

/// @throws nlohmann::json::exception, Error if the card is not one.
std::optional<Dataset> read_card(const Json& card, const DataOptions& options,
                                 const std::filesystem::path& folder) {
  if (card.at("schema") != kCardSchema) return std::nullopt;
  Dataset data;
  data.corpus = card.at("corpus").get<std::string>();
  data.corpus_sha256 = card.at("corpus_sha256").get<std::string>();
  data.test_sha256 = card.at("test_sha256").get<std::string>();
  data.tokens_sha256 = card.at("tokens_sha256").get<std::string>();
  data.variant = card.at("variant").get<std::string>();
  data.vocab_size = card.at("vocab_size").get<std::int64_t>();
  for (const Json& file : card.at("files")) {
    data.files.push_back({file.at("path").get<std::string>(), file.at("bytes").get<std::int64_t>(),
                          file.at("sha256").get<std::string>()});
  }
  if (const Json& tokenizer = card.at("tokenizer"); !tokenizer.is_null()) {
    data.tokenizer =
        make_tokenizer({options.tokenizer, options.word_vocab_size, options.tokenizer_path,
                        card.at("vocabulary").get<std::vector<std::string>>()},
                       "");
    if (tokenizer != data.tokenizer->identity()) return std::nullopt;
  }
  for (const Split split : kSplits) {
    const Json& kept = card.at("splits").value(std::string(name_of(split)), Json());
    if (kept.is_null()) continue;
    const auto at = static_cast<std::size_t>(split);
    data.token_files[at] = folder / kept.at("file").get<std::string>();
    const auto tokens = TokenCache::open(data.token_files[at]);
    const auto size = kept.at("tokens").get<std::int64_t>();
    if (!tokens || tokens->size() < size) return std::nullopt;
    data.streams[at] = tokens->slice(0, size);
    if (kept.contains("bytes")) {
      data.streams[at] = data.streams[at].with_bytes(kept.at("bytes").get<std::int64_t>());
    }
  }
  describe_splits(data, options.tokenizer);
  for (const auto& [split, kept] : card.at("splits").items()) {
    const std::size_t at = label_index(kSplitNames, split);
    if (at < data.split_sha256.size() && data.split_sha256[at] != kept.at("sha256")) {
      return std::nullopt;
    }
  }
  return data;
}

}  // namespace

std::string dataset_card(const Dataset& data) {
  Json splits = Json::object();
  for (const Split split : kSplits) {
    const std::filesystem::path& file = data.token_files[static_cast<std::size_t>(split)];
    const TokenStream& tokens = data.split(split);
    if (file.empty() || tokens.empty()) continue;
    splits[std::string(name_of(split))] = {{"file", file.filename().string()},
                                           {"tokens", tokens.size()},
                                           {"bytes", tokens.bytes()},
                                           {"sha256", tokens.sha256()}};
  }
  Json files = Json::array();
  for (const SourceFile& file : data.files) {
    files.push_back({{"path", file.path.string()}, {"bytes", file.bytes}, {"sha256", file.sha256}});
  }
  const Tokenizer* const tokenizer = data.tokenizer.get();
  const Json card = {
      {"schema", kCardSchema},
      {"corpus", data.corpus},
      {"corpus_sha256", data.corpus_sha256},
      {"test_sha256", data.test_sha256},
      {"tokens_sha256", data.tokens_sha256},
      {"variant", data.variant},
      {"vocab_size", data.vocab_size},
      {"files", files},
      {"tokenizer", tokenizer == nullptr ? Json() : Json(tokenizer->identity())},
      {"vocabulary", tokenizer == nullptr ? Json::array() : Json(tokenizer->vocabulary())},
      {"splits", splits}};
  return json_text(card, 1) + "\n";
}

std::optional<Dataset> dataset_of_card(const std::string& card, const DataOptions& options,
                                       const std::filesystem::path& folder) {
  const Json json = parse_json_or_discard(card);
  if (!json.is_object()) return std::nullopt;
  try {
    return read_card(json, options, folder);
  } catch (const Json::exception&) {
    return std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::string changed_split(const std::string& card, const Dataset& data) {
  const Json json = parse_json_or_discard(card);
  if (!json.is_object() || !json.contains("splits")) return {};
  // Of tokenised files the card has no file for the training ids, but their digest.
  if (json.value("tokens_sha256", data.tokens_sha256) != data.tokens_sha256) return "train";
  for (const auto& [name, kept] : json["splits"].items()) {
    for (const Split split : kSplits) {
      if (name_of(split) != name || !kept.contains("sha256")) continue;
      if (kept["sha256"] != data.split(split).sha256()) return name;
    }
  }
  return {};
}

}  // namespace depthgrid
