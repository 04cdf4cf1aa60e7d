#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace depthgrid {

/// Text files of a checkout of this project, sorted by path: documentation, sources, tests,
/// configurations. Folders that begin with a dot and build, data and results are left out.
std::vector<std::filesystem::path> self_files(const std::filesystem::path& checkout);

/// The contents of self_files() one after the other, each ended by a newline.
std::string self_text(const std::filesystem::path& checkout);

/// The text of the corpus `self`: `given`/self.txt if a folder is given; else the checkout that
/// this program was built from; else share/depthgrid/self.txt beside the program or one folder
/// above.
/// @throws UserError (NoInput) that lists where it looked.
std::string load_self_text(const std::filesystem::path& given = {});

}  // namespace depthgrid
