#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/child_process.hpp"
#include "core/base/command.hpp"
#include "core/base/process_identity.hpp"

namespace depthgrid {

/// The processes of this machine, as far as sweeps need them. They go by it and by nothing else
/// (cmake/check_seams.cmake), so that a test may pretend what is started and how it ends
/// (tests/support/pretended_processes.hpp).
///
/// May be used by several threads.
class Processes {
 public:
  virtual ~Processes() = default;

  /// @throws as ChildProcess
  virtual std::unique_ptr<Child> start(const ChildSpec& spec) const = 0;
  /// A command's answer, see depthgrid::ask(). @throws as ChildProcess
  virtual CommandAnswer ask(const CommandQuestion& question, std::string_view input) const = 0;

  /// this_process(), with a new uuid each time.
  virtual ProcessIdentity self() const = 0;
  /// See surely_dead().
  virtual bool is_dead(const ProcessIdentity& process) const = 0;

  /// Processes of this control group that the system has killed for their memory so far.
  virtual std::int64_t oom_kills_so_far() const = 0;

  /// What a tool of the system answers within so many seconds: tool_question(). A program that
  /// cannot be started answers 127, and the reason in `err`.
  CommandAnswer answer(const std::vector<std::string>& command, double seconds,
                       std::string_view input = {}) const;
};

/// This machine's: it holds no state.
const Processes& real_processes();

/// Processes::answer() without input, for those who need no more of it.
using CommandRunner =
    std::function<CommandAnswer(const std::vector<std::string>& command, double seconds)>;
/// Of real_processes().
CommandRunner real_commands();

}  // namespace depthgrid
