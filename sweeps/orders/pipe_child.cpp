#include "sweeps/orders/pipe_child.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace {

/// A file descriptor with ownership; the ends of a pipe are closed at different times.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
};

std::array<int, 2> make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw Error(std::string("pipe: ") + std::strerror(errno));
  return ends;
}

/// Writes and reads whenever either end is ready, so that neither side can block on a full pipe.
std::string exchange(Descriptor& to, Descriptor& from, std::string_view input) {
  fcntl(to.get(), F_SETFL, O_NONBLOCK);
  std::string output;
  std::array<char, 65536> block;
  if (input.empty()) to.close();
  while (true) {
    std::array<pollfd, 2> ready = {pollfd{from.get(), POLLIN, 0}, pollfd{to.get(), POLLOUT, 0}};
    if (poll(ready.data(), ready.size(), -1) < 0) {
      if (errno == EINTR) continue;
      throw Error(std::string("poll: ") + std::strerror(errno));
    }
    if ((ready[1].revents & (POLLOUT | POLLERR)) != 0) {
      const ssize_t n = write(to.get(), input.data(), input.size());
      if (n > 0) input.remove_prefix(static_cast<std::size_t>(n));
      // The exit code tells why a child has stopped reading.
      if (input.empty() || (n < 0 && errno != EAGAIN && errno != EINTR)) to.close();
    }
    if ((ready[0].revents & (POLLIN | POLLHUP)) != 0) {
      const ssize_t n = read(from.get(), block.data(), block.size());
      if (n == 0 || (n < 0 && errno != EINTR)) return output;
      if (n > 0) output.append(block.data(), static_cast<std::size_t>(n));
    }
  }
}

}  // namespace

ChildOutput pipe_child(const std::vector<std::string>& argv, std::string_view input) {
  const std::array<int, 2> in = make_pipe();
  Descriptor child_in(in[0]);
  Descriptor to_child(in[1]);
  const std::array<int, 2> out = make_pipe();
  Descriptor from_child(out[0]);
  Descriptor child_out(out[1]);

  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, child_in.get(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, child_out.get(), STDOUT_FILENO);
  pid_t child = 0;
  const int code = posix_spawn(&child, words[0], &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (code != 0) throw Error(argv[0] + ": " + std::strerror(code));
  child_in.close();
  child_out.close();

  // Writing to a child that has exited must be an error here, not the end of this process.
  struct sigaction ignore{};
  struct sigaction before{};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, &before);
  ChildOutput result;
  result.output = exchange(to_child, from_child, input);
  sigaction(SIGPIPE, &before, nullptr);

  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace depthgrid
