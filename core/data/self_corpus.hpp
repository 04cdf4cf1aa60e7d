#pragma once

#include <filesystem>
#include <string>

namespace depthgrid {

/// The text files of a checkout of this project (documentation, sources, tests, configurations),
/// sorted by path and concatenated, each ending with a newline. Hidden folders and build, data and
/// results are left out.
std::string self_text(const std::filesystem::path& checkout);

/// The text of the corpus `self`: `given`/self.txt if a folder is given; else from the checkout
/// that this program was built from; else share/depthgrid/self.txt beside the program or one
/// folder up.
/// @throws UserError (NoInput) listing the places searched.
std::string load_self_text(const std::filesystem::path& given = {});

}  // namespace depthgrid
