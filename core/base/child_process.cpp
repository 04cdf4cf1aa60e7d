#include "core/base/child_process.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/error.hpp"
#include "core/base/subprocess.hpp"
#include "core/base/unique_handle.hpp"

namespace depthgrid {
namespace {

struct DescriptorTraits {
  using Handle = int;
  static constexpr Handle null() noexcept { return -1; }
  static void release(Handle fd) noexcept { close(fd); }
};
using Descriptor = UniqueHandle<DescriptorTraits>;

std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> out;
  out.reserve(words.size() + 1);
  for (const std::string& word : words) out.push_back(const_cast<char*>(word.c_str()));
  out.push_back(nullptr);
  return out;
}

int exit_code_of(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::array<Descriptor, 2> make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw Error(std::string("pipe: ") + strerror(errno));
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

struct Streams {
  int in = -1, out = -1, err = -1;
};

cpu_set_t set_of(const std::vector<int>& cores) {
  cpu_set_t out;
  CPU_ZERO(&out);
  for (const int core : cores) CPU_SET(static_cast<std::size_t>(core), &out);
  return out;
}

/// In the child, between fork and exec: only calls that are safe there.
/// @param cores  bound to them; empty: as the parent.
[[noreturn]] void become_child(pid_t parent, const std::vector<char*>& words,
                               const std::vector<char*>& variables, const Streams& streams,
                               const cpu_set_t& cores, int problem) {
  setpgid(0, 0);
  if (CPU_COUNT(&cores) > 0) sched_setaffinity(0, sizeof cores, &cores);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int number : {SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGHUP, SIGPIPE, SIGCHLD}) {
    ::signal(number, SIG_DFL);
  }
  if (getppid() != parent) _exit(128 + SIGTERM);  // it died before it could be watched
  if (streams.in >= 0) dup2(streams.in, STDIN_FILENO);
  if (streams.out >= 0) dup2(streams.out, STDOUT_FILENO);
  if (streams.err >= 0) dup2(streams.err, STDERR_FILENO);
  execvpe(words[0], words.data(), variables.data());
  const int code = errno;
  [[maybe_unused]] const auto told = write(problem, &code, sizeof code);
  _exit(127);
}

/// @throws UserError (BadConfig) with the reason if the program cannot be started.
pid_t start(const ChildOptions& options, const Streams& streams) {
  if (options.command.empty()) throw Error("a child needs a command");
  const std::vector<std::string> kept = options.keeps_launcher
                                            ? environment_with(options.variables)
                                            : environment_apart(options.variables);
  const std::vector<char*> words = pointers_to(options.command), variables = pointers_to(kept);
  auto [reading, writing] = make_pipe();  // closed by exec; else the child's errno comes through
  const cpu_set_t cores = set_of(options.cores);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) throw Error(options.command[0] + ": fork: " + strerror(errno));
  if (child == 0) {
    become_child(parent, words, variables, streams, cores, writing.get());
  }
  setpgid(child, child);  // by both, so that the group is there whoever comes first
  writing = Descriptor();
  int problem = 0;
  ssize_t got = 0;
  do got = read(reading.get(), &problem, sizeof problem);
  while (got < 0 && errno == EINTR);
  if (got == static_cast<ssize_t>(sizeof problem)) {
    waitpid(child, nullptr, 0);
    const std::string& program = options.command[0];
    if (problem == ENOENT && program.find('/') == program.npos) {
      throw UserError(ExitCode::BadConfig,
                      program + ": not found in PATH; install it, or load its module");
    }
    throw UserError(ExitCode::BadConfig, program + ": cannot be started: " + strerror(problem));
  }
  return child;
}

}  // namespace

ChildProcess::ChildProcess(const ChildOptions& options) {
  Descriptor output, nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!options.output.empty()) {
    output =
        Descriptor(open(options.output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640));
    if (output.get() < 0) throw StorageError(options.output.string(), strerror(errno));
  }
  id_ = start(options, {.in = nothing.get(), .out = output.get(), .err = output.get()});
}

ChildProcess::~ChildProcess() {
  if (code_) return;
  kill_group();
  waitpid(id_, nullptr, 0);
}

std::optional<int> ChildProcess::poll() {
  if (code_) return code_;
  int status = 0;
  const pid_t got = waitpid(id_, &status, WNOHANG);
  if (got == 0 || (got < 0 && errno == EINTR)) return std::nullopt;
  code_ = got < 0 ? 127 : exit_code_of(status);
  kill(-id_, SIGKILL);  // ranks that outlived their launcher
  return code_;
}

void ChildProcess::signal(int number) const noexcept {
  if (!code_) kill(id_, number);
}

void ChildProcess::signal_children(int number) const noexcept {
  if (code_) return;
  std::ifstream children(fmt::format("/proc/{0}/task/{0}/children", id_));
  for (pid_t child = 0; children >> child;) kill(child, number);
}

void ChildProcess::kill_group() noexcept {
  if (!code_) kill(-id_, SIGKILL);
}

CommandAnswer answer_of(const std::vector<std::string>& command, double seconds,
                        const std::string& input) {
  CommandAnswer answer;
  auto [out, out_end] = make_pipe();
  auto [err, err_end] = make_pipe();
  auto [in_end, in] = make_pipe();
  pid_t child = 0;
  try {
    child = start(
        {.command = command, .variables = {{"LC_ALL", "C"}}, .keeps_launcher = true, .output = {}},
        {.in = in_end.get(), .out = out_end.get(), .err = err_end.get()});
  } catch (const Error& problem) {
    return {.code = 127, .late = false, .out = {}, .err = problem.what()};
  }
  for (Descriptor* end : {&out_end, &err_end, &in_end}) end->reset();
  fcntl(in.get(), F_SETFL, O_NONBLOCK);
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>(seconds));
  std::size_t sent = 0;
  bool open_out = true, open_err = true;
  while (open_out || open_err) {
    if (in.get() >= 0) {
      const ssize_t n = write(in.get(), input.data() + sent, input.size() - sent);
      if (n > 0) sent += static_cast<std::size_t>(n);
      if (sent == input.size() || (n < 0 && errno != EAGAIN)) in = Descriptor();
    }
    if (Clock::now() >= end) {
      answer.late = true;
      kill(-child, SIGKILL);
      break;
    }
    std::array<pollfd, 2> both = {pollfd{open_out ? out.get() : -1, POLLIN, 0},
                                  pollfd{open_err ? err.get() : -1, POLLIN, 0}};
    if (::poll(both.data(), both.size(), 50) <= 0) continue;
    const auto take = [](const pollfd& from, std::string& to, bool& is_open) {
      if (from.revents == 0) return;
      std::array<char, 4096> part{};
      const ssize_t n = read(from.fd, part.data(), part.size());
      if (n > 0) to.append(part.data(), static_cast<std::size_t>(n));
      if (n == 0 || (n < 0 && errno != EINTR)) is_open = false;
    };
    take(both[0], answer.out, open_out);
    take(both[1], answer.err, open_err);
  }
  int status = 0;
  while (waitpid(child, &status, answer.late ? 0 : WNOHANG) == 0) {
    if (Clock::now() >= end) {
      answer.late = true;
      kill(-child, SIGKILL);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  answer.code = exit_code_of(status);
  return answer;
}

CommandRunner real_commands() {
  return [](const std::vector<std::string>& command, double seconds) {
    return answer_of(command, seconds);
  };
}

}  // namespace depthgrid
