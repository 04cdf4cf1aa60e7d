#include "core/data/windows.hpp"

#include <ATen/ops/empty.h>

namespace depthgrid {

void gather_windows(const TokenStream& stream, std::span<const std::int64_t> starts,
                    std::int64_t length, std::int64_t* out) {
  for (const std::int64_t start : starts) {
    stream.copy(start, {out, static_cast<std::size_t>(length)});
    out += length;
  }
}

at::Tensor gather_windows(const TokenStream& stream, std::span<const std::int64_t> starts,
                          std::int64_t length) {
  at::Tensor windows = at::empty({static_cast<std::int64_t>(starts.size()), length},
                                 at::TensorOptions().dtype(at::kLong));
  gather_windows(stream, starts, length, windows.data_ptr<std::int64_t>());
  return windows;
}

}  // namespace depthgrid
