#include <algorithm>
#include <cstdlib>

#include <gtest/gtest.h>

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>

#include "models/closed_form.hpp"
#include "models/model_factory.hpp"
#include "models/routing/routing_record.hpp"
#include "tests/support/model_cases.hpp"
#include "worker/audit/audit_model.hpp"
#include "worker/audit/audit_service.hpp"

namespace depthgrid::testing {
namespace audit_families_test {

AuditSubject subject_of(const ModelCase& the_case) {
  at::set_num_threads(1);  // these models gain nothing from more
  AuditSubject s;
  s.options = [the_case](const std::vector<std::size_t>& cells) {
    ModelOptions o = small_options(the_case.family, static_cast<std::int64_t>(cells.size()));
    o.init.std.assign(o.init.std.size(), 0.05);
    o.init.embedding_std.assign(o.init.std.size(), 0.05);
    the_case.change(o);
    // A structure's cells begin as copies of one; those of the cases differ.
    const auto alike = [](auto& values) {
      if (!values.empty()) std::ranges::fill(values, values.front());
    };
    alike(o.routing.capacity);
    alike(o.tdt.dense_steps);
    return o;
  };
  s.tokens = 9;
  return s;
}

/// Checks that learn take a second each: the plain case of a family and the published ones do.
AuditLevels levels_for(const ModelCase& the_case) {
  AuditLevels levels;
  if (!the_case.name.ends_with("_plain") && !the_case.name.ends_with("_published")) {
    levels["overfit_batch"] = levels["entropy_floor"] = AuditLevel::Off;
  }
  return levels;
}

/// All cases where DEPTHGRID_ALL_OPTIONS is set; else the plain case of each family, the published
/// ones, and every third of the others.
std::vector<ModelCase> audited_cases() {
  std::vector<ModelCase> out;
  std::size_t place = 0;
  for (ModelCase& one : model_cases()) {
    const bool always = one.name.ends_with("_plain") || one.name.ends_with("_published");
    if (always || place++ % 3 == 0 || std::getenv("DEPTHGRID_ALL_OPTIONS") != nullptr) {
      out.push_back(std::move(one));
    }
  }
  return out;
}

class FamilyAudit : public ::testing::TestWithParam<ModelCase> {};

TEST_P(FamilyAudit, PassesEveryCheck) {
  const auto audit = audit_structure(subject_of(GetParam()), levels_for(GetParam()), {});

  ASSERT_TRUE(audit.has_value());
  for (const AuditResult& c : audit->checks) {
    EXPECT_TRUE(c.verdict == AuditVerdict::Pass || c.verdict == AuditVerdict::Off)
        << c.name << " " << name_of(c.verdict) << ": " << c.value << " against " << c.threshold
        << ", " << c.note;
  }
}

INSTANTIATE_TEST_SUITE_P(EveryOption, FamilyAudit, ::testing::ValuesIn(audited_cases()),
                         [](const auto& p) { return p.param.name; });

// In a dense start nothing is routed: gates and scalars would look dead, and a leak would not show.
TEST(AuditOfADenseStart, LooksAtTheRoutedPhase) {
  const ModelCase late{"tdt_late", "tdt", [](ModelOptions& o) {
                         o.tdt.dense_steps.assign(o.tdt.dense_steps.size(), 500);
                       }};
  const AuditSubject subject = subject_of(late);
  ASSERT_EQ(subject.options({0}).tdt.dense_steps, std::vector<std::int64_t>{500});
  const auto audit = audit_structure(subject, levels_for(late), {});

  ASSERT_TRUE(audit.has_value());
  EXPECT_EQ(audit->find("gradient_flow")->verdict, AuditVerdict::Pass)
      << audit->find("gradient_flow")->note;
  EXPECT_EQ(audit->find("declaration")->verdict, AuditVerdict::Pass);
  EXPECT_EQ(audit->find("causality")->verdict, AuditVerdict::Pass)
      << audit->find("causality")->note;
  AuditModel model(subject, subject.options({0}), {3});
  RoutingRecord record;
  model.logits(audit_tokens(17, {1, 2, 9}, 1), {.training = true, .routing = &record});
  ASSERT_EQ(record.layers.size(), 2U);
  EXPECT_EQ(record.layers[0].executed.sum().item<std::int64_t>(), 2 * 4);  // half of nine tokens
}

TEST(ClosedForms, EveryFamilyHasOne) {
  for (const FamilyEntry& family : families()) {
    EXPECT_TRUE(closed_form_parameters(small_options(std::string(family.name)))) << family.name;
  }
}

}  // namespace audit_families_test
}  // namespace depthgrid::testing
