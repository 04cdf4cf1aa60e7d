#include "core/config/yaml/yaml_node.hpp"

#include <gtest/gtest.h>

namespace depthgrid {
namespace yaml_node_test {

/// First problem of a text as "line:column: message", or "" if there is none.
std::string problem_of(const std::string& text) {
  Diagnostics diagnostics;
  read_yaml(diagnostics, diagnostics.add_text("t.yaml", text));
  try {
    diagnostics.throw_if_failed();
  } catch (const SweepErrors& errors) {
    const auto& first = errors.diagnostics().front();
    return std::to_string(first.line) + ":" + std::to_string(first.column) + ": " + first.message;
  }
  return "";
}

TEST(YamlNode, KeepsPlacesAndQuotes) {
  Diagnostics diagnostics;
  const auto root =
      read_yaml(diagnostics, diagnostics.add_text("t.yaml", "a: 1\nb: {c: 'x', d: [2]}\n"));

  ASSERT_TRUE(root);
  const YamlNode* b = root->find("b");
  ASSERT_NE(b, nullptr);
  EXPECT_EQ(b->place, (Place{0, 2, 4}));
  EXPECT_TRUE(b->find("c")->quoted);
  EXPECT_FALSE(root->find("a")->quoted);
  EXPECT_EQ(b->find("d")->items.front().place, (Place{0, 2, 17}));
}

TEST(YamlNode, ATabInTheIndentationIsNamed) {
  EXPECT_TRUE(problem_of("name: t\nmodel:\n\td_model: 16\n").starts_with("3:1: a tab"));
  EXPECT_EQ(problem_of("a: {b: [1}\n").find("tab"), std::string::npos);
}

TEST(YamlNode, RefusesAnchorsAndAliases) {
  EXPECT_EQ(problem_of("a: &x 1\n").substr(0, 4), "1:4:");
  EXPECT_NE(problem_of("a: &x 1\n").find("anchors"), std::string::npos);
  EXPECT_NE(problem_of("a: &x 1\nb: *x\n").find("anchors"), std::string::npos);
  EXPECT_NE(problem_of("&a [1, *a]\n").find("not allowed"), std::string::npos);
}

TEST(YamlNode, RefusesTags) {
  EXPECT_NE(problem_of("a: !!int 1\n").find("tags"), std::string::npos);
  EXPECT_NE(problem_of("a: !mine {b: 1}\n").find("tags"), std::string::npos);
  EXPECT_NE(problem_of("a: ! 1\n").find("tags"), std::string::npos);
  EXPECT_EQ(problem_of("a: '! 1'\n"), "");
}

TEST(YamlNode, RefusesMergeKeysAndASecondDocument) {
  EXPECT_NE(problem_of("a: {<<: {b: 1}}\n").find("merge keys"), std::string::npos);
  EXPECT_EQ(problem_of("a: 1\n---\nb: 2\n").substr(0, 2), "2:");
  EXPECT_NE(problem_of("a: 1\n---\nb: 2\n").find("second document"), std::string::npos);
  EXPECT_EQ(problem_of("---\na: 1\n...\n"), "");
}

TEST(YamlNode, RefusesDuplicateAndStructuredKeys) {
  EXPECT_EQ(problem_of("h: 1\nh: 2\n").substr(0, 5), "2:1: ");
  EXPECT_NE(problem_of("h: 1\nh: 2\n").find("'h'"), std::string::npos);
  EXPECT_EQ(problem_of("{[1, 2]: 3}\n").substr(0, 5), "1:2: ");
}

TEST(YamlNode, RefusesBytesThatAreNotText) {
  EXPECT_EQ(problem_of("a: \xff\n").substr(0, 5), "1:4: ");
  EXPECT_EQ(problem_of(std::string("a: b\0c\n", 7)).substr(0, 5), "1:5: ");
  EXPECT_EQ(problem_of("a: \xed\xa0\x80\n").substr(0, 5), "1:4: ");  // a surrogate
  EXPECT_EQ(problem_of("a: \xc0\xaf\n").substr(0, 5), "1:4: ");      // overlong
  EXPECT_EQ(problem_of("a: \xce\x94\n"), "");
}

TEST(YamlNode, ColumnsCountCharactersNotBytes) {
  EXPECT_EQ(problem_of("{\xce\x94\xce\x94: 1, a: 2, a: 3}\n").substr(0, 6), "1:15: ");
}

TEST(YamlNode, RefusesWhatIsTooLarge) {
  EXPECT_NE(problem_of(std::string((1U << 20U) + 1, ' ')).find("1 MiB"), std::string::npos);
  EXPECT_NE(problem_of(std::string(33, '[') + std::string(33, ']')).find("32"), std::string::npos);
  EXPECT_NE(problem_of(std::string(100000, '[')).find("32"), std::string::npos);
  std::string many = "[0";
  for (int i = 0; i < 100001; ++i) many += ",0";
  EXPECT_NE(problem_of(many + "]").find("100000"), std::string::npos);
}

TEST(YamlNode, SyntaxErrorsHaveAPlace) {
  EXPECT_EQ(problem_of("a: [1, 2\nb: 3\n").substr(0, 2), "2:");
  EXPECT_NE(problem_of("a: b: c\n").find("1:"), std::string::npos);
  EXPECT_TRUE(problem_of("a:\n\t- 1\n").starts_with("2:1: a tab"));
}

TEST(YamlNode, AnEmptyTextIsNull) {
  Diagnostics diagnostics;
  const auto root = read_yaml(diagnostics, diagnostics.add_text("t.yaml", "# nothing\n"));

  ASSERT_TRUE(root);
  EXPECT_EQ(root->kind, YamlNode::Kind::Null);
}

}  // namespace yaml_node_test
}  // namespace depthgrid
