#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>

#include "models/blocks/residual_scale.hpp"
#include "models/cost_model.hpp"
#include "models/family.hpp"
#include "tests/support/small_options.hpp"
#include "worker/audit/audit_checks.hpp"
#include "worker/audit/audit_models.hpp"

namespace depthgrid::testing {
namespace audit_work_test {

/// Operations that blocks of the audited sizes would have made.
struct Work {
  double at_size = 0, of_twins = 0;
};

/// Costs nothing, and counts what the forward passes of blocks would cost.
class CountingField final : public VectorField {
 public:
  CountingField(const ModelOptions& o, Work& work, std::int64_t width)
      : options_(o), work_(work), width_(width) {}

  FieldValue evaluate(const at::Tensor& x, const DepthPoint&, const Control&) const override {
    const double each =
        flops_per_token(options_, x.size(1), x.size(2)) / static_cast<double>(options_.layers);
    const auto tokens = static_cast<double>(x.size(0) * x.size(1) * x.size(2));
    (options_.width == width_ ? work_.at_size : work_.of_twins) += each * tokens;
    return {x.cumsum(2) * 1e-3, {}};
  }

 private:
  const ModelOptions& options_;
  Work& work_;
  std::int64_t width_;
};

/// Declares as many modes as the richest family has.
class CountingFamily final : public Family {
 public:
  CountingFamily(ParameterSource& source, const ModelOptions& o, Work& work, std::int64_t width)
      : options_(o), scale_(source, o), work_(work), width_(width) {}

  DepthGrid grid(const ForwardContext& c) const override { return scale_.grid(options_, c); }
  std::vector<DepthSegment> segments(const ForwardContext& c) const override {
    return euler_run(grid(c), std::make_unique<CountingField>(options_, work_, width_));
  }
  std::vector<DeclaredMode> modes() const override {
    return std::vector<DeclaredMode>(8, Family::modes().front());
  }

 private:
  const ModelOptions& options_;
  ResidualScale scale_;
  Work& work_;
  std::int64_t width_;
};

struct Sizes {
  std::int64_t width, layers, tokens;
};

Work work_of(const Sizes& sizes, std::string* notes = nullptr) {
  at::set_num_threads(1);
  Work work;
  AuditSubject s;
  s.options = [sizes](const std::vector<std::size_t>& cells) {
    ModelOptions o = small_options("standard", static_cast<std::int64_t>(cells.size()));
    o.width = sizes.width;
    o.hidden = 4 * sizes.width;
    o.layers = sizes.layers;
    o.max_tokens = sizes.tokens;
    return o;
  };
  s.tokens = sizes.tokens;
  s.family = [&](ParameterSource& source, const ModelOptions& o) {
    return std::make_unique<CountingFamily>(source, o, work, sizes.width);
  };
  AuditModels models(s);
  for (const AuditCheckRow& row : audit_checks()) {
    if (row.name == "overfit_batch" || row.name == "entropy_floor") continue;  // of small twins
    const AuditResult result = row.run(models);
    if (notes != nullptr) *notes += std::string(row.name) + ": " + result.note + "\n";
  }
  return work;
}

// The study's own model: no more than the checks may divide among them.
TEST(AuditWork, OfAMiddleSizedStructureIsItsBudget) {
  const Work work = work_of({.width = 256, .layers = 6, .tokens = 128});

  EXPECT_LT(work.at_size, 1.1 * kAuditFlops);
  EXPECT_GT(work.at_size, 0.2 * kAuditFlops);
  EXPECT_LT(work.of_twins, 8e10);
}

// Where a single sequence takes a tenth of the budget, each check does the least that it can, and
// says what it has left out.
TEST(AuditWork, OfALargeStructureIsAFewPasses) {
  std::string notes;
  const Work work = work_of({.width = 512, .layers = 12, .tokens = 512}, &notes);

  EXPECT_LT(work.at_size, 2 * kAuditFlops);
  EXPECT_LT(work.of_twins, 1.6e11);
  EXPECT_NE(notes.find("at size without dense"), std::string::npos) << notes;
  EXPECT_NE(notes.find("at size nothing: too large"), std::string::npos) << notes;
}

}  // namespace audit_work_test
}  // namespace depthgrid::testing
