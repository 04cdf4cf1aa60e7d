#include "worker/process/out_of_memory.hpp"

#include <new>
#include <string_view>

#include <c10/util/Exception.h>

namespace depthgrid {

bool is_out_of_memory(const std::exception& e) {
  if (dynamic_cast<const std::bad_alloc*>(&e) != nullptr) return true;
  if (dynamic_cast<const c10::OutOfMemoryError*>(&e) != nullptr) return true;
  return std::string_view(e.what()).find("DefaultCPUAllocator") != std::string_view::npos;
}

}  // namespace depthgrid
