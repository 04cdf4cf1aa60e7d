#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace depthgrid {

/// How a child is started.
struct ChildOptions {
  std::vector<std::string> command;              // the program, by path or by name in PATH
  std::map<std::string, std::string> variables;  // beside this process's, or in their place
  bool keeps_launcher = false;   // else the launcher's variables are taken out, as in run_apart()
  std::filesystem::path output;  // stdout and stderr are appended there; empty: they are shared
  std::vector<int> cores{};      // to which it is bound; empty: those of this process
};

/// A child that leads a process group of its own and is watched without waiting for it. If this
/// process dies, however that happens, the child gets TERM.
class ChildProcess {
 public:
  /// @throws UserError (BadConfig) if the program cannot be started, StorageError if the output
  /// cannot be opened.
  explicit ChildProcess(const ChildOptions& options);
  /// Kills the group if the child is still there.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t id() const noexcept { return id_; }

  /// Its exit code, or 128 + signal, once it has ended; what is left of its group is killed then.
  std::optional<int> poll();

  /// To the child alone, which passes it on if it is a launcher. Nothing once it has ended.
  void signal(int number) const noexcept;

  /// To its children: the ranks of a launcher on this host.
  void signal_children(int number) const noexcept;

  /// Ends the child and everything in its group at once.
  void kill_group() noexcept;

 private:
  pid_t id_ = 0;
  std::optional<int> code_;
};

/// Runs a command to its end and returns what it wrote to stdout.
struct CommandAnswer {
  int code = 0;       // exit code, or 128 + signal; 127 if there is no such program
  bool late = false;  // it was ended after `seconds`
  std::string out, err;
};
CommandAnswer answer_of(const std::vector<std::string>& command, double seconds,
                        const std::string& input = {});

/// Runs a command for at most so many seconds; a program that is absent answers 127. answer_of(),
/// or what stands for it in a test.
using CommandRunner =
    std::function<CommandAnswer(const std::vector<std::string>& command, double seconds)>;
/// answer_of() as one, without input.
CommandRunner real_commands();

}  // namespace depthgrid
