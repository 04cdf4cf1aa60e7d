#include "cli/verbs.hpp"

#include <filesystem>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace verbs_test {

int paint(const Arguments& arguments) {
  return static_cast<int>(arguments.size());
}

int fail(const Arguments& /*arguments*/) {
  throw UserError(ExitCode::NoInput, "no such file");
}

/// As a new verb is added: a function and a row.
constexpr Verb kTwo[] = {{"paint", "FILE", "make it green", paint}, {"fail", "", "fail", fail}};

std::string problem_of(Arguments words) {
  try {
    dispatch(kTwo, std::move(words));
  } catch (const UserError& e) {
    EXPECT_EQ(e.code(), ExitCode::Usage);
    return e.what();
  }
  return "";
}

TEST(Dispatch, AVerbGetsTheWordsBehindIt) {
  EXPECT_EQ(dispatch(kTwo, {"paint"}), 0);
  EXPECT_EQ(dispatch(kTwo, {"paint", "a", "--b"}), 2);
  EXPECT_EQ(dispatch(kTwo, {"help", "paint"}), 1);  // as paint --help
}

TEST(Dispatch, AnUnknownVerbIsToldWithTheNearestAndTheUsage) {
  const std::string said = problem_of({"pant"});
  EXPECT_NE(said.find("'pant'"), std::string::npos) << said;
  EXPECT_NE(said.find("'paint'"), std::string::npos) << said;
  EXPECT_TRUE(said.ends_with(usage(kTwo))) << said;
  EXPECT_NE(problem_of({"xyzzyx"}).find("'xyzzyx'"), std::string::npos);
  EXPECT_EQ(problem_of({"xyzzyx"}).find("'paint'"), std::string::npos);
  EXPECT_TRUE(problem_of({}).ends_with(usage(kTwo)));
}

TEST(Dispatch, WhatAVerbThrowsGoesOn) {
  EXPECT_THROW(dispatch(kTwo, {"fail"}), UserError);
}

TEST(Dispatch, ANameThatTheFilesystemRefusesIsAUsersError) {
  const auto look = [](const Arguments& words) {
    return std::filesystem::exists(words.at(0)) ? 0 : 1;
  };
  const Verb verbs[] = {{"look", "FILE", "look", look}};
  try {
    dispatch(verbs, {"look", std::string(300, 'a')});
    FAIL();
  } catch (const UserError& e) {
    EXPECT_EQ(e.code(), ExitCode::NoInput);
    EXPECT_EQ(std::string(e.what()), std::string(300, 'a') + ": File name too long");
  }
}

TEST(Dispatch, TheUsageHasALineForEveryVerb) {
  EXPECT_NE(usage(kTwo).find("  paint      FILE                make it green\n"), std::string::npos)
      << usage(kTwo);
}

TEST(Verbs, ShowTwoExamplesInTheirHelp) {
  for (const Verb& verb : kVerbs) {
    ::testing::internal::CaptureStdout();
    EXPECT_EQ(verb.run({"--help"}), 0);
    const std::string help = ::testing::internal::GetCapturedStdout();
    const std::string line = std::string("\n  depthgrid ") + verb.name;
    const auto first = help.find(line, help.find("\nexamples:\n"));
    ASSERT_NE(first, std::string::npos) << help;
    EXPECT_NE(help.find(line, first + 1), std::string::npos) << help;
  }
}

TEST(Verbs, HaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (const Verb& verb : kVerbs) {
    EXPECT_TRUE(names.insert(verb.name).second) << verb.name;
    EXPECT_NE(verb.run, nullptr) << verb.name;
  }
}

}  // namespace verbs_test
}  // namespace depthgrid
