#include "core/base/processes.hpp"

#include "core/base/control_group.hpp"
#include "core/base/error.hpp"

namespace depthgrid {
namespace {

class RealProcesses final : public Processes {
 public:
  std::unique_ptr<Child> start(const ChildSpec& spec) const override {
    return std::make_unique<ChildProcess>(spec);
  }
  CommandAnswer ask(const CommandQuestion& question, std::string_view input) const override {
    return depthgrid::ask(question, input);
  }
  ProcessIdentity self() const override { return this_process(); }
  bool is_dead(const ProcessIdentity& process) const override { return surely_dead(process); }
  std::int64_t oom_kills_so_far() const override { return oom_kills_in(control_groups()); }
};

}  // namespace

const Processes& real_processes() {
  static const RealProcesses processes;
  return processes;
}

CommandAnswer Processes::answer(const std::vector<std::string>& command, double seconds,
                                std::string_view input) const {
  try {
    return ask(tool_question(command, seconds), input);
  } catch (const Error& problem) {
    return {.code = 127, .late = false, .out = {}, .err = problem.what()};
  }
}

CommandRunner real_commands() {
  return [](const std::vector<std::string>& command, double seconds) {
    return real_processes().answer(command, seconds);
  };
}

}  // namespace depthgrid
