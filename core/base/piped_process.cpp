#include "core/base/piped_process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/error.hpp"
#include "core/base/subprocess.hpp"
#include "core/base/unique_handle.hpp"

namespace depthgrid {
namespace {

constexpr std::size_t kKeptOfStderr = 65536;  // bytes; twice as much is cut to this
constexpr double kLongestLimit = 1e9;         // seconds that a clock can still count

struct PipeEndTraits {
  using Handle = int;
  static constexpr Handle null() noexcept { return -1; }
  static void release(Handle fd) noexcept { close(fd); }
};
using PipeEnd = UniqueHandle<PipeEndTraits>;

struct PipeEnds {
  PipeEnd reading, writing;
};

PipeEnds open_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw Error(std::string("pipe: ") + std::strerror(errno));
  }
  return {PipeEnd(ends[0]), PipeEnd(ends[1])};
}

/// While it lives, writing to a pipe without a reader is an error of that call, and no signal.
class HeldSigpipe {
 public:
  HeldSigpipe() {
    sigemptyset(&only_);
    sigaddset(&only_, SIGPIPE);
    sigset_t waiting;
    sigemptyset(&waiting);
    sigpending(&waiting);
    came_before_ = sigismember(&waiting, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &only_, &before_);
  }
  ~HeldSigpipe() {
    const timespec at_once{};
    while (!came_before_ && sigtimedwait(&only_, nullptr, &at_once) < 0 && errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  HeldSigpipe(const HeldSigpipe&) = delete;
  HeldSigpipe& operator=(const HeldSigpipe&) = delete;

 private:
  sigset_t only_{}, before_{};
  bool came_before_ = false;  // such a signal is another's
};

/// The first process of a group, which goes with it.
class GroupLeader {
 public:
  explicit GroupLeader(pid_t id) : id_(id) {}
  ~GroupLeader() { end(); }
  GroupLeader(const GroupLeader&) = delete;
  GroupLeader& operator=(const GroupLeader&) = delete;

  /// It stays to be waited for, so that its id is not given to another group.
  bool has_ended() const noexcept {
    siginfo_t seen{};
    const int got = waitid(P_PID, static_cast<id_t>(id_), &seen, WEXITED | WNOHANG | WNOWAIT);
    return got == 0 ? seen.si_pid != 0 : errno != EINTR;
  }

  /// Kills what is there of the group. @return the leader's status, as of waitpid().
  int end() noexcept {
    if (id_ == 0) return status_;
    kill(-id_, SIGKILL);
    while (waitpid(id_, &status_, 0) < 0 && errno == EINTR) {
    }
    id_ = 0;
    return status_;
  }

 private:
  pid_t id_ = 0;
  int status_ = 127 << 8;  // exit code 127, if another has waited for it
};

/// exec takes char* but does not write through it.
std::vector<char*> as_words(const std::vector<std::string>& words) {
  std::vector<char*> out;
  out.reserve(words.size() + 1);
  for (const std::string& word : words) out.push_back(const_cast<char*>(word.c_str()));
  out.push_back(nullptr);
  return out;
}

/// In the child, between fork and exec: only calls that are safe there.
[[noreturn]] void become_command(pid_t parent, const std::vector<char*>& words,
                                 const std::vector<char*>& variables,
                                 const std::array<int, 3>& streams, int problem) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  for (const int number : {SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGHUP, SIGPIPE, SIGCHLD}) {
    ::signal(number, SIG_DFL);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (getppid() != parent) _exit(128 + SIGTERM);  // it died before it could be watched
  dup2(streams[0], STDIN_FILENO);
  dup2(streams[1], STDOUT_FILENO);
  dup2(streams[2], STDERR_FILENO);
  execvpe(words[0], words.data(), variables.data());
  const int code = errno;
  [[maybe_unused]] const auto told = write(problem, &code, sizeof code);
  _exit(127);
}

/// @param streams  the child's ends: stdin, stdout, stderr.
/// @throws Error with the reason if the program cannot be started.
pid_t start_piped(const std::vector<std::string>& argv, const std::array<int, 3>& streams) {
  if (argv.empty()) throw Error("a command needs the name of its program");
  const std::vector<std::string> apart = environment_apart({});
  const std::vector<char*> words = as_words(argv), variables = as_words(apart);
  PipeEnds told = open_pipe();  // closed by exec; else the child's errno comes through
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) throw Error(argv[0] + ": fork: " + std::strerror(errno));
  if (child == 0) become_command(parent, words, variables, streams, told.writing.get());
  setpgid(child, child);  // by both, so that the group is there whoever comes first
  told.writing.reset();
  int problem = 0;
  ssize_t got = 0;
  do got = read(told.reading.get(), &problem, sizeof problem);
  while (got < 0 && errno == EINTR);
  if (got == static_cast<ssize_t>(sizeof problem)) {
    waitpid(child, nullptr, 0);
    throw Error(argv[0] + ": " + std::strerror(problem));
  }
  return child;
}

/// Writes what the pipe takes now, and closes it behind the last byte or if nobody reads it.
void give_part(PipeEnd& to, std::string_view& rest) {
  while (!rest.empty()) {
    const ssize_t n = write(to.get(), rest.data(), rest.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n < 0) break;
    rest.remove_prefix(static_cast<std::size_t>(n));
  }
  to.reset();
}

/// Reads what the pipe has now, but at most a part, and closes it behind the last byte.
/// @return  whether there was any.
bool take_part(PipeEnd& from, std::string& to) {
  std::array<char, 65536> part{};
  ssize_t n = 0;
  do n = read(from.get(), part.data(), part.size());
  while (n < 0 && errno == EINTR);
  if (n > 0) to.append(part.data(), static_cast<std::size_t>(n));
  if (n == 0 || (n < 0 && errno != EAGAIN)) from.reset();
  return n > 0;
}

bool take_end_of(PipeEnd& from, std::string& to) {
  const bool some = take_part(from, to);
  if (to.size() > 2 * kKeptOfStderr) to.erase(0, to.size() - kKeptOfStderr);
  return some;
}

}  // namespace

