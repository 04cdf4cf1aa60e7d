#include "models/ops/sublayer.hpp"

#include <tuple>

#include <ATen/ops/empty_like.h>

#include "core/base/isa.hpp"
#include "models/ops/graph_node.hpp"
#include "models/ops/host_kernels.hpp"
#include "models/ops/sublayer_call.hpp"

namespace depthgrid {
namespace {

constexpr std::int64_t kRowsOfRun = 64;  // rows of a feed-forward run
constexpr std::int64_t kSublayerTokens = 256;

/// The non-tensor arguments of a call.
struct Plan {
  NormRow::Form form = NormRow::Form::Layer;
  std::int64_t heads = 0;  // 0: feed-forward
  RowActivation act = RowActivation::GeluErf;
};

RowRuns runs_of(const at::Tensor& x, const Plan& plan) {
  return {x, plan.heads > 0 ? rows_of_run(x.size(2)) : kRowsOfRun};
}

std::int64_t workspace(const RowRuns& runs, const at::Tensor& x, const PreparedSublayer& w,
                       const Plan& plan) {
  return sublayer_workspace(runs.longest(), x.size(3), w.inner(), plan.heads, x.size(2));
}

class SublayerNode : public GraphNode<SublayerNode> {
 public:
  /// @param tensors  `inputs_of` the sublayer, an OptionalTensor each.
  template <class... Tensors>
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& input, const at::Tensor& eps,
                            const Plan& plan, const RotaryTables& rotary,
                            const OptionalTensor& more, const Tensors&... tensors) {
    const at::Tensor x = input.contiguous();
    const at::Tensor addend = more->defined() ? more->contiguous() : at::Tensor();
    const SublayerInputs inputs = {*tensors...};
    const PreparedSublayer w(Pass::Forward, tensors_of(plan.form, eps, inputs.data()));
    const KeptRows kept(x, w.inner(), plan.heads);
    const at::Tensor y = at::empty_like(x);
    const RowRuns runs = runs_of(x, plan);
    const std::int64_t n = x.size(3);
    runs.for_each(workspace(runs, x, w, plan), [&](const RowRuns::Run& run) {
      float* to = y.mutable_data_ptr<float>() + run.row * n;
      if (plan.heads > 0) {
        attention_rows_forward(w.weights(run.cell), heads_of(plan.heads, x.size(2), rotary, run),
                               kept.rows(run, plan.heads), to, run.workspace);
      } else {
        const float* added =
            addend.defined() ? addend.const_data_ptr<float>() + run.row * n : nullptr;
        feed_forward_rows_forward(w.weights(run.cell), plan.act, kept.rows(run, 0), added, to,
                                  run.workspace);
      }
    });
    variable_list saved = kept.list();
    const SublayerInputs dense = inputs_of(w.tensors());
    saved.insert(saved.end(), dense.begin(), dense.end());
    saved.insert(saved.end(), {eps, rotary.cosine, rotary.sine});
    ctx->save_for_backward(std::move(saved));
    ctx->saved_data["form"] = static_cast<std::int64_t>(plan.form);
    ctx->saved_data["heads"] = plan.heads;
    ctx->saved_data["act"] = static_cast<std::int64_t>(plan.act);
    ctx->saved_data["addend"] = addend.defined();
    return y;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    expect_last_derivative("a sublayer");
    const variable_list saved = ctx->get_saved_variables();
    const Plan plan{static_cast<NormRow::Form>(ctx->saved_data["form"].toInt()),
                    ctx->saved_data["heads"].toInt(),
                    static_cast<RowActivation>(ctx->saved_data["act"].toInt())};
    const KeptRows kept(saved, 0);
    const at::Tensor* const inputs = saved.data() + KeptRows::kTensors;
    const at::Tensor* const rest = inputs + kSublayerInputs;
    const RotaryTables rotary{rest[1], rest[2]};
    const PreparedSublayer w(Pass::Backward, tensors_of(plan.form, rest[0], inputs));
    const at::Tensor dy = grads[0].contiguous();
    const at::Tensor dx = at::empty_like(kept.x);
    const RowRuns runs = runs_of(kept.x, plan);
    const SublayerGradients sums(w.tensors(), runs);
    const std::int64_t n = kept.x.size(3);
    runs.for_each(workspace(runs, kept.x, w, plan), [&](const RowRuns::Run& run) {
      const float* from = dy.const_data_ptr<float>() + run.row * n;
      float* to = dx.mutable_data_ptr<float>() + run.row * n;
      if (plan.heads > 0) {
        attention_rows_backward(w.weights(run.cell),
                                heads_of(plan.heads, kept.x.size(2), rotary, run),
                                kept.rows(run, plan.heads), from, to, sums.of(run), run.workspace);
      } else {
        feed_forward_rows_backward(w.weights(run.cell), plan.act, kept.rows(run, 0), from, to,
                                   sums.of(run), run.workspace);
      }
    });
    const at::Tensor d_addend = ctx->saved_data["addend"].toBool() ? dy : at::Tensor();
    variable_list out = {dx, {}, {}, {}, d_addend};  // x, eps, plan, rotary, addend
    const SublayerInputs d = sums.result();
    out.insert(out.end(), d.begin(), d.end());
    return out;
  }
};

at::Tensor sublayer_node(const at::Tensor& x, const SublayerTensors& w, const Plan& plan,
                         const RotaryTables& rotary, const at::Tensor& addend) {
  const auto node = [&](const auto&... tensors) {
    return SublayerNode::apply(x, w.eps, plan, rotary, OptionalTensor(addend),
                               OptionalTensor(tensors)...);
  };
  return std::apply(node, inputs_of(w));
}

}  // namespace

at::Tensor attention_sublayer(const at::Tensor& x, const SublayerTensors& w, std::int64_t heads,
                              const RotaryTables& rotary) {
  return sublayer_node(x, w, {.form = w.form, .heads = heads}, rotary, {});
}

at::Tensor feed_forward_sublayer(const at::Tensor& x, const SublayerTensors& w, RowActivation act,
                                 const at::Tensor& addend) {
  return sublayer_node(x, w, {.form = w.form, .act = act}, {}, addend);
}

std::int64_t widest_sublayer() {
#if defined(__x86_64__)
  if (isa_in_use() == Isa::Avx512 && __builtin_cpu_is("intel")) return 128;
#endif
  return 256;
}

bool sublayer_serves(const at::Tensor& x, const SublayerTensors& w, std::int64_t heads) {
  const at::Tensor &a = w.first.weight, &b = w.second.weight;
  const auto plain = [](const at::Tensor& v) {
    return host_kernels_serve(v) && v.scalar_type() == at::kFloat;
  };
  if (!plain(x) || !plain(a) || !plain(b)) return false;
  const bool lanes = x.size(3) % 16 == 0 && a.size(1) % 16 == 0;
  const bool fits = x.size(3) <= widest_sublayer() && (heads == 0 || x.size(2) <= kSublayerTokens);
  return lanes && fits && (heads > 0 || a.size(1) == b.size(2));
}

}  // namespace depthgrid
