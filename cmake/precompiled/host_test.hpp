// Precompiled for tests without LibTorch.
#pragma once
#include <gtest/gtest.h>

#include "cmake/precompiled/host.hpp"
