#include "core/base/command.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <ctime>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "core/base/error.hpp"
#include "core/base/held_signals.hpp"

namespace depthgrid {
namespace {

constexpr std::size_t kKeptOfStderr = 65536;  // bytes; twice as much is cut to this
constexpr double kLongestLimit = 1e9;         // seconds that a clock can still count

/// While it lives, writing to a pipe without a reader is an error of that call, and no signal.
class HeldSigpipe {
 public:
  HeldSigpipe() {
    sigset_t waiting;
    sigemptyset(&waiting);
    sigpending(&waiting);
    came_before_ = sigismember(&waiting, SIGPIPE) == 1;
  }
  ~HeldSigpipe() {
    const timespec at_once{};
    while (!came_before_ && sigtimedwait(&only_.held(), nullptr, &at_once) < 0 && errno == EINTR) {
    }
  }
  HeldSigpipe(const HeldSigpipe&) = delete;
  HeldSigpipe& operator=(const HeldSigpipe&) = delete;

 private:
  HeldSignals only_{SIGPIPE};
  bool came_before_ = false;  // such a signal is another's
};

/// Writes what the pipe takes now, and closes it behind the last byte or if nobody reads it.
void give_part(Descriptor& to, std::string_view& rest) {
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
bool take_part(Descriptor& from, std::string& to) {
  std::array<char, 65536> part{};
  ssize_t n = 0;
  do n = read(from.get(), part.data(), part.size());
  while (n < 0 && errno == EINTR);
  if (n > 0) to.append(part.data(), static_cast<std::size_t>(n));
  if (n == 0 || (n < 0 && errno != EAGAIN)) from.reset();
  return n > 0;
}

bool take_end_of(Descriptor& from, std::string& to) {
  const bool some = take_part(from, to);
  if (to.size() > 2 * kKeptOfStderr) to.erase(0, to.size() - kKeptOfStderr);
  return some;
}

}  // namespace

CommandAnswer ask(const CommandQuestion& question, std::string_view input) {
  using std::chrono::steady_clock;
  const HeldSigpipe held;
  ChildSpec spec = question.child;
  spec.in.kind = spec.out.kind = ChildStream::Kind::Pipe;
  ChildProcess child(spec);
  Descriptor& in = child.pipe(STDIN_FILENO);
  Descriptor& out = child.pipe(STDOUT_FILENO);
  Descriptor& err = child.pipe(STDERR_FILENO);
  for (const Descriptor* ours : {&in, &out, &err}) {
    if (*ours) fcntl(ours->get(), F_SETFL, O_NONBLOCK);
  }
  const auto limit = steady_clock::now() +
                     std::chrono::duration_cast<steady_clock::duration>(
                         std::chrono::duration<double>(std::min(question.seconds, kLongestLimit)));
  CommandAnswer answer;
  if (input.empty()) in.reset();
  while (!answer.too_much && !answer.late && !answer.stopped && !child.poll()) {
    // A pipe that is closed has the number -1, which poll() passes over.
    std::array<pollfd, 3> ours = {pollfd{in.get(), POLLOUT, 0}, pollfd{out.get(), POLLIN, 0},
                                  pollfd{err.get(), POLLIN, 0}};
    const bool speaks = out || err;  // else it is about to end
    ::poll(ours.data(), ours.size(), speaks ? 50 : 5);
    if (ours[0].revents != 0) give_part(in, input);
    if (ours[1].revents != 0) take_part(out, answer.out);
    if (ours[2].revents != 0) take_end_of(err, answer.err);
    if (answer.out.size() > question.most_output) {
      answer.too_much = true;
    } else if (steady_clock::now() >= limit) {
      answer.late = true;
    } else if (question.stop && question.stop()) {
      answer.stopped = true;
    }
  }
  answer.code = child.end();
  answer.by_signal = child.by_signal();
  // What it wrote last. Descendants that have left the group may write for ever.
  while (answer.out.size() <= question.most_output && take_part(out, answer.out)) {
  }
  for (int parts = 0; parts < 64 && take_end_of(err, answer.err); ++parts) {
  }
  if (!answer.late && !answer.stopped) answer.too_much = answer.out.size() > question.most_output;
  answer.took_input = input.empty();
  return answer;
}

CommandQuestion own_question(std::vector<std::string> command) {
  return {.child = {.command = std::move(command),
                    .keeps_launcher = true,
                    .own_group = false,
                    .keeps_ignored = true}};
}

CommandQuestion tool_question(std::vector<std::string> command, double seconds) {
  return {.child = {.command = std::move(command),
                    .variables = {{"LC_ALL", "C"}},
                    .keeps_launcher = true,
                    .err = {.kind = ChildStream::Kind::Pipe}},
          .seconds = seconds};
}

}  // namespace depthgrid
