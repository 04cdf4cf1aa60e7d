#include "core/base/isa.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace isa_test {

std::string refusal(const char* request) {
  try {
    choose_isa("DEPTHGRID_ISA", request);
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

TEST(Isa, AnUnsupportedWordIsRefused) {
  for (const Isa isa : {Isa::Avx2, Isa::Avx512}) {
    if (std::ranges::find(supported_isas(), isa) != supported_isas().end()) continue;
    EXPECT_NE(refusal(std::string(name_of(isa)).c_str()).find("processor"), std::string::npos);
  }
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
