#include "sweeps/page/token_texts.hpp"

#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "core/base/json_text.hpp"
#include "core/base/subprocess.hpp"
#include "sweeps/orders/orders.hpp"

namespace depthgrid {

TokenTexts parse_token_texts(std::string_view answer) {
  try {
    const nlohmann::json json = parse_json(answer);
    TokenTexts out{json.at("probe_set_sha256"), {}};
    if (!json.at("sequences").empty()) json.at("sequences").at(0).get_to(out.tokens);
    return out;
  } catch (const nlohmann::json::exception& e) {
    throw Error(fmt::format("depthgrid-worker tokens: {}", e.what()));
  }
}

void add_token_texts(ProbeSights& sights, const TokenTexts& texts) {
  sights.no_tokens.clear();
  for (SeenMask& seen : sights.masks) {
    if (seen.mask.set_sha256 == texts.set_sha256 && texts.tokens.size() == seen.mask.positions) {
      seen.tokens = texts.tokens;
    }
    if (!seen.tokens.empty()) continue;
    sights.no_tokens =
        "the store does not say which tokens its probes saw, or its corpus has other ones now";
  }
}

void ask_token_texts(const Listing& listing, ProbeSights& sights, const Processes& processes) {
  const std::string worker = program_beside("depthgrid-worker").string();
  std::set<std::string> asked;
  for (std::size_t i = 0; i < sights.masks.size(); ++i) {
    const SeenMask& seen = sights.masks[i];
    if (!seen.tokens.empty() || !asked.insert(seen.mask.set_sha256).second) continue;
    const TokensOrder order{listing.store_of(seen.row), listing.cells[seen.row].id};
    try {
      const CommandAnswer answer =
          processes.ask(own_question({worker, "tokens", order_text(order)}), "");
      if (answer.code == 0) {
        add_token_texts(sights, parse_token_texts(answer.out));
        continue;
      }
    } catch (const Error&) {  // it could not be started, or is of another build
    }
    sights.no_tokens = "the corpus of these cells could not be read when the page was made";
    return;
  }
}

}  // namespace depthgrid
