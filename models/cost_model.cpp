#include "models/cost_model.hpp"

#include "models/recomputation.hpp"
#include "models/routing/top_k.hpp"

namespace depthgrid {
namespace {

/// Entries of the four weight matrices of a block.
std::int64_t block_weights(const ModelOptions& o) {
  return o.width * (4 * o.width + o.up_rows() + o.hidden);
}

/// Entries generated for one depth: the weights and, if generated, the biases; or A, Δ, B, C and D
/// of a generated state-space layer.
std::int64_t generated_entries(const ModelOptions& o) {
  if (o.mixer == Mixer::Ssm && o.ssm.generated) {
    const std::int64_t skip[] = {o.width, o.width * o.width, 0};  // diagonal, full, none
    return 2 * o.ssm.states * (1 + o.width) + skip[static_cast<std::size_t>(o.ssm.skip)];
  }
  if (!o.facts().generated) return 0;
  const std::int64_t attention = o.attention_bias ? 4 * o.width : 0;
  const std::int64_t mlp = o.mlp_bias ? o.up_rows() + o.width : 0;
  return block_weights(o) + (o.hypernet.generate_bias ? attention + mlp : 0);
}

/// Multiply-adds per token of one evaluation of a flow's field over a window of t tokens.
double flow_evaluation(const ModelOptions& o, double t) {
  const auto c = static_cast<double>(o.width);
  if (o.flow.field == FieldKind::Mlp) return 2 * c * static_cast<double>(o.flow.hidden);
  const std::int64_t hidden =
      o.flow.field == FieldKind::Block ? o.up_rows() + o.hidden : 2 * o.flow.hidden;
  return 4 * c * c + c * static_cast<double>(hidden) + 2 * t * c;
}

/// Multiply-adds per token and layer of the second sublayer.
double second_sublayer(const ModelOptions& o) {
  const auto c = static_cast<double>(o.width);
  if (o.mixer == Mixer::Mlp) return c * static_cast<double>(o.up_rows() + o.hidden);
  const auto n = static_cast<double>(o.ssm.states);
  const double skip = o.ssm.skip == SsmSkip::Full ? c * c : 0.0;
  return 2 * c * n + (o.ssm.dense ? n * n : n) + skip;
}

/// Multiply-adds per token of a block without its attention.
double block_products(const ModelOptions& o) {
  const auto c = static_cast<double>(o.width);
  return 4 * c * c + second_sublayer(o);
}

/// Multiply-adds per token of scores and averages over t tokens.
double block_attention(const ModelOptions& o, double t) {
  return 2 * t * static_cast<double>(o.width);
}

/// Multiply-adds per token of the decision before a dynamic layer.
double decision(const ModelOptions& o) {
  const auto c = static_cast<double>(o.width), h = static_cast<double>(o.mod.predictor_hidden);
  return o.facts().predicts ? c * h + h : 2 * c;
}

/// Multiply-adds per token of the factor of a dynamic layer's increment.
double increment_gate(const ModelOptions& o) {
  return o.facts().predicts ? static_cast<double>(o.width) : 0;
}

/// Multiply-adds per token of the networks that generate the weights of all depths.
double generators_per_token(const ModelOptions& o, std::int64_t rows, std::int64_t tokens) {
  return static_cast<double>(o.block_evaluations() * o.hypernet.hidden * generated_entries(o)) /
         static_cast<double>(rows * tokens);
}

double dynamic_layers(const ModelOptions& o) {
  return static_cast<double>(o.routing.layers.size());
}

/// Numbers per token and layer that it saves for the backward pass.
double second_sublayer_kept(const ModelOptions& o) {
  if (o.mixer == Mixer::Ssm) return static_cast<double>(2 * o.ssm.states + o.width);
  return 2 * static_cast<double>(o.up_rows()) + static_cast<double>(o.hidden);
}

}  // namespace

double flops_per_token(const ModelOptions& o, std::int64_t rows, std::int64_t tokens) {
  const auto c = static_cast<double>(o.width);
  const auto t = static_cast<double>(tokens);
  const double readout = c * static_cast<double>(o.vocabulary);
  const auto layers = static_cast<double>(o.block_evaluations());
  const double flow = o.flow.replaced() > 0
                          ? static_cast<double>(o.solver.evaluations()) * flow_evaluation(o, t)
                          : 0;
  const double block = block_products(o) + block_attention(o, t);
  const double generators = generators_per_token(o, rows, tokens);
  return 2 * (layers * block + generators + flow + readout + dynamic_layers(o) * increment_gate(o));
}

ForwardFlops forward_flops(const ModelOptions& o, std::int64_t rows, std::int64_t tokens) {
  ForwardFlops out;
  out.readout = 2 * static_cast<double>(o.width * o.vocabulary);
  if (o.flow.replaced() > 0) {
    out.flow = 2 * static_cast<double>(o.solver.evaluations()) *
               flow_evaluation(o, static_cast<double>(tokens));
  }
  out.layers = flops_per_token(o, rows, tokens) - out.readout - out.flow;
  return out;
}

StudentFlops student_flops(const ModelOptions& o, std::int64_t rows, std::int64_t tokens) {
  const double dynamic = dynamic_layers(o);
  StudentFlops out;
  out.products = 2 * dynamic * block_products(o);
  out.attention = 2 * dynamic * block_attention(o, static_cast<double>(tokens));
  out.always =
      flops_per_token(o, rows, tokens) - out.products - out.attention + 2 * dynamic * decision(o);
  return out;
}

double capacity_share(const ModelOptions& o, std::int64_t tokens, std::size_t e) {
  if (o.routing.layers.empty()) return 1;
  return static_cast<double>(capacities(o.routing, tokens).at(e)) / static_cast<double>(tokens);
}

double recomputed_flops_per_token(const ModelOptions& o, std::int64_t rows, std::int64_t tokens,
                                  double forward) {
  const Recomputation again = recomputation(o);
  const auto t = static_cast<double>(tokens);
  const bool flows = o.flow.replaced() > 0 && o.flow.field != FieldKind::Block;
  const double flow = flows ? 2 * flow_evaluation(o, t) : 0;
  const double readout = 2 * static_cast<double>(o.width * o.vocabulary);
  const double of_layers = forward - readout - 2 * generators_per_token(o, rows, tokens) -
                           flow * static_cast<double>(o.solver.evaluations());
  const bool tied = o.flow.replaced() > 0 && !flows;
  const auto blocks = static_cast<double>(tied ? o.depth_steps() : o.block_evaluations());
  const double layer = blocks > 0 ? of_layers / blocks : 0;
  const Regularisation more = regularisation(o);
  const double layers = blocks > 0 ? again.layers / blocks * of_layers : 0;
  return layers + again.evaluations * flow + more.evaluations * (flows ? flow : layer) +
         more.passes * (forward - readout);
}

double training_flops_per_token(const ModelOptions& o, std::int64_t rows, std::int64_t tokens,
                                std::size_t e) {
  const StudentFlops student = student_flops(o, rows, tokens);
  const double executed = student.at(o.routing.gathered ? capacity_share(o, tokens, e) : 1.0);
  const auto with_recomputed = [&](double all, double forward) {
    return all + recomputed_flops_per_token(o, rows, tokens, forward);
  };
  if (!o.facts().teaches) return with_recomputed(3 * executed, executed);
  const double network = 2 * dynamic_layers(o) * static_cast<double>(3 * o.width * o.tdt.tpn_width);
  const double dense = student.products + student.attention;
  if (o.tdt.path == TrainPath::Dense) {
    return with_recomputed(3 * (student.at(1) + network), student.at(1) + network);
  }
  const double times = o.tdt.gate_grad_to_trunk || !o.tdt.tpn_detach_input ? 3 : 1;
  return with_recomputed(3 * (executed + network) + times * dense, executed + network + dense);
}

double activation_bytes(const ModelOptions& o, std::int64_t rows, std::int64_t tokens) {
  const auto n = static_cast<double>(rows * tokens);
  const auto c = static_cast<double>(o.width);
  // A layer keeps its input, two normalised copies, qkv and its head views, the attention output,
  // both increments (about 12 C) and the second sublayer's intermediates: up before and after its
  // activation, or the inputs and the states of a state-space layer's recurrence.
  const double layer = 12 * c + second_sublayer_kept(o);
  // Layers that mask skipped tokens materialise their scores; a teacher's dense pass saves nothing.
  const bool masks = !o.routing.layers.empty() && !o.routing.gathered;
  const bool squares =
      o.attention == AttentionKind::Explicit || masks || o.regularisers.of_jacobian();
  const double scores =
      squares ? 3 * static_cast<double>(o.heads) * static_cast<double>(tokens) : 0.0;
  const double readout = 3 * static_cast<double>(o.vocabulary) + 3 * c;
  // The generated weights of all depths and their gradients, complete before the generators' start;
  // where the depth is solved they are made for each evaluation.
  const KeptActivations kept = kept_activations(o);
  const double depths = o.solved() ? kept.layers : static_cast<double>(o.layers);
  const double weights = 2 * depths * static_cast<double>(generated_entries(o));
  const double blocks = kept.layers + kept.evaluations;
  return 4 * (n * (blocks * (layer + scores) + kept.states * c + readout) + weights);
}

std::int64_t effective_parameters(const ModelOptions& o, const ParameterLayout& layout) {
  std::int64_t shared = 0, generators = 0, flow = 0;
  for (const ParameterSlot& slot : layout.slots()) {
    const bool generator = slot.spec.group == ParameterGroup::Hypernet;
    if (generator) generators += slot.count;
    if (!generator && slot.spec.name.starts_with("block.")) shared += slot.count;
    const bool repeated =
        slot.spec.name.starts_with("flow.block.") || slot.spec.name.starts_with("flow.mlp.");
    if (repeated) flow += slot.count;
  }
  const std::int64_t blocks = o.block_evaluations();
  return layout.parameters() - generators + blocks * generated_entries(o) + (blocks - 1) * shared +
         (o.solver.evaluations() - 1) * flow;
}

}  // namespace depthgrid
