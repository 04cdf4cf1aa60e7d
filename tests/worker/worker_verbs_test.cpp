#include "worker/worker_verbs.hpp"

#include <sstream>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/exit_code.hpp"

namespace depthgrid {
namespace worker_verbs_test {

/// Exit codes that tell the length of the order.
int length(const WorkerCall& call) {
  return static_cast<int>(call.command.size());
}

constexpr WorkerVerb kTwo[] = {{"given", CommandFrom::Argument, length},
                               {"read", CommandFrom::Input, length}};

int call(std::vector<std::string> words, const std::string& input = "") {
  words.insert(words.begin(), "depthgrid-worker");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  std::istringstream in(input);
  return dispatch(kTwo, static_cast<int>(argv.size()), argv.data(), in);
}

TEST(WorkerVerbs, GetTheirOrderAsArgumentOrFromStdin) {
  EXPECT_EQ(call({"given", "{}"}, "not looked at"), 2);
  EXPECT_EQ(call({"read"}, "{1}\n"), 4);
}

TEST(WorkerVerbs, UnknownOnesAndThoseWithoutAnOrderShowTheUsage) {
  const auto usage = static_cast<int>(ExitCode::Usage);
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{}, {"other"}, {"given"}, {"given", "{}", "{}"}}) {
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(call(words), usage);
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), worker_usage(kTwo));
  }
}

TEST(WorkerVerbs, TheUsageNamesThemAll) {
  EXPECT_EQ(worker_usage(worker_verbs()),
            "usage: depthgrid-worker run|bench|export|eval|probe|generate|tokens ORDER |\n"
            "       describe|audit|check < REQUEST.json | --version\n"
            "It is started by depthgrid; see depthgrid --help.\n");
}

}  // namespace worker_verbs_test
}  // namespace depthgrid
