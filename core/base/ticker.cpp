#include "core/base/ticker.hpp"

#include <exception>
#include <utility>

#include "core/base/clock.hpp"
#include "core/base/held_signals.hpp"
#include "core/base/log.hpp"

namespace depthgrid {

Ticker::Ticker(std::string name, double period, Tick tick, Tick last)
    : name_(std::move(name)),
      period_(period),
      tick_(std::move(tick)),
      last_(std::move(last)),
      thread_(thread_without_signals([this] { run(); })) {}

Ticker::~Ticker() {
  stop();
}

void Ticker::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Ticker::run() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, period_, [this] { return stopping_; })) {
    lock.unlock();
    call(tick_);
    lock.lock();
  }
  if (last_) call(last_);
}

void Ticker::call(const Tick& work) const {
  try {
    work(real_clock().now());
  } catch (const std::exception& e) {
    log_quietly(LogLevel::Warning, name_ + ": " + e.what());
  }
}

}  // namespace depthgrid
