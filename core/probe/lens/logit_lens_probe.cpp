#include "core/probe/lens/logit_lens_probe.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include "core/base/nan.hpp"

namespace depthgrid {
namespace {

constexpr std::int64_t kLogits = std::int64_t{1} << 20;  // of one cell at a time, 4 MiB

std::vector<double> row(const at::Tensor& table, std::int64_t e) {
  const at::Tensor one = table.select(0, e).to(at::kCPU).contiguous();
  const double* data = one.const_data_ptr<double>();
  return {data, data + one.numel()};
}

}  // namespace

LogitLensProbe::LogitLensProbe(const ProbeSubject& subject, ProbeSchedule schedule)
    : subject_(subject), schedule_(std::move(schedule)) {}

void LogitLensProbe::declare(RecordSink& out) {
  const SeriesAxis edges{.name = "depth_edge", .length = subject_.depth() + 1};
  loss_ = out.declare({"logit_lens_loss", {edges}});
  agreement_ = out.declare({"logit_lens_agreement", {edges}});
}

void LogitLensProbe::measure(std::int64_t /*step*/, RecordSink& out) {
  const at::NoGradGuard no_grad;
  const std::int64_t cells = subject_.cells(), edges = subject_.depth() + 1;
  const ProbeSet& set = subject_.set();
  at::Tensor loss = at::zeros({cells, edges}, at::kDouble), agreement = at::zeros_like(loss);
  std::int64_t count = 1;  // until the size of the vocabulary is known
  for (std::int64_t first = 0, next = 0; first < set.sequences(); first = next) {
    const std::int64_t rest = set.sequences() - first;
    const std::vector<at::Tensor> states = subject_.states(first, std::min(count, rest));
    const at::Tensor last = subject_.logits(states.back());
    next = first + last.size(1);
    // Whatever the number of cells is, so that each has the same bits alone.
    count = std::max<std::int64_t>(1, kLogits / (set.tokens() * last.size(3)));
    const at::Tensor choice = last.argmax(-1);
    const at::Tensor targets =
        set.windows.narrow(0, first, last.size(1)).narrow(1, 1, set.tokens()).to(last.device());
    const at::Tensor index = targets.unsqueeze(0).unsqueeze(3).expand({cells, -1, -1, 1});
    for (std::int64_t l = 0; l < edges; ++l) {
      const bool end = l + 1 == edges;
      const at::Tensor logits = end ? last : subject_.logits(states[static_cast<std::size_t>(l)]);
      const at::Tensor scores = at::log_softmax(logits.to(at::kFloat), -1).gather(3, index);
      loss.select(1, l).sub_(scores.to(at::kCPU, at::kDouble).sum({1, 2, 3}));
      agreement.select(1, l).add_(
          logits.argmax(-1).eq(choice).to(at::kCPU, at::kDouble).sum({1, 2}));
    }
  }
  const auto tokens = static_cast<double>(set.sequences() * set.tokens());
  // Logits that are not finite have no largest one; their loss is NaN.
  const at::Tensor unknown = loss.isnan().logical_or(loss.narrow(1, edges - 1, 1).isnan());
  agreement.masked_fill_(unknown, kNaN);
  for (std::int64_t e = 0; e < cells; ++e) {
    out.write(loss_, static_cast<std::size_t>(e), row(loss / tokens, e));
    out.write(agreement_, static_cast<std::size_t>(e), row(agreement / tokens, e));
  }
}

}  // namespace depthgrid
