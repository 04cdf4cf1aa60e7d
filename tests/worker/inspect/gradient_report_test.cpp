#include "worker/inspect/gradient_report.hpp"

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>

namespace depthgrid::testing {
namespace gradient_report_test {

/// Two parameters a (3) and b (2) of different groups, drawn around zero.
struct Toy {
  Toy() : arena(layout(), {5}, at::kDouble) {
    a = arena.parameter(spec("a", 3, ParameterGroup::Trunk));
    b = arena.parameter(spec("b", 2, ParameterGroup::Router));
  }
  static ParameterSpec spec(const char* name, std::int64_t n, ParameterGroup group) {
    return {.name = name,
            .shape = {n},
            .group = group,
            .init = {.draw = Init::Draw::Normal, .scale = {1}, .fill = {0.3}}};
  }
  static ParameterLayout layout() {
    ParameterLayout out;
    out.parameter(spec("a", 3, ParameterGroup::Trunk));
    out.parameter(spec("b", 2, ParameterGroup::Router));
    return out;
  }
  std::vector<GroupGradients> report(std::vector<std::string_view> names,
                                     std::function<std::vector<at::Tensor>()> terms) {
    return gradient_report(arena, {std::move(names), std::move(terms)}, 3, 1);
  }

  Arena arena;
  at::Tensor a, b;
};

TEST(GradientReport, ARightGradientHasNoError) {
  Toy t;
  const at::Tensor before = t.arena.values().clone();

  const auto rows = t.report({"first", "second"}, [&] {
    return std::vector<at::Tensor>{t.a.pow(3).sum(-1), (t.b * t.a.sum(-1, true)).sin().sum(-1)};
  });

  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].group, "trunk");
  EXPECT_EQ(rows[0].terms, (std::vector<std::string>{"first", "second"}));
  EXPECT_EQ(rows[0].elements, 3);
  EXPECT_EQ(rows[1].terms, (std::vector<std::string>{"second"}));
  EXPECT_EQ(rows[1].elements, 2);
  for (const GroupGradients& row : rows) {
    EXPECT_LT(row.worst, 1e-9) << row.group;
    EXPECT_TRUE(row.unreached.empty());
  }
  EXPECT_TRUE(t.arena.values().equal(before));
}

TEST(GradientReport, APathThatIsCutByMistakeIsSeen) {
  Toy t;
  const auto rows = t.report({"loss"}, [&] {
    return std::vector<at::Tensor>{(t.a * t.a.detach()).sum(-1) + t.b.square().sum(-1)};
  });

  EXPECT_NEAR(rows[0].worst, 0.5, 1e-6);  // x in place of 2 x
  EXPECT_EQ(rows[0].parameter, "a");
  EXPECT_NEAR(rows[0].numeric, 2 * rows[0].autograd, 1e-9);
  EXPECT_LT(rows[1].worst, 1e-9);
}

TEST(GradientReport, ATermIsComparedWhereItReachesAndTheRestIsNamed) {
  Toy t;
  const auto rows = t.report({"first", "second"}, [&] {
    return std::vector<at::Tensor>{t.a.square().sum(-1), (t.a.detach() * t.a.detach()).sum(-1) * 5};
  });

  EXPECT_EQ(rows[0].terms, (std::vector<std::string>{"first"}));
  EXPECT_LT(rows[0].worst, 1e-9);
  EXPECT_TRUE(rows[1].terms.empty());
  EXPECT_EQ(rows[1].elements, 0);
  EXPECT_EQ(rows[1].unreached, (std::vector<std::string>{"b"}));
}

}  // namespace gradient_report_test
}  // namespace depthgrid::testing
