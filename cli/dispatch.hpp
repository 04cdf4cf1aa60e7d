#pragma once

#include <span>
#include <string>

#include "cli/verbs.hpp"

namespace depthgrid {

/// What `depthgrid help` prints.
std::string usage(std::span<const Verb> verbs);

/// Runs the verb that the first word names with those behind it; knows `help` and `version`, too.
/// @return exit code. @throws UserError (Usage) for a verb that is missing or unknown, and what the
///         verb throws.
int dispatch(std::span<const Verb> verbs, Arguments words);

}  // namespace depthgrid
