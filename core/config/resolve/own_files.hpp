#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace depthgrid {

struct Slots;

/// What is wrong with a file that a leaf names.
struct OwnFileProblem {
  std::size_t leaf = 0;  // row of the schema
  std::string message;
};

/// Problems of the files that `data.path`, `data.valid` and `data.test` name, found without reading
/// more than their sizes and beginnings: one is empty, too short for its split (a token takes a
/// byte or more), or of contents that its format does not have. Missing files of `data.path` and
/// `data.valid` are left to who reads them for the cell's identity.
std::vector<OwnFileProblem> own_file_problems(const Slots& slots);

/// The files that a leaf names: one, a list of them, or none.
std::vector<std::string> named_files(const Slots& slots, std::size_t leaf);

}  // namespace depthgrid
