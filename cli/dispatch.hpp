#pragma once

#include <span>
#include <string>

#include "cli/verbs.hpp"

namespace depthgrid {

/// What `depthgrid help` prints.
std::string usage(std::span<const Verb> verbs);

/// Runs the verb named by the first word on the rest; also handles `help` and `version`.
/// @return exit code. @throws UserError (Usage) for a missing or unknown verb; else what the verb
///         throws.
int dispatch(std::span<const Verb> verbs, Arguments words);

}  // namespace depthgrid
