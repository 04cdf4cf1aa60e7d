#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/verbs.hpp"

namespace depthgrid {

/// Prints candidates for the last of the words on a command line, one per line: verbs, options of
/// a verb, leaves, words of a leaf. Prints nothing where a file name is expected.
/// @param words  without the name of the program; the last one may be empty or incomplete.
void print_completions(std::span<const Verb> verbs, std::span<const std::string> words);

/// The script that makes a shell ask for them. @param shell  bash or zsh.
std::string completion_script(std::string_view shell);

}  // namespace depthgrid
