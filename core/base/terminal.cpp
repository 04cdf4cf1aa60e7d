#include "core/base/terminal.hpp"

#include <cerrno>
#include <cstdlib>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "core/base/subprocess.hpp"

namespace depthgrid {
namespace {

bool draws(int fd) {
  const char* kind = std::getenv("TERM");
  return isatty(fd) == 1 && kind != nullptr && *kind != '\0' && std::string_view(kind) != "dumb";
}

/// One call: lines of several processes stay whole.
void write_whole(int fd, std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

}  // namespace

void TerminalTraits::release(Handle fd) noexcept {
  close(fd);
}

std::optional<Terminal> Terminal::of(int fd) {
  if (!draws(fd)) return std::nullopt;
  const int own = fcntl(fd, F_DUPFD_CLOEXEC, 3);
  if (own < 0) return std::nullopt;
  return Terminal(own);
}

std::optional<Terminal> Terminal::find() {
  if (auto own = of(STDERR_FILENO)) return own;
  if (!under_launcher()) return std::nullopt;
  const std::string name = "/proc/" + std::to_string(getppid()) + "/fd/2";
  const int fd = open(name.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return std::nullopt;
  // O_NONBLOCK is for opening only: a file that is no terminal must not make us wait.
  Terminal found(fd);
  if (!draws(fd)) return std::nullopt;
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
  return found;
}

Terminal::Size Terminal::size() const {
  winsize window{};
  Size out;
  if (ioctl(fd_.get(), TIOCGWINSZ, &window) != 0) return out;
  if (window.ws_col > 0) out.columns = window.ws_col;
  if (window.ws_row > 0) out.rows = window.ws_row;
  return out;
}

bool Terminal::ours() const {
  const pid_t foreground = tcgetpgrp(fd_.get());
  if (foreground < 0)
    return true;  // not our controlling terminal: there are no jobs to distinguish
  return foreground == getpgrp() || foreground == getpgid(getppid());
}

TerminalUse Terminal::use() const {
  if (ours()) return TerminalUse::Draw;
  termios settings{};
  const bool stops = tcgetattr(fd_.get(), &settings) == 0 && (settings.c_lflag & TOSTOP) != 0;
  return stops ? TerminalUse::Nothing : TerminalUse::Lines;
}

void Terminal::write(std::string_view text) const noexcept {
  write_whole(fd_.get(), text);
}

PassingLine::PassingLine(std::optional<Terminal> terminal, std::string_view text)
    : terminal_(std::move(terminal)) {
  if (terminal_ && terminal_->use() != TerminalUse::Draw) terminal_.reset();
  if (terminal_) terminal_->write(std::string(kEraseBelow) + std::string(text) + "\r");
}

PassingLine::~PassingLine() {
  if (terminal_) terminal_->write(kEraseBelow);
}

void erase_display() noexcept {
  if (draws(STDERR_FILENO)) write_whole(STDERR_FILENO, kEraseBelow);
}

}  // namespace depthgrid
