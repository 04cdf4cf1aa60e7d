#pragma once

#include <array>
#include <cstdio>
#include <string>

#include <gtest/gtest.h>

namespace depthgrid {

/// What HDF5's own tool says of a file: a reader that is not ours. Fails the test if it fails.
inline std::string h5dump(const std::string& arguments) {
  FILE* pipe = popen(("h5dump " + arguments + " 2>&1").c_str(), "r");
  std::string out;
  std::array<char, 4096> piece{};
  while (const std::size_t n = fread(piece.data(), 1, piece.size(), pipe)) {
    out.append(piece.data(), n);
  }
  EXPECT_EQ(pclose(pipe), 0) << out;
  return out;
}

}  // namespace depthgrid
