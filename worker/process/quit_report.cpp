#include "worker/process/quit_report.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <unistd.h>

namespace depthgrid {
namespace {

// A signal handler can reach only globals, and must not allocate.
std::atomic<const Watchdog*> reported = nullptr;
std::atomic<int> reported_rank = 0, report_file = 2;
struct sigaction quit_before{};

/// A line of limited length, made without a call that could allocate or lock.
class PlainLine {
 public:
  PlainLine& operator<<(std::string_view text) {
    const std::size_t n = text.size() < text_.size() - size_ ? text.size() : text_.size() - size_;
    std::memcpy(text_.data() + size_, text.data(), n);
    size_ += n;
    return *this;
  }
  PlainLine& operator<<(std::int64_t number) {
    std::array<char, 20> digits{};
    std::size_t at = digits.size();
    if (number < 0) number = 0;
    do {
      digits[--at] = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number > 0 && at > 0);
    return *this << std::string_view(digits.data() + at, digits.size() - at);
  }
  void write_to(int file) const {
    [[maybe_unused]] const auto written = write(file, text_.data(), size_);
  }

 private:
  std::array<char, 256> text_{};
  std::size_t size_ = 0;
};

void report_now(int /*signal*/) {
  const int saved = errno;
  if (const Watchdog* const watchdog = reported) {
    const LastSign last = watchdog->last();
    PlainLine line;
    line << "depthgrid: rank " << std::int64_t{reported_rank} << ", process "
         << std::int64_t{getpid()} << ": " << rule_of(last.phase).name;
    if (last.step >= 0) line << ", step " << last.step;
    line << ", last sign of life " << static_cast<std::int64_t>(last.silent) << " s ago\n";
    line.write_to(report_file);
  }
  errno = saved;
}

}  // namespace

QuitReport::QuitReport(const Watchdog& watchdog, int rank, int file) {
  reported_rank = rank;
  report_file = file;
  reported = &watchdog;
  struct sigaction action{};
  action.sa_handler = report_now;
  action.sa_flags = SA_RESTART;  // calls of libraries go on as if nothing had been
  sigaction(SIGQUIT, &action, &quit_before);
}

QuitReport::~QuitReport() {
  sigaction(SIGQUIT, &quit_before, nullptr);
  reported = nullptr;
}

}  // namespace depthgrid
