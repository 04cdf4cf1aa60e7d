#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/decode/token_choice.hpp"
#include "models/model.hpp"
#include "sweeps/protocol/commands.hpp"

namespace depthgrid {

/// Result of a generation.
struct Generated {
  std::vector<std::int64_t> tokens;  // the new ones
  std::int64_t restarts = 0;         // times that the window was moved
  std::int64_t cache_bytes = 0;      // at the end
};

/// Continues a sequence with tokens drawn one by one; the model runs with its caches.
///
/// The n-th new token is drawn with the Philox number (seed, "generate", n), independent of the
/// division of the prompt and of the machine. Where learned positions end, the newest half of the
/// window is read again from position 0 and generation continues from there; other positions have
/// no limit.
/// @param prompt      at least one token.
/// @param vocabulary  number of tokens that may be drawn, from the first one.
/// @param execution   of layers that may skip tokens: see Decoder.
/// @param control     signal that steers the depth, the same for all tokens: see Decoder.
Generated generate_tokens(const Model& model, const std::vector<std::int64_t>& prompt,
                          std::int64_t tokens, const TokenChoice& choice, std::uint64_t seed,
                          std::int64_t vocabulary, std::optional<Execution> execution = {},
                          Control control = {});

/// `depthgrid generate`: continues a prompt and prints both. @return exit code.
/// @throws UserError (Usage) if the prompt is empty or has unknown tokens, or the control signal
///         does not fit the cell.
int generate(const GenerateCommand& command);

}  // namespace depthgrid
