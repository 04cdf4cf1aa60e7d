#pragma once

#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <thread>

#include "worker/process/watchdog.hpp"

namespace depthgrid {

/// Tells who watches this process from outside what its watchdog has seen, from a thread of its
/// own: a file system that does not answer must not hold the watchdog. Nothing is told while the
/// work gives no sign of life.
class LifeTeller {
 public:
  /// @param board  see RunOrder::board; made if it is not there. @param hang  RunOrder::hang.
  /// @throws StorageError
  LifeTeller(const Watchdog& watchdog, const std::filesystem::path& board, double hang);
  ~LifeTeller();
  LifeTeller(const LifeTeller&) = delete;
  LifeTeller& operator=(const LifeTeller&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace depthgrid
