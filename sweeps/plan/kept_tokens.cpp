#include "sweeps/plan/kept_tokens.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <nlohmann/json.hpp>

#include "core/base/digest.hpp"
#include "core/base/json_text.hpp"
#include "core/config/value.hpp"

namespace depthgrid {
namespace {

/// Leaves of `data` in the identity of a cell that say which windows of its tokens are read.
constexpr std::array<std::string_view, 4> kWindows = {"data.seq_len", "data.sampler",
                                                      "data.first_step", "data.seed"};

/// Tokens by split; none of a card that is damaged or of another version.
std::map<std::string, double> tokens_of_card(const std::string& text) {
  std::map<std::string, double> out;
  const nlohmann::ordered_json card = parse_ordered_json_or_discard(text);
  if (!card.is_object() || !card.contains("splits") || !card["splits"].is_object()) return out;
  for (const auto& [split, kept] : card["splits"].items()) {
    const auto tokens = kept.is_object() ? kept.find("tokens") : kept.end();
    if (tokens != kept.end() && tokens->is_number()) out[split] = tokens->get<double>();
  }
  return out;
}

}  // namespace

std::string data_card_of_key(const std::string& key) {
  return "data-" + hex(sha256(key)).substr(0, 16);
}

std::string data_card_name(const CellConfig& config) {
  ValueMap leaves;
  for (const auto& [path, value] : config.changed()) {
    const bool windows = std::ranges::find(kWindows, path) != kWindows.end();
    if (path.starts_with("data.") && !windows) leaves.emplace_back(path, value);
  }
  // Its place is no part of the identity, and its content is pinned; that there is one decides.
  if (!config.null("data.test")) leaves.emplace_back("data.test", true);
  sort_map(leaves);
  return data_card_of_key(canonical_json(Value(leaves)));
}

double KeptTokens::operator()(const CellConfig& config, const std::string& split) {
  const auto [card, first] = cards_.try_emplace(data_card_name(config));
  if (first) card->second = tokens_of_card(store_->read_text(card->first).value_or(""));
  const auto tokens = card->second.find(split);
  return tokens == card->second.end() ? 0 : tokens->second;
}

}  // namespace depthgrid
