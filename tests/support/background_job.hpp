#pragma once

#include <array>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <string>

#include <fcntl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

namespace depthgrid {

/// What came of in_background().
struct BackgroundEnd {
  bool stopped = false;  // by the terminal, as a job that may not write
  int code = -1;
  std::string seen;  // what the terminal shows
};

/// Runs `work` as a job in the background of a terminal whose foreground another job has; stderr is
/// that terminal. @param tostop  it stops jobs in the background that write to it.
inline BackgroundEnd in_background(bool tostop, const std::function<int()>& work) {
  constexpr int kStopped = 99, kNoTerminal = 98;
  const int screen = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (screen < 0 || grantpt(screen) != 0 || unlockpt(screen) != 0) return {};
  const std::string name = ptsname(screen);
  const pid_t shell = fork();
  if (shell == 0) {
    setsid();
    const int terminal = open(name.c_str(), O_RDWR);  // from now on the session's
    termios settings{};
    if (terminal < 0 || tcgetattr(terminal, &settings) != 0) _exit(kNoTerminal);
    if (tostop) settings.c_lflag |= TOSTOP;
    tcsetattr(terminal, TCSANOW, &settings);
    dup2(terminal, STDERR_FILENO);
    setenv("TERM", "xterm", 1);
    const pid_t other = fork();
    if (other == 0) {
      while (true) pause();
    }
    setpgid(other, other);
    tcsetpgrp(terminal, other);
    const pid_t job = fork();
    if (job == 0) {
      setpgid(0, 0);
      _exit(work());
    }
    int status = 0;
    waitpid(job, &status, WUNTRACED);
    kill(job, SIGKILL);
    kill(other, SIGKILL);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : kStopped);
  }
  BackgroundEnd out;
  int status = 0;
  waitpid(shell, &status, 0);
  out.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  out.stopped = out.code == kStopped;
  fcntl(screen, F_SETFL, O_NONBLOCK);
  std::array<char, 4096> part{};
  for (ssize_t n = 0; (n = read(screen, part.data(), part.size())) > 0;) {
    out.seen.append(part.data(), static_cast<std::size_t>(n));
  }
  close(screen);
  return out;
}

}  // namespace depthgrid
