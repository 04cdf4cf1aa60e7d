#pragma once

#include <cstdlib>
#include <filesystem>

namespace depthgrid::testing {

/// The checkout whose files a test reads; DEPTHGRID_TEST_SOURCES names a copy of them where a
/// bundle of test programs runs.
inline std::filesystem::path source_folder() {
  const char* const elsewhere = std::getenv("DEPTHGRID_TEST_SOURCES");
  return elsewhere != nullptr ? elsewhere : DEPTHGRID_SOURCE_DIR;
}

}  // namespace depthgrid::testing
