// Precompiled for targets without LibTorch.
#pragma once
#include <nlohmann/json.hpp>

#include "cmake/precompiled/standard.hpp"
