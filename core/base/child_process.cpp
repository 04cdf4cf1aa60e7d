#include "core/base/child_process.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/held_signals.hpp"
#include "core/base/subprocess.hpp"

namespace depthgrid {
namespace {

constexpr int kNotThere = 127;        // exit code, as a shell's
constexpr double kLongestWait = 1e9;  // s that a clock can still count
constexpr mode_t kFileMode = 0640;    // of a file that a child writes to
constexpr std::size_t kStreams = 3;   // stdin, stdout, stderr

/// What ask for an end, and what a parent may have chosen to ignore for itself alone.
constexpr int kOfTheParent[] = {SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGHUP, SIGPIPE, SIGCHLD};

/// One stream: the child's end, and this process's if it is a pipe.
struct StreamEnds {
  Descriptor theirs, ours;
};

Descriptor opened(const std::filesystem::path& file, int flags) {
  Descriptor out(open(file.c_str(), flags | O_CLOEXEC, kFileMode));
  if (!out) throw StorageError(file.string(), std::strerror(errno));
  return out;
}

StreamEnds open_stream(const ChildStream& stream, bool read_by_child) {
  using enum ChildStream::Kind;
  if (stream.kind == Shared) return {};
  if (stream.kind == Nothing) return {opened("/dev/null", O_RDWR), {}};
  if (stream.kind == File) return {opened(stream.file, O_WRONLY | O_CREAT | O_APPEND), {}};
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw Error(std::string("pipe: ") + strerror(errno));
  StreamEnds out{Descriptor(ends[0]), Descriptor(ends[1])};
  if (!read_by_child) std::swap(out.theirs, out.ours);
  return out;
}

cpu_set_t set_of(const std::vector<int>& cores) {
  cpu_set_t out;
  CPU_ZERO(&out);
  for (const int core : cores) CPU_SET(static_cast<std::size_t>(core), &out);
  return out;
}

/// Asks `over` now and then, with growing pauses, until it says yes or `seconds` have gone by.
template <class Over>
void within(double seconds, const Over& over) {
  using std::chrono::steady_clock;
  constexpr steady_clock::duration kLongestPause = std::chrono::milliseconds(20);
  const auto limit =
      steady_clock::now() + std::chrono::duration_cast<steady_clock::duration>(
                                std::chrono::duration<double>(std::min(seconds, kLongestWait)));
  steady_clock::duration pause = std::chrono::milliseconds(1);
  while (!over()) {
    const auto left = limit - steady_clock::now();
    if (left <= steady_clock::duration::zero()) return;
    std::this_thread::sleep_for(std::min(left, pause));
    pause = std::min(2 * pause, kLongestPause);
  }
}

/// All that a child needs until its program begins.
struct StartPlan {
  std::vector<char*> words, variables;
  std::array<int, kStreams> streams;  // -1: as this process's
  cpu_set_t cores;                    // none: as this process's
  sigset_t open;                      // no signal is held
  bool keeps_ignored, own_group;
  int parent_death;
  pid_t parent;
};

/// Handlers of the parent must never run in the child, which shares its memory.
void reset_signals(bool keeps_ignored) {
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action{};
    if (sigaction(number, nullptr, &action) != 0) continue;
    const bool handled = action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
    const bool asks = std::ranges::find(kOfTheParent, number) != std::end(kOfTheParent);
    if (handled || (asks && !keeps_ignored)) ::signal(number, SIG_DFL);
  }
}

/// In the child, with all signals held, until its program begins: calls of the system and nothing
/// else, since what it writes to memory stays when the parent goes on.
/// @param problem  errno if it comes to nothing.
[[noreturn]] void become_child(const StartPlan& plan, volatile int& problem) {
  reset_signals(plan.keeps_ignored);
  if (plan.own_group) setpgid(0, 0);
  if (CPU_COUNT(&plan.cores) > 0) sched_setaffinity(0, sizeof plan.cores, &plan.cores);
  if (plan.parent_death != 0) {
    prctl(PR_SET_PDEATHSIG, plan.parent_death);
    if (getppid() != plan.parent) _exit(128 + plan.parent_death);  // it has died before
  }
  bool all = true;
  for (int i = 0; i < static_cast<int>(kStreams); ++i) {
    if (plan.streams[static_cast<std::size_t>(i)] < 0) continue;
    all = all && dup2(plan.streams[static_cast<std::size_t>(i)], i) >= 0;
  }
  sigprocmask(SIG_SETMASK, &plan.open, nullptr);
  if (all) execvpe(plan.words[0], plan.words.data(), plan.variables.data());
  problem = errno;
  _exit(kNotThere);
}

/// A function of its own: nothing here lives on both sides of the call that returns twice. The
/// parent goes on when the program has begun, or has not. fork() would copy the page tables of a
/// rank with many GB, and fail where memory has run out, for which a new process is the cure.
[[gnu::noinline]] pid_t split_off(const StartPlan& plan, volatile int& problem) {
  const pid_t child = vfork();  // NOLINT(bugprone-unsafe-functions): posix_spawn() cannot do all
  if (child == 0) become_child(plan, problem);
  return child;
}

void wait_for_end(pid_t child, int* status) noexcept {
  while (waitpid(child, status, 0) < 0 && errno == EINTR) {
  }
}

/// @param streams  the child's. @throws StartError
pid_t start(const ChildSpec& spec, const std::array<StreamEnds, kStreams>& streams) {
  const std::vector<std::string> variables =
      spec.keeps_launcher ? environment_with(spec.variables) : environment_apart(spec.variables);
  StartPlan plan{.words = pointers_to(spec.command),
                 .variables = pointers_to(variables),
                 .streams = {},
                 .cores = set_of(spec.cores),
                 .open = {},
                 .keeps_ignored = spec.keeps_ignored,
                 .own_group = spec.own_group,
                 .parent_death = spec.parent_death,
                 .parent = getpid()};
  for (std::size_t i = 0; i < kStreams; ++i) plan.streams[i] = streams[i].theirs.get();
  sigemptyset(&plan.open);
  volatile int problem = 0;
  pid_t child = -1;
  int refused = 0;
  {
    const HeldSignals all;
    child = split_off(plan, problem);
    refused = errno;
  }
  if (child < 0) throw Error(spec.command[0] + ": fork: " + std::strerror(refused));
  if (problem == 0) return child;
  wait_for_end(child, nullptr);
  throw StartError(spec.command[0], problem);
}

std::string start_problem(const std::string& program, int number) {
  if (number == ENOENT && program.find('/') == program.npos) {
    return program + ": not found in PATH; install it, or load its module";
  }
  return program + ": cannot be started: " + std::strerror(number);
}

}  // namespace

