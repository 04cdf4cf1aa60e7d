#include "core/base/isa.hpp"

#include <algorithm>
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

TEST(Isa, ALimitHoldsTheLibrariesToo) {
  EXPECT_EQ(variables_of(Isa::Avx512).size(), 1U);
  EXPECT_EQ(variables_of(Isa::Avx2).at("DEPTHGRID_ISA"), "avx2");
  EXPECT_EQ(variables_of(Isa::Avx2).at("ATEN_CPU_CAPABILITY"), "avx2");
  EXPECT_EQ(variables_of(Isa::Base).at("ATEN_CPU_CAPABILITY"), "default");
}

}  // namespace isa_test
}  // namespace depthgrid
