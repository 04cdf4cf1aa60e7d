#pragma once

#include <string>

namespace depthgrid {

/// "0.1.0"
std::string version();

/// "0.1.0+3f2a91c0b7de" or "...-dirty": release and commit that this program was built from.
std::string code_version();

}  // namespace depthgrid
