// Precompiled for tests with LibTorch.
#pragma once
#include <gtest/gtest.h>

#include "cmake/precompiled/tensors.hpp"
