#include "core/base/time_span.hpp"

#include <gtest/gtest.h>

namespace depthgrid {
namespace time_span_test {

TEST(TimeSpan, HoursMinutesAndSecondsWithOrWithoutDays) {
  EXPECT_EQ(parsed_time_span("2:00:00"), 7200);
  EXPECT_EQ(parsed_time_span("0:01:05"), 65);
  EXPECT_EQ(parsed_time_span("100:00:00"), 360000);
  EXPECT_EQ(parsed_time_span("1-02:03:04"), 86400 + 7200 + 180 + 4);
}

TEST(TimeSpan, WhatCouldMeanTwoThingsIsNoTime) {
  for (const char* text : {"", "90", "1:30", "2h", "1:60:00", "1:00:60", "1:0:00", "-1:00:00",
                           "1-2", "1:00:00:00", ":00:00", "1:00:0x", "1-1-1:00:00"}) {
    EXPECT_FALSE(parsed_time_span(text)) << text;
  }
}

}  // namespace time_span_test
}  // namespace depthgrid
