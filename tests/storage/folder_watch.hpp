#pragma once

#include <csignal>
#include <filesystem>
#include <functional>
#include <utility>

#include <fcntl.h>

#include "storage/files/publish.hpp"

namespace depthgrid {

/// Another process's step, taken at a known moment: runs `act` whenever something is made
/// (DN_CREATE: also by a rename or a link) or read (DN_ACCESS: also the folder itself) in `folder`.
///
/// The kernel signals it to the thread that has caused it before the system call returns to it, so
/// a test on the main thread comes between two calls of the code that it tries. For `act`
/// allocating is fine, since no call that it interrupts holds the allocator's lock. One at a time.
class FolderWatch {
 public:
  FolderWatch(const std::filesystem::path& folder, int events, std::function<void()> act)
      : folder_(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    action() = std::move(act);
    before_ = std::signal(SIGIO, [](int) { action()(); });
    constexpr auto kAgainAndAgain = static_cast<unsigned long>(DN_MULTISHOT);
    works_ = folder_ && fcntl(folder_.get(), F_NOTIFY,
                              static_cast<unsigned long>(events) | kAgainAndAgain) == 0;
  }
  ~FolderWatch() {
    folder_.reset();  // no signal comes after this
    std::signal(SIGIO, before_);
  }
  FolderWatch(const FolderWatch&) = delete;
  FolderWatch& operator=(const FolderWatch&) = delete;

  /// False where the kernel does not know such signals.
  bool works() const { return works_; }

 private:
  /// A handler of signals gets at nothing else.
  static std::function<void()>& action() {
    static std::function<void()> act;
    return act;
  }

  Fd folder_;
  void (*before_)(int) = SIG_DFL;
  bool works_ = false;
};

}  // namespace depthgrid
