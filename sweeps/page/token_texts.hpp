#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/processes.hpp"
#include "sweeps/page/probe_sights.hpp"

namespace depthgrid {

/// The worker's answer on which texts probes look.
struct TokenTexts {
  std::string set_sha256;           // of the whole probe set
  std::vector<std::string> tokens;  // of its first sequence
};

/// @throws Error if it is no such answer.
TokenTexts parse_token_texts(std::string_view answer);

/// Gives masks of the same probe set the texts of their tokens; of another set they keep none, and
/// ProbeSights::no_tokens says so.
void add_token_texts(ProbeSights& sights, const TokenTexts& texts);

/// Asks the worker beside this program, once for each probe set. Where it cannot tell, its message
/// is on stderr and ProbeSights::no_tokens says what is missing.
void ask_token_texts(const Listing& listing, ProbeSights& sights,
                     const Processes& processes = real_processes());

}  // namespace depthgrid
