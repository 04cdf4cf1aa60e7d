#pragma once

#include "core/base/fs.hpp"
#include "core/base/unique_handle.hpp"

namespace depthgrid {

struct FdTraits {
  using Handle = int;
  static constexpr Handle null() noexcept { return -1; }
  static void release(Handle fd) noexcept;  // logs a failure
};
using Fd = UniqueHandle<FdTraits>;

/// The file system of this machine: it holds no state. What it makes is for the owner, unless asked
/// for another access (Fs::with()).
const Fs& real_fs();

}  // namespace depthgrid
