#include "core/train/optimizer/optimizer_table.hpp"

#include <algorithm>
#include <string>

#include "core/base/error.hpp"
#include "core/train/optimizer/adam.hpp"

namespace depthgrid {
namespace {

constexpr std::string_view kTwoMoments[] = {"first_moment", "second_moment"};
constexpr std::string_view kAdamScalars[] = {"train.beta1", "train.beta2", "train.eps"};

constexpr OptimizerRow kRows[] = {
    {"adam", kTwoMoments, kAdamScalars, make_adam},
    {"adamw", kTwoMoments, kAdamScalars, make_adamw},
};

}  // namespace

std::span<const OptimizerRow> optimizer_rows() {
  return kRows;
}

const OptimizerRow& optimizer_row(std::string_view word) {
  const auto* const at = std::ranges::find(kRows, word, &OptimizerRow::word);
  if (at == std::end(kRows)) throw Error("no optimiser is called '" + std::string(word) + "'");
  return *at;
}

}  // namespace depthgrid
