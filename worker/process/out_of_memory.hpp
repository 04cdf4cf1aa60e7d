#pragma once

#include <exception>

namespace depthgrid {

/// Whether an error means that memory did not suffice: LibTorch says it in words on the CPU and by
/// a type of its own on a GPU.
bool is_out_of_memory(const std::exception& e);

}  // namespace depthgrid
