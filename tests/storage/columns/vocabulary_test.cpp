// The labels of the store are those of the enumerations, in their order.
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/cell.hpp"
#include "core/config/axis_labels.hpp"
#include "storage/columns/variables.hpp"

namespace depthgrid {
namespace vocabulary_test {

using Labels = std::vector<std::string>;

Labels labels_of_axis(std::string_view axis) {
  const auto labels = labels_of(dimension(axis));
  return {labels.begin(), labels.end()};
}

Labels meanings_of(std::string_view variable) {
  Labels out;
  for (const Flag& flag : flags_of(find_variable(variable)->long_name)) {
    EXPECT_EQ(flag.value, static_cast<int>(out.size())) << variable;
    out.push_back(flag.meaning);
  }
  return out;
}

Labels all(std::span<const std::string_view> names) {
  return {names.begin(), names.end()};
}

TEST(Vocabulary, ParameterGroupsAreTheLabelsOfTheirAxis) {
  EXPECT_EQ(labels_of_axis("parameter_group"), all(kParameterGroupNames));
}

TEST(Vocabulary, SplitsAreTheLabelsOfTheirAxis) {
  EXPECT_EQ(labels_of_axis("split"), all(kSplitNames));
}

TEST(Vocabulary, AuditChecksAreTheLabelsOfTheirAxis) {
  EXPECT_EQ(labels_of_axis("audit_check"), all(kAuditCheckNames));
}

TEST(Vocabulary, EvalModesAreTheLabelsOfTheirAxis) {
  EXPECT_EQ(labels_of_axis("eval_mode"), all(kEvalModeNames));
}

TEST(Vocabulary, EventsAreTheMeaningsOfTheirFlag) {
  EXPECT_EQ(meanings_of("event_kind"), all(kEventKindNames));
}

TEST(Vocabulary, OutcomesAreTheMeaningsOfTheirFlag) {
  EXPECT_EQ(meanings_of("attempt_outcome"), all(kAttemptOutcomeNames));
}

TEST(Vocabulary, StatusesAreTheMeaningsOfTheirFlag) {
  const Labels meanings = meanings_of("cell_status");

  ASSERT_EQ(meanings.size(), static_cast<std::size_t>(CellStatus::Oom) + 1);
  for (std::size_t i = 0; i < meanings.size(); ++i) {
    EXPECT_EQ(meanings[i], name_of(static_cast<CellStatus>(i)));
  }
}

}  // namespace vocabulary_test
}  // namespace depthgrid