void DescriptorTraits::release(Handle fd) noexcept {
  close(fd);
}

StartError::StartError(const std::string& program, int number)
    : UserError(ExitCode::BadConfig, start_problem(program, number)),
      program_(program),
      reason_(std::strerror(number)) {}

std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> out;
  out.reserve(words.size() + 1);
  for (const std::string& word : words) out.push_back(const_cast<char*>(word.c_str()));
  out.push_back(nullptr);
  return out;
}

ChildProcess::ChildProcess(const ChildSpec& spec) : own_group_(spec.own_group) {
  if (spec.command.empty()) throw Error("a child needs the name of its program");
  std::array<StreamEnds, kStreams> streams = {
      open_stream(spec.in, true), open_stream(spec.out, false), open_stream(spec.err, false)};
  id_ = start(spec, streams);
  for (std::size_t i = 0; i < kStreams; ++i) pipes_[i] = std::move(streams[i].ours);
}

ChildProcess::~ChildProcess() {
  end();
}

std::optional<int> ChildProcess::poll() {
  if (code_) return code_;
  siginfo_t seen{};  // it stays to be waited for: its id must not become another group's yet
  const int got = waitid(P_PID, static_cast<id_t>(id_), &seen, WEXITED | WNOHANG | WNOWAIT);
  if (got == 0 && seen.si_pid == 0) return std::nullopt;
  return end();
}

std::optional<int> ChildProcess::wait(double seconds) {
  within(seconds, [&] { return poll().has_value(); });
  return code_;
}

void ChildProcess::signal(int number) const noexcept {
  if (!code_) kill(id_, number);
}

void ChildProcess::signal_group(int number) const noexcept {
  if (!code_) kill(own_group_ ? -id_ : id_, number);
}

void ChildProcess::signal_children(int number) const noexcept {
  if (code_) return;
  std::ifstream children(fmt::format("/proc/{0}/task/{0}/children", id_));
  for (pid_t child = 0; children >> child;) kill(child, number);
}

void ChildProcess::suspend() const noexcept {
  constexpr double kLongest = 1;
  if (code_) return;
  signal_group(SIGSTOP);
  within(kLongest, [&] {
    siginfo_t seen{};
    const int flags = WSTOPPED | WEXITED | WNOWAIT | WNOHANG;
    return waitid(P_PID, static_cast<id_t>(id_), &seen, flags) != 0 || seen.si_pid != 0;
  });
}

int ChildProcess::end() noexcept {
  if (code_) return *code_;
  kill_group();
  int status = kNotThere << 8;  // as of an exit, if another has waited for it
  wait_for_end(id_, &status);
  by_signal_ = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  code_ = WIFSIGNALED(status) ? 128 + by_signal_ : WEXITSTATUS(status);
  return *code_;
}

}  // namespace depthgrid
