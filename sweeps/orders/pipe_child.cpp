#include "sweeps/orders/pipe_child.hpp"

#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/error.hpp"
#include "core/base/real_fs.hpp"

namespace depthgrid {
namespace {

/// @throws Error if the call failed.
ssize_t checked(ssize_t result, const char* call) {
  if (result < 0) throw Error(std::string(call) + ": " + std::strerror(errno));
  return result;
}

/// A file in memory, read from its beginning: no child can block its writer, or end it.
Fd file_with(std::string_view text) {
  Fd file(static_cast<int>(checked(memfd_create("input", MFD_CLOEXEC), "memfd_create")));
  while (!text.empty()) {
    text.remove_prefix(
        static_cast<std::size_t>(checked(write(file.get(), text.data(), text.size()), "write")));
  }
  checked(lseek(file.get(), 0, SEEK_SET), "lseek");
  return file;
}

std::string read_all(const Fd& from) {
  std::string out;
  std::array<char, 65536> block;
  while (true) {
    const ssize_t n = read(from.get(), block.data(), block.size());
    if (n == 0) return out;
    if (n < 0 && errno == EINTR) continue;
    out.append(block.data(), static_cast<std::size_t>(checked(n, "read")));
  }
}

}  // namespace

ChildOutput pipe_child(const std::vector<std::string>& argv, std::string_view input) {
  const Fd child_in = file_with(input);
  std::array<int, 2> ends{};
  checked(pipe2(ends.data(), O_CLOEXEC), "pipe");
  const Fd from_child(ends[0]);
  Fd child_out(ends[1]);

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
  child_out.reset();

  ChildOutput result;
  result.output = read_all(from_child);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace depthgrid
