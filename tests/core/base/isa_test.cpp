#include "core/base/isa.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace isa_test {

std::string refusal(const char* request, std::span<const Isa> supported = supported_isas()) {
  try {
    choose_isa("DEPTHGRID_ISA", request, supported);
  } catch (const UserError& e) {
    EXPECT_EQ(e.code(), ExitCode::BadConfig);
    return e.what();
  }
  return "";
}

TEST(Isa, EveryProcessorHasTheBaseAndTheBestComesFirst) {
  const auto isas = supported_isas();

  EXPECT_EQ(isas.back(), Isa::Base);
  EXPECT_TRUE(std::ranges::is_sorted(isas, std::ranges::greater()));
  EXPECT_EQ(choose_isa("DEPTHGRID_ISA", nullptr), isas.front());
  EXPECT_EQ(choose_isa("DEPTHGRID_ISA", ""), isas.front());
}

TEST(Isa, AWordChoosesItsVariant) {
  for (const Isa isa : supported_isas()) {
    EXPECT_EQ(choose_isa("DEPTHGRID_ISA", std::string(name_of(isa)).c_str()), isa);
  }
}

TEST(Isa, AnUnknownWordIsRefusedWithThoseThatThereAre) {
  const std::string message = refusal("avx1024");

  EXPECT_NE(message.find("avx1024"), std::string::npos);
  EXPECT_NE(message.find("base"), std::string::npos);
  EXPECT_NE(message.find("DEPTHGRID_ISA"), std::string::npos);
}

TEST(Isa, AWordThatTheProcessorDoesNotSupportIsRefused) {
  constexpr Isa kOld[] = {Isa::Avx2, Isa::Base};
  const std::string message = refusal("avx512", kOld);

  EXPECT_NE(message.find("this processor does not support"), std::string::npos) << message;
  EXPECT_NE(message.find("one of avx2, base"), std::string::npos) << message;
}

std::string text_of(const char* path) {
  std::ifstream in(std::string(DEPTHGRID_SOURCE_DIR) + "/" + path);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Isa, BenchmarksAndTestsHoldTheLibrariesToTheSame) {
  const std::string bench = text_of("bench/machine.py"), tests = text_of("tests/CMakeLists.txt");
  for (const Isa isa : {Isa::Avx2, Isa::Base}) {
    const auto variables = variables_of(isa);
    EXPECT_EQ(variables.size(), 4U);
    for (const auto& [name, value] : variables) {
      EXPECT_NE(bench.find("\"" + name + "\": \"" + value + "\""), std::string::npos) << name;
      if (name == "DEPTHGRID_ISA") continue;
      EXPECT_NE(tests.find(name + "=" + value), std::string::npos) << name;
    }
  }
}

}  // namespace isa_test
}  // namespace depthgrid
