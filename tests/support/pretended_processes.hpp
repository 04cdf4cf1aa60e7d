#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/processes.hpp"

namespace depthgrid {

/// Processes of which none is started: questions are answered by a function. This process is the
/// only one alive.
class PretendedProcesses final : public Processes {
 public:
  /// What is asked: the words of the command, its input, and for how long.
  struct Asked {
    std::vector<std::string> command;
    std::string input;
    double seconds = 0;
  };

  /// @throws in the function's place: what the real ones throw.
  explicit PretendedProcesses(std::function<CommandAnswer(const Asked& asked)> answer)
      : answer_(std::move(answer)) {}

  std::unique_ptr<Child> start(const ChildSpec& spec) const override {
    throw StartError(spec.command.at(0), 2);
  }
  CommandAnswer ask(const CommandQuestion& question, std::string_view input) const override {
    return answer_({question.child.command, std::string(input), question.seconds});
  }
  ProcessIdentity self() const override {
    ProcessIdentity out;
    out.uuid = "01234567-89ab-4cde-8f01-23456789abcd";
    out.host = "pretended";
    out.pid = 7;
    return out;
  }
  bool is_dead(const ProcessIdentity& process) const override { return process.pid != 7; }
  std::int64_t oom_kills_so_far() const override { return 0; }

 private:
  std::function<CommandAnswer(const Asked& asked)> answer_;
};

}  // namespace depthgrid
