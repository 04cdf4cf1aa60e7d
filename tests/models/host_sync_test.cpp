#include <set>

#include <gtest/gtest.h>

#include <ATen/record_function.h>
#include <torch/types.h>

#include "tests/support/model_cases.hpp"
#include "tests/support/toy_training.hpp"

namespace depthgrid::testing {
namespace host_sync_test {

thread_local std::multiset<std::string>* seen = nullptr;

std::unique_ptr<at::ObserverContext> note(const at::RecordFunction& fn) {
  if (seen != nullptr) seen->insert(fn.name());
  return nullptr;
}

/// A wait for the device reads a number on the host: these are the operators that do.
TEST(HostSync, AForwardAndBackwardPassReadsNoNumberOnTheHost) {
  const std::set<std::string> wanted = {"standard_plain",
                                        "time_indexed_plain",
                                        "tong_plain",
                                        "hybrid_ode_plain",
                                        "hybrid_ode_mlp",
                                        "hybrid_ode_rk4",
                                        "time_indexed_ssm_plain",
                                        "time_indexed_ssm_dense",
                                        "time_indexed_ssm_published",
                                        "tdt_plain",
                                        "tdt_plain_gathered",
                                        "tdt_layer_rms",
                                        "mod_plain_gathered",
                                        "mod_plain"};
  std::size_t tried = 0;
  for (const ModelCase& one : model_cases()) {
    if (!wanted.contains(one.name)) continue;
    ++tried;
    ModelOptions o = small_options(one.family, 2);
    one.change(o);
    Built built(o, {1, 2});
    CellLanguageModel model(*built.model, built.seeds);
    const at::Tensor windows = torch::randint(0, 17, {2, 3, 10}, at::kLong);
    std::multiset<std::string> names;
    seen = &names;
    const auto handle = at::addThreadLocalCallback(
        at::RecordFunctionCallback(note).scopes({at::RecordScope::FUNCTION}));

    model.losses({windows, 1}).total.backward(torch::ones({2}));

    at::removeCallback(handle);
    seen = nullptr;
    EXPECT_GT(names.size(), 50) << "the recorder saw nothing";
    for (const char* reading : {"aten::item", "aten::_local_scalar_dense", "aten::nonzero",
                                "aten::is_nonzero", "aten::equal", "aten::masked_select"}) {
      EXPECT_EQ(names.count(reading), 0) << one.name << ": " << reading;
    }
  }
  EXPECT_EQ(tried, wanted.size());
}

}  // namespace host_sync_test
}  // namespace depthgrid::testing
