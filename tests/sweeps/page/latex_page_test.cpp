#include "sweeps/page/latex_page.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace depthgrid {
namespace latex_page_test {

std::size_t times(const std::string& text, const std::string& what) {
  std::size_t out = 0;
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++out;
  return out;
}

std::string page() {
  Table table{{{"arm"}, {"mean ± sd", Align::Right}}, {}};
  for (int i = 0; i < 45; ++i) table.rows.push_back({"a_" + std::to_string(i), "[1, 2]"});
  std::vector<PagePart> parts(1);
  parts[0].id = "answer";
  parts[0].title = "The answer";
  const std::string command = "depthgrid compare a_b/c --by d,e";
  parts[0].blocks = {PageText{PageText::Kind::Command, command},
                     PageText{PageText::Kind::Item, "one"}, PageText{PageText::Kind::Item, "two"},
                     PageTable{"loss_valid", table, true, {}, "answer-table-1"},
                     PageChart{"answer-means", "Means", "5 % of it.", "<svg >", table}};
  return latex_page(parts, "a_b");
}

TEST(LatexPage, CommandsBreakWhereNoLetterIsParted) {
  const std::string words =
      "depthgrid compare a\\_\\allowbreak{}b/\\allowbreak{}c -{}-by d,\\allowbreak{}e";
  EXPECT_NE(page().find("\\raggedright By \\texttt{" + words + "}"), std::string::npos) << page();
}

TEST(LatexPage, IsADocumentUnlessAnotherOneReadsIt) {
  const std::string tex = page();
  const std::size_t guard = tex.find("\\ifcsname c@section\\endcsname\\else");
  ASSERT_NE(guard, tex.npos);
  EXPECT_LT(guard, tex.find("\\documentclass"));
  EXPECT_LT(tex.find("\\begin{document}"), tex.find("\\fi\n"));
  EXPECT_LT(tex.find("\\fi\n"), tex.find("\\section{"));
  EXPECT_TRUE(tex.ends_with("\\depthgridend\n"));
  EXPECT_LT(tex.find("\\let\\depthgridend\\relax"), guard);
}

TEST(LatexPage, EnvironmentsAndBracesAreClosed) {
  const std::string tex = page();
  EXPECT_EQ(times(tex, "\\begin{"), times(tex, "\\end{"));
  EXPECT_EQ(times(tex, "\\begin{itemize}"), 1U);
  const std::string body = tex.substr(tex.find("\\section{"));
  EXPECT_EQ(std::ranges::count(body, '{'), std::ranges::count(body, '}'));
}

TEST(LatexPage, TablesAreThoseOfBooktabsAndNoLongerThanAPage) {
  const std::string tex = page();
  EXPECT_NE(tex.find("\\begin{tabular}{lr}\n\\toprule\narm & mean \\ensuremath{\\pm} sd \\\\\n"
                     "\\midrule\na\\_0 & {[}1, 2{]} \\\\\n"),
            tex.npos);
  EXPECT_NE(tex.find("\\caption{loss\\_valid; the first 40 rows, 5 more}"), tex.npos);
  EXPECT_EQ(tex.find("a\\_40"), tex.npos);
  EXPECT_NE(tex.find("\\depthgridpicture{answer-means}\n\\caption{Means. 5 \\% of it.}"), tex.npos);
}

}  // namespace latex_page_test
}  // namespace depthgrid