PipedAnswer piped_answer(const PipedCommand& command, std::string_view input) {
  using Clock = std::chrono::steady_clock;
  using enum PipedEnd;
  const HeldSigpipe held;
  PipeEnds in = open_pipe(), out = open_pipe(), err = open_pipe();
  const std::array<int, 3> of_child = {in.reading.get(), out.writing.get(), err.writing.get()};
  GroupLeader leader(start_piped(command.argv, of_child));
  in.reading.reset();
  out.writing.reset();
  err.writing.reset();
  for (const int ours : {in.writing.get(), out.reading.get(), err.reading.get()}) {
    fcntl(ours, F_SETFL, O_NONBLOCK);
  }
  const auto limit =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(
                         std::chrono::duration<double>(std::min(command.seconds, kLongestLimit)));
  PipedAnswer answer;
  if (input.empty()) in.writing.reset();
  while (answer.end == Itself && !leader.has_ended()) {
    // A pipe that is closed has the number -1, which poll() passes over.
    std::array<pollfd, 3> ours = {pollfd{in.writing.get(), POLLOUT, 0},
                                  pollfd{out.reading.get(), POLLIN, 0},
                                  pollfd{err.reading.get(), POLLIN, 0}};
    const bool speaks = out.reading || err.reading;  // else it is about to end
    ::poll(ours.data(), ours.size(), speaks ? 50 : 5);
    if (ours[0].revents != 0) give_part(in.writing, input);
    if (ours[1].revents != 0) take_part(out.reading, answer.out);
    if (ours[2].revents != 0) take_end_of(err.reading, answer.err);
    if (answer.out.size() > command.most_output) {
      answer.end = TooMuch;
    } else if (Clock::now() >= limit) {
      answer.end = Late;
    } else if (command.stop && command.stop()) {
      answer.end = Stopped;
    }
  }
  const int status = leader.end();
  // What it wrote last. Descendants that have left the group may write for ever.
  while (answer.out.size() <= command.most_output && take_part(out.reading, answer.out)) {
  }
  for (int parts = 0; parts < 64 && take_end_of(err.reading, answer.err); ++parts) {
  }
  if (answer.end == Itself && answer.out.size() > command.most_output) answer.end = TooMuch;
  answer.took_input = input.empty();
  answer.by_signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  answer.code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return answer;
}

}  // namespace depthgrid
