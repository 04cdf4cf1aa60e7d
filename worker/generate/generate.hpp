#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "models/decode/token_choice.hpp"
#include "models/model.hpp"
#include "sweeps/orders/cell_orders.hpp"

namespace depthgrid {

/// What generation did.
struct Generated {
  std::vector<std::int64_t> tokens;  // the new ones
  std::int64_t restarts = 0;         // times that the window was moved
  std::int64_t cache_bytes = 0;      // at the end
};

/// Continues a sequence by tokens drawn one by one; the model runs with its caches.
///
/// The n-th new token is drawn with the Philox number (seed, "generate", n): the same whatever the
/// prompt's cut or the machine. Where learned positions end, the newest half of what they hold is
/// read again from position 0 and generation goes on from there; other positions have no end.
/// @param prompt      at least one token.
/// @param vocabulary  tokens that may be drawn: the first so many.
/// @param each        called with every new token.
/// @param execution   of layers that may skip tokens: see Decoder.
/// @param control     what steers the depth, the same for all tokens: see Decoder.
Generated generate_tokens(const Model& model, const std::vector<std::int64_t>& prompt,
                          std::int64_t tokens, const TokenChoice& choice, std::uint64_t seed,
                          std::int64_t vocabulary,
                          const std::function<void(std::int64_t)>& each = {},
                          std::optional<Execution> execution = {}, Control control = {});

/// `depthgrid generate`: continues a prompt and prints both. @return exit code.
int generate(const GenerateOrder& order);

}  // namespace depthgrid
