#pragma once

#include <cstdint>
#include <span>

#include <ATen/core/Tensor.h>

#include "core/data/token_stream.hpp"

namespace depthgrid {

/// Copies windows out of a stream.
/// @return (n, length) int64 on the CPU.
/// @throws Error unless every window lies inside the stream.
at::Tensor gather_windows(const TokenStream& stream, std::span<const std::int64_t> starts,
                          std::int64_t length);

/// The same into `out`, memory for n * length numbers.
void gather_windows(const TokenStream& stream, std::span<const std::int64_t> starts,
                    std::int64_t length, std::int64_t* out);

}  // namespace depthgrid
