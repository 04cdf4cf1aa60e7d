#include "models/cell_language_model.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/argmax.h>

#include "models/ops/cell_cross_entropy.hpp"

namespace depthgrid {
namespace {

struct Shifted {
  at::Tensor inputs, targets;  // (E, B, T)
};

Shifted shifted(const at::Tensor& windows) {
  const std::int64_t tokens = windows.size(-1) - 1;
  return {windows.narrow(-1, 0, tokens), windows.narrow(-1, 1, tokens)};
}

}  // namespace

at::Tensor CellLanguageModel::training_loss(const at::Tensor& windows, std::int64_t step,
                                            std::int64_t first_row) {
  const Shifted batch = shifted(windows);
  const ForwardContext context{
      .training = true, .step = step, .first_row = first_row, .seeds = &seeds_, .watch = watch};
  return cell_cross_entropy(model_.logits(batch.inputs, context), batch.targets);
}

LanguageModel::Scores CellLanguageModel::score(const at::Tensor& windows) {
  const std::int64_t cells = model_.options().cells;
  const Shifted batch = shifted(windows.to(model_.options().device)
                                    .unsqueeze(0)
                                    .expand({cells, windows.size(0), windows.size(1)}));
  const at::Tensor logits = model_.logits(batch.inputs, {});
  return {token_losses(logits, batch.targets), logits.argmax(-1).eq(batch.targets)};
}

}  // namespace depthgrid
