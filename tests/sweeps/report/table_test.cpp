#include "sweeps/report/table.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace depthgrid {
namespace table_test {

TEST(Table, AlignsColumnsByCodePoints) {
  const Table table{{{"name"}, {"n", Align::Right}, {"note"}},
                    {{"Δt=1", "5", "first"}, {"longer", "1,000", ""}}};
  EXPECT_EQ(text_of(table),
            "name        n  note\n"
            "Δt=1        5  first\n"
            "longer  1,000\n");
}

TEST(Table, TitlesSayOnWhichSideTheirColumnsAreAligned) {
  Table table = titled_table({"name", ">n"});
  table.rows = {{"a", "5"}, {"b", "10"}};
  EXPECT_EQ(text_of(table), "name   n\na      5\nb     10\n");
}

TEST(Table, PaintsTitlesAndStatesWithoutChangingTheWidths) {
  const Table table{{{"state"}, {"n", Align::Right}},
                    {{"completed", "12"}, {"oom", "1"}, {"x", ""}}};
  EXPECT_EQ(text_of(table, Colour::Yes),
            "\x1b[1mstate\x1b[0m       \x1b[1mn\x1b[0m\n"
            "\x1b[32mcompleted\x1b[0m  12\n"
            "\x1b[31moom\x1b[0m         1\n"
            "x\n");
  EXPECT_EQ(text_of(table).find('\x1b'), std::string::npos);
}

TEST(Table, ShowsControlCharactersOfNamesAsEscapes) {
  const Table table{{{"arm"}, {"n", Align::Right}},
                    {{"a\x1b[31mred", "1"},
                     {"b\xe2\x80\xae"
                      "evil",
                      "2"},
                     {"two\nlines", "3"}}};
  EXPECT_EQ(text_of(table),
            "arm           n\n"
            "a\\x1b[31mred  1\n"
            "b\\u202eevil   2\n"
            "two lines     3\n");
}

TEST(Table, QuotesCsvFieldsThatNeedIt) {
  const Table table{{{"alias"}, {"value"}}, {{"a=1,s0", "say \"hi\""}, {"plain", "2.5"}}};
  EXPECT_EQ(csv_of(table), "alias,value\n\"a=1,s0\",\"say \"\"hi\"\"\"\nplain,2.5\n");
}

TEST(Table, WritesNumbersShortly) {
  EXPECT_EQ(short_number(2.314159), "2.3142");
  EXPECT_EQ(short_number(1.5e-5), "1.5e-05");
  EXPECT_EQ(short_number(0), "0.0000");
  EXPECT_EQ(short_number(1234567), "1.235e+06");
  EXPECT_EQ(short_number(std::nan("")), "-");
}

TEST(Table, WritesBytesAndSecondsWithUnits) {
  EXPECT_EQ(short_bytes(512), "512 B");
  EXPECT_EQ(short_bytes(1536), "1.5 KiB");
  EXPECT_EQ(short_bytes(3.5 * 1024 * 1024 * 1024), "3.5 GiB");
  EXPECT_EQ(short_seconds(0.0123), "12.3 ms");
  EXPECT_EQ(short_seconds(0.9994), "999 ms");
  EXPECT_EQ(short_seconds(0.9997), "1.0 s");
  EXPECT_EQ(short_seconds(2.5), "2.5 s");
  EXPECT_EQ(short_seconds(125), "2 min 05 s");
  EXPECT_EQ(short_seconds(3725), "1 h 02 min");
  EXPECT_EQ(short_seconds(std::nan("")), "-");
}

}  // namespace table_test
}  // namespace depthgrid
