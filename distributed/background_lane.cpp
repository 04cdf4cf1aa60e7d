#include "distributed/background_lane.hpp"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <queue>
#include <thread>
#include <utility>

#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

namespace depthgrid {
namespace {

class SameLane final : public BackgroundLane {
 public:
  explicit SameLane(c10::Device device) : device_(device) {}
  c10::Device device() const noexcept override { return device_; }
  void begin(std::function<void()> work) override { work(); }
  void finish(const std::function<void()>& last) override { last(); }

 private:
  c10::Device device_;
};

class ThreadLane final : public BackgroundLane {
 public:
  ThreadLane() : thread_([this] { run(); }) {}
  ~ThreadLane() override {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  ThreadLane(const ThreadLane&) = delete;
  ThreadLane& operator=(const ThreadLane&) = delete;

  c10::Device device() const noexcept override { return c10::Device(c10::kCPU); }

  void begin(std::function<void()> work) override {
    {
      const std::lock_guard lock(mutex_);
      waiting_.push(std::move(work));
    }
    changed_.notify_all();
  }

  void finish(const std::function<void()>& last) override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_.empty() && !busy_; });
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    lock.unlock();
    last();
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return ends_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      const std::function<void()> work = std::move(waiting_.front());
      waiting_.pop();
      if (failure_) continue;
      busy_ = true;
      lock.unlock();
      std::exception_ptr failure;
      try {
        work();
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
      busy_ = false;
      failure_ = failure;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::queue<std::function<void()>> waiting_;
  bool busy_ = false, ends_ = false;
  std::exception_ptr failure_;
  std::thread thread_;  // last: it uses the others
};

class StreamLane final : public BackgroundLane {
 public:
  explicit StreamLane(c10::Device device)
      : device_(device),
        guard_(device.type()),
        side_(guard_.getStreamFromGlobalPool(device, /*isHighPriority=*/true)) {}

  c10::Device device() const noexcept override { return device_; }

  void begin(std::function<void()> work) override {
    c10::Event ready(device_.type());
    ready.record(guard_.getStream(device_));
    ready.block(side_);
    const c10::StreamGuard on_side(side_);
    work();
  }

  void finish(const std::function<void()>& last) override {
    {
      const c10::StreamGuard on_side(side_);
      last();
    }
    c10::Event done(device_.type());
    done.record(side_);
    done.block(guard_.getStream(device_));
  }

 private:
  c10::Device device_;
  c10::impl::VirtualGuardImpl guard_;
  c10::Stream side_;
};

}  // namespace

std::unique_ptr<BackgroundLane> make_lane(c10::Device device, bool beside) {
  if (!beside) return std::make_unique<SameLane>(device);
  if (device.is_cpu()) return std::make_unique<ThreadLane>();
  return std::make_unique<StreamLane>(device);
}

}  // namespace depthgrid
