#include "sweeps/report/csv_reader.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "sweeps/report/table.hpp"

namespace depthgrid {
namespace csv_reader_test {

using Lines = std::vector<std::vector<std::string>>;

Lines texts_of(std::string_view text) {
  Lines out;
  for (const CsvRecord& record : read_csv(text, "t.csv")) {
    std::vector<std::string>& line = out.emplace_back();
    for (const CsvField& field : record) line.push_back(field.text);
  }
  return out;
}

std::string refusal_of(std::string_view text) {
  try {
    read_csv(text, "t.csv");
  } catch (const UserError& e) {
    EXPECT_EQ(e.code(), ExitCode::BadData);
    return e.what();
  }
  return "nothing";
}

TEST(CsvReader, ReadsFieldsInQuotesAndBothLineEnds) {
  EXPECT_EQ(texts_of("a,b\n1,2\n"), (Lines{{"a", "b"}, {"1", "2"}}));
  EXPECT_EQ(texts_of("a,b\r\n1,2\r\n"), (Lines{{"a", "b"}, {"1", "2"}}));
  EXPECT_EQ(texts_of("a,b\n1,2"), (Lines{{"a", "b"}, {"1", "2"}})) << "the last end may lack";
  EXPECT_EQ(texts_of("\"x,y\",\"say \"\"no\"\"\"\n\"two\r\nlines\",\n"),
            (Lines{{"x,y", "say \"no\""}, {"two\r\nlines", ""}}));
  EXPECT_EQ(texts_of("\"\",\"\"\n"), (Lines{{"", ""}}));
  EXPECT_EQ(texts_of("a,"), (Lines{{"a", ""}}));
  EXPECT_EQ(texts_of(""), Lines{});
}

TEST(CsvReader, TakesWhatPeopleAndSpreadsheetsAddToIt) {
  EXPECT_EQ(texts_of("\xEF\xBB\xBF"
                     "a,b\n"),
            (Lines{{"a", "b"}}));
  EXPECT_EQ(texts_of("arm, seed ,\tloss\n\n  \na b, 1 , 2\n"),
            (Lines{{"arm", "seed", "loss"}, {"a b", "1", "2"}}));
  EXPECT_EQ(texts_of(" \" a \" ,b\n"), (Lines{{" a ", "b"}})) << "inside of quotes they stay";
}

TEST(CsvReader, KnowsWhereEachFieldBegins) {
  const auto records = read_csv("\xCE\xB3\xCE\xB3,b\n\"two\nlines\",x\nc,d\n", "t.csv");
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(records[0][1].column, 4U) << "two letters of two bytes, and a comma";
  EXPECT_EQ(records[1][0].line, 2U);
  EXPECT_EQ(records[1][1].line, 3U);
  EXPECT_EQ(records[1][1].column, 8U);
  EXPECT_EQ(records[2][0].line, 4U);
  EXPECT_EQ(csv_place("t.csv", records[1][1]), "t.csv:3:8: ");
}

TEST(CsvReader, ReadsWhatTablesAreWrittenAs) {
  Table table{{{"arm"}, {"a \"b\", c"}},
              {{"hidden=4,scale=1", "2.5"}, {"\xCE\xB3 = 0.25\nand more", ""}}};
  const Lines read = texts_of(csv_of(table));
  ASSERT_EQ(read.size(), 3U);
  EXPECT_EQ(read[0], (std::vector<std::string>{"arm", "a \"b\", c"}));
  EXPECT_EQ(read[1], table.rows[0]);
  EXPECT_EQ(read[2], table.rows[1]);
}

TEST(CsvReader, EachErrorHasItsPlace) {
  struct Case {
    const char* text;
    const char* place;
  };
  const Case cases[] = {
      {"a,b\n1\n", "t.csv:2:1: "},         // too few
      {"a,b\n1,2,3\n", "t.csv:2:5: "},     // too many
      {"a,b\n\"1,2\n", "t.csv:2:1: "},     // never closed
      {"a,b\n\"1\"x,2\n", "t.csv:2:4: "},  // behind a quote
      {"a,b\n1,x\"y\n", "t.csv:2:4: "},    // inside of a field
      {"a,b\r1,2\n", "t.csv:1:5: "},       // a carriage return alone
  };
  for (const Case& one : cases) {
    EXPECT_TRUE(refusal_of(one.text).starts_with(one.place)) << refusal_of(one.text);
  }
  EXPECT_TRUE(refusal_of("a\xFF,b\n").starts_with("t.csv: "));
  EXPECT_NE(refusal_of("a\xFF,b\n").find("UTF-8"), std::string::npos);
}

}  // namespace csv_reader_test
}  // namespace depthgrid
