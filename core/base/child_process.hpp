#pragma once

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "core/base/error.hpp"
#include "core/base/unique_handle.hpp"

namespace depthgrid {

struct DescriptorTraits {
  using Handle = int;
  static constexpr Handle null() noexcept { return -1; }
  static void release(Handle fd) noexcept;
};
using Descriptor = UniqueHandle<DescriptorTraits>;

/// What one of a child's standard streams is.
struct ChildStream {
  enum class Kind : std::uint8_t {
    Shared,   // this process's
    Nothing,  // /dev/null
    File,     // to which it appends
    Pipe      // whose other end this process has
  };
  Kind kind = Kind::Shared;
  std::filesystem::path file = {};  // made if it is missing
};

/// How a child is started.
struct ChildSpec {
  std::vector<std::string> command;  // the program, by path or by name in PATH; no shell
  std::map<std::string, std::string> variables{};  // beside this process's, or in their place
  bool keeps_launcher = false;  // else the launcher's variables are taken out: it is no rank
  ChildStream in{}, out{}, err{};
  bool own_group = true;     // it leads a process group of its own, which ends with it
  std::vector<int> cores{};  // to which it is bound; empty: those of this process
  /// It ignores what this process ignores, as behind `nohup`. Else the signals that ask for an end
  /// do what they do by default. None is held from it, whatever this process holds.
  bool keeps_ignored = false;
  int parent_death = SIGTERM;  // what it gets when the thread that starts it ends; 0: nothing
};

/// A program that cannot be started.
class StartError : public UserError {
 public:
  /// @param number  errno of the attempt.
  StartError(const std::string& program, int number);
  const std::string& program() const noexcept { return program_; }
  const std::string& reason() const noexcept { return reason_; }  // "No such file or directory"

 private:
  std::string program_, reason_;
};

/// A child that is watched, with or without waiting for it.
class Child {
 public:
  virtual ~Child() = default;

  virtual pid_t id() const noexcept = 0;

  /// Its exit code, 0 to 255, or 128 + signal, once it has ended; what is left of its group is
  /// killed then.
  virtual std::optional<int> poll() = 0;
  /// The same, after so many seconds at most.
  virtual std::optional<int> wait(double seconds) = 0;

  /// To the child alone, which passes it on if it is a launcher. Nothing once it has ended.
  virtual void signal(int number) const noexcept = 0;
  /// To its group; to the child alone if that is this process's.
  virtual void signal_group(int number) const noexcept = 0;
  /// To its children: the ranks of a launcher on this host.
  virtual void signal_children(int number) const noexcept = 0;

  /// Kills it and its group at once.
  void kill_group() const noexcept { signal_group(SIGKILL); }
};

/// A child of this process. Nothing of it stays open in this process's other children, and a parent
/// that dies, however that happens, takes it along.
class ChildProcess final : public Child {
 public:
  /// @throws StartError (BadConfig) if the program cannot be started; StorageError if a file cannot
  ///         be opened; Error if the system has no resources for a process or a pipe.
  explicit ChildProcess(const ChildSpec& spec);
  /// Calls end().
  ~ChildProcess() override;
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t id() const noexcept override { return id_; }
  std::optional<int> poll() override;
  std::optional<int> wait(double seconds) override;
  void signal(int number) const noexcept override;
  void signal_group(int number) const noexcept override;
  void signal_children(int number) const noexcept override;

  /// Kills what is there of it and waits for that. @return as poll()
  int end() noexcept;

  /// Stops its group; returns once the child has stopped, or ended, at the latest after a second:
  /// one that waits in vfork() for its own child, which has stopped, runs no more, but stops only
  /// when that goes on. SIGCONT continues the group.
  void suspend() const noexcept;

  /// The signal that has ended it; 0 before, and if it has an exit code.
  int by_signal() const noexcept { return by_signal_; }

  /// This process's end of the pipe to its stdin, or from its stdout or stderr (STDIN_FILENO, …).
  Descriptor& pipe(std::size_t stream) { return pipes_.at(stream); }

 private:
  std::array<Descriptor, 3> pipes_;
  bool own_group_;
  pid_t id_ = 0;
  std::optional<int> code_;
  int by_signal_ = 0;
};

/// Words for exec(), which takes char*, but does not write through it. They must outlive these.
std::vector<char*> pointers_to(const std::vector<std::string>& words);

}  // namespace depthgrid
