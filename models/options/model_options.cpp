#include "models/options/model_options.hpp"

#include <algorithm>
#include <utility>

#include "core/base/error.hpp"

namespace depthgrid {
namespace {

/// The enumerator of a word; the schema has checked the word, so a miss is a bug.
template <class E, std::size_t N>
E pick(const std::pair<std::string_view, E> (&table)[N], std::string_view word) {
  for (const auto& [name, value] : table) {
    if (name == word) return value;
  }
  throw Error("no meaning for the word '" + std::string(word) + "'");
}

Activation activation(std::string_view word) {
  static constexpr std::pair<std::string_view, Activation> kWords[] = {
      {"gelu", Activation::Gelu},        {"gelu_tanh", Activation::GeluTanh},
      {"relu", Activation::Relu},        {"silu", Activation::Silu},
      {"tanh", Activation::Tanh},        {"swiglu", Activation::Swiglu},
      {"softplus", Activation::Softplus}};
  return pick(kWords, word);
}

NormChoice norm_choice(std::string_view word) {
  static constexpr std::pair<std::string_view, NormChoice> kWords[] = {
      {"layer_norm", NormChoice::Layer},
      {"rms_norm", NormChoice::Rms},
      {"temporal_layer_norm", NormChoice::TemporalLayer},
      {"none", NormChoice::None}};
  return pick(kWords, word);
}

ResidualOptions residual(const CellConfigs& cells) {
  ResidualOptions r;
  if (!cells[0]->is_word("model.residual.scale")) {
    r.scale = reals(cells, "model.residual.scale");
    return r;
  }
  const bool per_layer = cells[0]->word("model.residual.scale") == "learned_per_layer";
  r.kind = per_layer ? ScaleKind::LearnedPerLayer : ScaleKind::Learned;
  r.scale = reals(cells, "model.residual.init");
  return r;
}

TimeOptions time(const CellConfigs& cells) {
  const CellConfig& first = *cells[0];
  TimeOptions t;
  for (const CellConfig* c : cells) {
    t.nodes.push_back(c->word("model.time.nodes") == "right" ? Nodes::Right : Nodes::Left);
    t.constant.push_back(c->word("model.time.dependence") == "constant");
  }
  t.value = reals(cells, "model.time.value");
  t.jitter = reals(cells, "model.time.jitter");
  t.kind = first.word("model.time_features.kind") == "fourier" ? FeatureKind::Fourier
                                                               : FeatureKind::Geometric;
  t.frequencies = first.integer("model.time_features.frequencies");
  t.include_t = first.flag("model.time_features.include_t");
  t.t_scale = reals(cells, "model.time_features.t_scale");
  t.base = reals(cells, "model.time_features.base");
  return t;
}

Share share(std::string_view word) {
  static constexpr std::pair<std::string_view, Share> kWords[] = {{"none", Share::None},
                                                                  {"all", Share::All},
                                                                  {"attention", Share::Attention},
                                                                  {"ffn", Share::FeedForward}};
  return pick(kWords, word);
}

Granularity granularity(std::string_view word) {
  static constexpr std::pair<std::string_view, Granularity> kWords[] = {
      {"row", Granularity::Row},
      {"column", Granularity::Column},
      {"element", Granularity::Element}};
  return pick(kWords, word);
}

ModulationOptions modulation(const CellConfigs& cells) {
  static constexpr std::pair<std::string_view, GateKind> kGates[] = {
      {"sigmoid", GateKind::Sigmoid},
      {"one_plus_tanh", GateKind::OnePlusTanh},
      {"identity", GateKind::Identity},
      {"constant", GateKind::Constant}};
  const CellConfig& first = *cells[0];
  ModulationOptions m;
  m.hidden = first.integer("model.modulation.hidden");
  m.activation = activation(first.word("model.modulation.activation"));
  m.gate = pick(kGates, first.word("model.modulation.gate"));
  const std::vector<std::string> targets = first.words("model.modulation.targets");
  const Value& shape = first.at("model.modulation.granularity");
  for (std::size_t i = 0; i < kWeightTypes; ++i) {
    m.target[i] = std::ranges::find(targets, kWeightTypeNames[i]) != targets.end();
    const auto* map = shape.get_if<ValueMap>();
    const Value* word = map == nullptr ? &shape : find_key(*map, kWeightTypeNames[i]);
    if (word != nullptr) m.granularity[i] = granularity(*word->get_if<std::string>());
  }
  m.share_qkv = first.flag("model.modulation.share_qkv");
  m.bias_init = reals(cells, "model.modulation.bias_init");
  m.init_gain = reals(cells, "model.modulation.init_gain");
  m.value = first.real("model.modulation.value");
  return m;
}

HypernetOptions hypernet(const CellConfig& c) {
  return {.hidden = c.integer("model.hypernet.hidden"),
          .depth = c.integer("model.hypernet.depth"),
          .activation = activation(c.word("model.hypernet.activation")),
          .generate_bias = c.flag("model.hypernet.generate_bias"),
          .share_qkv = c.flag("model.hypernet.share_qkv"),
          .per_layer = c.word("model.share") == "none"};
}

SsmOptions ssm(const CellConfigs& cells) {
  static constexpr std::pair<std::string_view, SsmSkip> kSkips[] = {
      {"diagonal", SsmSkip::Diagonal}, {"full", SsmSkip::Full}, {"none", SsmSkip::None}};
  static constexpr std::pair<std::string_view, Discretisation> kRules[] = {
      {"zoh", Discretisation::Zoh},
      {"euler", Discretisation::Euler},
      {"none", Discretisation::None}};
  const CellConfig& first = *cells[0];
  return {.states = first.integer("model.ssm.state_size"),
          .dense = first.word("model.ssm.A") == "dense",
          .skip = pick(kSkips, first.word("model.ssm.D")),
          .discretisation = pick(kRules, first.word("model.ssm.discretisation")),
          .element = first.word("model.ssm.granularity") == "element",
          .generated = first.word("model.ssm.parameters") == "generated",
          .generator = first.integer("model.hypernet.hidden"),
          .dt_min = reals(cells, "model.ssm.dt_min")};
}

FlowOptions flow(const CellConfigs& cells) {
  static constexpr std::pair<std::string_view, FieldKind> kFields[] = {
      {"attention_mlp", FieldKind::AttentionMlp},
      {"time_indexed", FieldKind::TimeIndexed},
      {"mlp", FieldKind::Mlp},
      {"block", FieldKind::Block}};
  const CellConfig& first = *cells[0];
  if (!facts_of(first.word("model.family")).flow) return {};
  const ValueList& range = *first.at("model.replaced_layers").get_if<ValueList>();
  return {.first = *range.at(0).get_if<std::int64_t>(),
          .last = *range.at(1).get_if<std::int64_t>(),
          .field = pick(kFields, first.word("model.field.kind")),
          .hidden = first.integer("model.field.hidden"),
          .activation = activation(first.word("model.field.activation")),
          .sublayers = first.word("model.field.sublayers") == "parallel" ? Sublayers::Parallel
                                                                         : Sublayers::Sequential,
          .time_embedding = first.word("model.field.time_embedding") == "mlp",
          .alpha_learned = first.flag("model.field.alpha_learned"),
          .alpha = reals(cells, "model.field.alpha_init"),
          .output_std = reals(cells, "model.field.output_std"),
          .mask_per_solve = first.word("model.field.dropout_mask") == "per_solve"};
}

DepthSolver solver(const CellConfig& first) {
  const FamilyFacts& family = facts_of(first.word("model.family"));
  if (!family.flow && !family.timed) return {};
  return {.method = &stepper(first.word("model.solver.method")),
          .steps = first.integer("model.solver.steps")};
}

GradientPlan gradient(const CellConfig& first) {
  static constexpr std::pair<std::string_view, GradientMode> kModes[] = {
      {"plain", GradientMode::Plain},
      {"checkpoint", GradientMode::Checkpoint},
      {"reversible", GradientMode::Reversible},
      {"adjoint", GradientMode::Adjoint}};
  const GradientMode mode = pick(kModes, first.word("model.gradient.mode"));
  if (mode != GradientMode::Checkpoint) return {mode};
  return {mode, first.integer("model.gradient.slots")};
}

InitOptions init(const CellConfigs& cells) {
  static constexpr std::pair<std::string_view, InitScheme> kSchemes[] = {
      {"pytorch", InitScheme::Pytorch}, {"gpt2", InitScheme::Gpt2}, {"xavier", InitScheme::Xavier}};
  return {.scheme = pick(kSchemes, cells[0]->word("model.init.scheme")),
          .std = reals(cells, "model.init.std"),
          .embedding_std = reals(cells, "model.init.embedding_std"),
          .residual_scaling = flags(cells, "model.init.residual_scaling"),
          .learned_gain = cells[0]->word("model.init.gain") == "learned"};
}

}  // namespace

ModelOptions model_options(const CellConfigs& cells) {
  static constexpr std::pair<std::string_view, Positions> kPositions[] = {
      {"learned", Positions::Learned}, {"rope", Positions::Rope}, {"none", Positions::None}};
  static constexpr std::pair<std::string_view, AttentionKind> kAttention[] = {
      {"auto", AttentionKind::Auto},
      {"sdpa", AttentionKind::Sdpa},
      {"explicit", AttentionKind::Explicit}};
  const CellConfig& first = *cells.at(0);
  ModelOptions o;
  o.family = first.word("model.family");
  o.cells = static_cast<std::int64_t>(cells.size());
  o.width = first.integer("model.d_model");
  o.layers = first.integer("model.n_layers");
  o.heads = first.integer("model.n_heads");
  o.hidden = first.integer("model.d_ff");
  o.vocabulary = first.integer("model.vocab_size");
  o.max_tokens = first.integer("model.max_seq_len");
  if (o.facts().plain) o.share = share(first.word("model.share"));
  o.sublayers =
      first.word("model.sublayers") == "parallel" ? Sublayers::Parallel : Sublayers::Sequential;
  o.norm = first.word("model.norm") == "none" ? NormChoice::None
                                              : norm_choice(first.word("model.norm_kind"));
  o.final_norm = norm_choice(first.word("model.final_norm"));
  o.norm_eps = reals(cells, "model.norm_eps");
  o.temporal_hidden = first.integer("model.temporal_norm.hidden");
  o.positions = pick(kPositions, first.word("model.positions"));
  o.rope_base = reals(cells, "model.rope_base");
  o.activation = activation(first.word("model.activation"));
  o.attention = pick(kAttention, first.word("model.attention.implementation"));
  o.attention_bias = first.flag("model.attention.bias");
  o.mlp_bias = first.flag("model.mlp.bias");
  o.tie_embeddings = first.flag("model.tie_embeddings");
  o.dropout_attention = reals(cells, "model.dropout.attention");
  o.dropout_mlp = reals(cells, "model.dropout.mlp");
  o.residual = residual(cells);
  o.time = time(cells);
  o.modulation = modulation(cells);
  o.hypernet = hypernet(first);
  o.mixer = first.word("model.mixer") == "ssm" ? Mixer::Ssm : Mixer::Mlp;
  o.ssm = ssm(cells);
  o.routing = routing_options(cells);
  o.tdt = tdt_options(cells);
  o.mod = mod_options(cells);
  o.flow = flow(cells);
  o.control = control_options(cells);
  o.regularisers = regulariser_options(cells);
  o.init = init(cells);
  o.solver = solver(*cells[0]);
  o.gradient = gradient(*cells[0]);
  return o;
}

}  // namespace depthgrid
