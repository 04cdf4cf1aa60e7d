#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace depthgrid {

/// Text files of a checkout of this project, sorted by path: documentation, sources, tests,
/// configurations. Hidden folders and build, data and results are left out.
std::vector<std::filesystem::path> self_files(const std::filesystem::path& checkout);

/// The contents of self_files(), concatenated, each ending with a newline.
std::string self_text(const std::filesystem::path& checkout);

/// The text of the corpus `self`: `given`/self.txt if a folder is given; else from the checkout
/// that this program was built from; else share/depthgrid/self.txt beside the program or one
/// folder up.
/// @throws UserError (NoInput) listing the places searched.
std::string load_self_text(const std::filesystem::path& given = {});

}  // namespace depthgrid
