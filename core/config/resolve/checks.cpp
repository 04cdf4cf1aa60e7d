#include "core/config/resolve/checks.hpp"

#include <algorithm>
#include <initializer_list>
#include <string>

#include "core/config/facts/probe_sample.hpp"
#include "core/config/facts/state_volume.hpp"
#include "core/config/resolve/control_checks.hpp"
#include "core/config/resolve/derive.hpp"
#include "core/config/resolve/flow_checks.hpp"
#include "core/config/resolve/rule_report.hpp"
#include "core/config/schema.hpp"
#include "core/config/start_name.hpp"
#include "core/config/text_format.hpp"

namespace depthgrid {
namespace {

constexpr std::int64_t kMostMarkovStates = 65536;

void check_sizes(const Slots& s, const RuleReport& report) {
  const LeafRows& row = leaf_rows();
  const std::int64_t d = s.integer(row.d_model);
  const std::int64_t heads = s.integer(row.n_heads);
  if (d % heads != 0) {
    report({row.d_model, row.n_heads},
           report.shown(row.d_model) + " is not a multiple of " + report.shown(row.n_heads));
  } else if (s.is(row.positions, "rope") && d / heads % 2 != 0) {
    report({row.positions, row.d_model, row.n_heads},
           "rope needs an even width of a head; d_model / n_heads is " + std::to_string(d / heads));
  }
  if (s.is(row.positions, "learned") && s.integer(row.max_seq_len) < s.integer(row.seq_len)) {
    report({row.max_seq_len, row.seq_len}, report.shown(row.max_seq_len) + " is less than " +
                                               report.shown(row.seq_len) +
                                               ": learned positions need a row for each");
  }
  for (const auto norm : {row.norm_kind, row.final_norm}) {
    if (s.is(norm, "temporal_layer_norm") && !s.family().timed) {
      report({norm, row.family},
             report.shown(norm) + " needs depth-time: `model.family: time_indexed` or `tong`");
    }
  }
  if (s.family().generated && (s.is(row.share, "attention") || s.is(row.share, "ffn"))) {
    report({row.share, row.family}, report.shown(row.share) +
                                        " shares a sublayer of `model.family: standard`; tong has "
                                        "one set of generators (all) or one per layer (none)");
  }
  if (s.is(row.implementation, "sdpa") && s.number(row.attention_dropout) > 0) {
    report({row.implementation, row.attention_dropout},
           "sdpa has no dropout: use `model.attention.implementation: explicit` (or auto) with " +
               report.shown(row.attention_dropout));
  }
}

void check_vocabulary(const Slots& s, const RuleReport& report) {
  const LeafRows& row = leaf_rows();
  const auto* known = s.defaults[row.vocab_size]->get_if<std::int64_t>();  // the tokeniser's
  if (s.null(row.vocab_size)) {
    report({row.vocab_size, row.tokenizer},
           "`data.tokenizer: char` takes its vocabulary from the text: give `model.vocab_size`, at "
           "least its number of different characters");
  } else if (known != nullptr && *known > s.integer(row.vocab_size)) {
    report({row.vocab_size, row.tokenizer, row.corpus},
           report.shown(row.vocab_size) + " is less than the " + std::to_string(*known) +
               " tokens of the tokeniser");
  }
}

void check_gates(const Slots& s, const RuleReport& report) {
  const LeafRows& row = leaf_rows();
  const auto* targets = s.values[row.targets]->get_if<ValueList>();
  if (targets->empty()) {
    report({row.targets},
           "`model.modulation.targets` is empty: use `model.modulation.gate: "
           "constant` for a model without gates");
  }
  const auto* map = s.values[row.granularity]->get_if<ValueMap>();
  if (map != nullptr) {
    for (const auto& [name, word] : *map) {
      if (!s.has_word(row.targets, name)) {
        report({row.granularity}, "`model.modulation.granularity`: target '" + name +
                                      "' has no gate (`model.modulation.targets`)");
      }
    }
  }
  if (!*s.values[row.share_qkv]->get_if<bool>()) return;
  for (const std::string_view name : {"q", "k", "v"}) {
    if (!s.has_word(row.targets, name)) {
      report({row.share_qkv},
             "`model.modulation.share_qkv` needs q, k and v in "
             "`model.modulation.targets`");
      return;
    }
  }
  if (map != nullptr && !(*find_key(*map, "q") == *find_key(*map, "k") &&
                          *find_key(*map, "q") == *find_key(*map, "v"))) {
    report({row.granularity, row.share_qkv},
           "`model.modulation.share_qkv` needs one granularity for q, k and v");
  }
}

void check_state_space(const Slots& s, const RuleReport& report) {
  const LeafRows& row = leaf_rows();
  if (!s.is(row.mixer, "ssm")) return;
  for (const std::string_view name : {"up", "down"}) {
    if (s.has_word(row.targets, name)) {
      report({row.targets, row.mixer}, "`model.modulation.targets` names " + std::string(name) +
                                           ", which a model with " + report.shown(row.mixer) +
                                           " does not have");
    }
  }
  if (s.is(row.ssm_parameters, "generated") && s.is(row.ssm_a, "dense")) {
    report({row.ssm_a, row.ssm_parameters},
           report.shown(row.ssm_parameters) +
               " is the published program's, whose A is diagonal: a dense A needs "
               "`model.ssm.parameters: shared`");
  }
}

void check_routing(const Slots& s, const RuleReport& report) {
  const LeafRows& row = leaf_rows();
  const FamilyFacts& family = s.family();
  if (!family.skips) return;
  const std::size_t leaf = leaf_index("model." + std::string(family.name) + ".layers");
  const std::int64_t layers = s.integer(row.n_layers);
  if (const auto* list = s.values[leaf]->get_if<ValueList>()) {
    const std::int64_t last = *list->back().get_if<std::int64_t>();
    if (last >= layers) {
      report({leaf, row.n_layers}, report.shown(leaf) + " names layer " + std::to_string(last) +
                                       "; layers of " + report.shown(row.n_layers) +
                                       " count from 0 to " + std::to_string(layers - 1));
    }
  } else if (layers == 1 && s.is(leaf, "odd")) {
    report({leaf, row.n_layers}, report.shown(leaf) + " is no layer of " +
                                     report.shown(row.n_layers) + ": use `all` or more layers");
  }
  if (!family.teaches && s.has_word(row.modes, "teacher_threshold")) {
    report({row.modes}, "`eval.modes` names teacher_threshold, which family " +
                            std::string(family.name) + " does not have");
  }
}

/// Whether a leaf names a file of that format: a text, a list of them, or null.
bool names(const Value& path, TextFormat format, const std::string& word) {
  if (const auto* list = path.get_if<ValueList>()) {
    return std::ranges::any_of(*list, [&](const Value& one) { return names(one, format, word); });
  }
  const auto* file = path.get_if<std::string>();
  return file != nullptr && text_format(*file, word) == format;
}

/// Ids and texts do not mix: the ids' tokeniser is unknown here.
void check_formats(const Slots& s, const RuleReport& report) {
  const LeafRows& row = leaf_rows();
  const auto& word = *s.values[row.data_format]->get_if<std::string>();
  const auto any = [&](std::initializer_list<TextFormat> formats) {
    for (const std::size_t leaf : {row.data_path, row.data_valid, row.data_test}) {
      if (leaf != row.data_test && !s.is(row.corpus, "file")) continue;
      for (const TextFormat format : formats) {
        if (names(*s.values[leaf], format, word)) return true;
      }
    }
    return false;
  };
  if (s.origins[row.text_key] != Origin::Default && !any({TextFormat::Jsonl})) {
    report({row.text_key, row.data_path, row.data_test},
           "`data.text_key` names a field of JSONL, and no file that this cell reads is JSONL "
           "(.jsonl, .ndjson or `data.format: jsonl`): remove it");
  }
  const bool texts = any({TextFormat::Text, TextFormat::Jsonl}) || !s.is(row.corpus, "file");
  if (any({TextFormat::Tokens}) && texts) {
    report({row.data_path, row.data_valid, row.data_test},
           "tokens (.bin, or `data.format: tokens`) and texts cannot be splits of one corpus: name "
           "files of one kind in `data.path`, `data.valid` and `data.test`");
  }
}

void check_data(const Slots& s, const RuleReport& report) {
  const LeafRows& row = leaf_rows();
  check_formats(s, report);
  if (s.is(row.corpus, "file") && s.null(row.data_path)) {
    report({row.corpus}, "`data.corpus: file` needs `data.path`, the text itself");
  }
  const double cut =
      s.number(row.dev_fraction) + s.number(row.valid_fraction) + s.number(row.test_fraction);
  if (cut >= 1) {
    report({row.dev_fraction, row.valid_fraction, row.test_fraction},
           "the shares of dev, valid and test leave nothing to train on");
  }
  if (s.is(row.corpus, "synthetic:markov")) {
    const std::int64_t vocab = s.integer(row.synthetic_vocab);
    const std::int64_t order = s.integer(row.markov_order);
    std::int64_t states = 1;
    for (std::int64_t i = 0; i < order && states <= kMostMarkovStates; ++i) states *= vocab;
    if (states > kMostMarkovStates) {
      report({row.markov_order, row.synthetic_vocab},
             "vocab_size^order of synthetic:markov is more than 65,536 states (" +
                 std::to_string(vocab) + "^" + std::to_string(order) + ")");
    }
  }
  const bool lagged = s.is(row.corpus, "synthetic:copy") || s.is(row.corpus, "synthetic:induction");
  if (lagged && s.integer(row.lag) >= s.integer(row.synthetic_tokens)) {
    report({row.lag, row.synthetic_tokens},
           report.shown(row.lag) + " leaves nothing of " + report.shown(row.synthetic_tokens));
  }
}

void check_training(const Slots& s, const RuleReport& report) {
  const LeafRows& row = leaf_rows();
  if (s.integer(row.batch_size) % s.integer(row.accumulation) != 0) {
    report({row.accumulation, row.batch_size},
           report.shown(row.accumulation) + " does not divide " + report.shown(row.batch_size));
  }
  if (s.is(row.precision, "tf32") && s.is(row.device, "cpu")) {
    report.note(row.precision,
                "a CPU has no tf32: with `resources.device: cpu` these cells compute "
                "in fp32");
  }
  const std::int64_t steps = s.integer(row.steps);
  const std::int64_t warmup = s.integer(row.warmup);
  const std::int64_t decay = s.null(row.decay_steps) ? 0 : s.integer(row.decay_steps);
  if (warmup > steps) {
    report({row.warmup, row.steps},
           report.shown(row.warmup) + " is more than " + report.shown(row.steps));
  } else if (warmup + decay > steps) {
    report({row.decay_steps, row.warmup, row.steps},
           "warm-up and decay together (" + std::to_string(warmup + decay) + ") are more than " +
               report.shown(row.steps));
  }
}

void check_decay_groups(const Slots& s, const RuleReport& report) {
  constexpr std::string_view kPrefix = "train.groups.";
  const LeafRows& row = leaf_rows();
  static const std::vector<std::size_t> rows = [] {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < schema().size(); ++i) {
      const auto path = schema()[i].path;
      if (path.starts_with(kPrefix) && path.ends_with(".weight_decay")) found.push_back(i);
    }
    return found;
  }();
  for (const std::size_t leaf : rows) {
    if (s.origins[leaf] == Origin::Default || s.written[leaf]->is_null()) continue;
    const auto path = schema()[leaf].path;
    const auto group = path.substr(kPrefix.size(), path.rfind('.') - kPrefix.size());
    if (s.number(leaf) > 0 && s.has_word(row.no_decay, group)) {
      report({leaf}, "`" + std::string(path) + "` has no effect while `train.no_decay` lists " +
                         std::string(group) + ": take it out of that list");
    }
  }
}

void check_evaluation(const Slots& s, const RuleReport& report) {
  const LeafRows& row = leaf_rows();
  for (const auto list : {row.splits, row.final_splits}) {
    if (s.has_word(list, "dev") && !has_dev(s)) {
      report(
          {list, row.split, row.dev_fraction},
          "`" + std::string(schema()[list].path) +
              "` names dev, which `data.split: published` and `data.dev_fraction: 0` do not have");
    }
  }
  if (s.has_word(row.final_splits, "test") && s.null(row.data_test) &&
      !(s.number(row.test_fraction) > 0)) {
    report({row.final_splits},
           "`eval.final_splits` names test: give `data.test`, the test text, or "
           "`data.test_fraction`, a share of the text");
  }
  if (s.integer(row.stride) > s.integer(row.seq_len)) {
    report({row.stride, row.seq_len}, report.shown(row.stride) + " is more than " +
                                          report.shown(row.seq_len) + ": tokens would be left out");
  }
  const bool dev = s.has_word(row.splits, "dev");
  if (!s.null(row.patience) && (!dev || s.null(row.every))) {
    report({row.patience},
           "early stopping reads dev: it needs `eval.every` and dev in "
           "`eval.splits`");
  }
  if (s.integer(row.keep_best) > 0 && !dev) {
    report({row.keep_best},
           "`checkpoint.keep_best` goes by dev loss: it needs dev in "
           "`eval.splits`");
  }
}

void check_probes(const Slots& s, const RuleReport& report) {
  constexpr std::int64_t kTokens = 1024;  // fewer leave the estimator too noisy to be shown
  const LeafRows& row = leaf_rows();
  if (s.null(row.probe_sequences) || s.is(row.trajectory, "off")) return;
  const auto* cka = s.values[row.cka]->get_if<bool>();
  const std::int64_t tokens = s.integer(row.probe_sequences) * s.integer(row.seq_len);
  if (cka == nullptr || !*cka || tokens >= kTokens) return;
  report.note(row.probe_sequences, "the similarity of depths (`probes.trajectory.cka`) needs " +
                                       std::to_string(kTokens) + " tokens and is left out: " +
                                       report.shown(row.probe_sequences) + " gives " +
                                       std::to_string(tokens));
}

/// Raw states of trajectories: of sequences that there are, and within their bytes.
void check_states(const Slots& s, const RuleReport& report) {
  const LeafRows& row = leaf_rows();
  if (s.integer(row.state_sequences) == 0) return;
  const std::string problem = state_refusal(state_volume(s.by_path()));
  if (problem.empty()) return;
  report({row.state_sequences, row.state_bytes, row.trajectory, row.probe_sequences}, problem);
}

/// Sequences that probes take: no more than the probe set has.
void check_samples(const Slots& s, const RuleReport& report) {
  for (const ProbeSampleLeaf& sample : probe_sample_leaves()) {
    const std::size_t row = leaf_index(sample.path);
    if (s.null(row) || s.is(leaf_index(sample.schedule), "off")) continue;
    const std::string problem = sample_refusal(s.by_path(), sample.path);
    if (!problem.empty()) report({row, leaf_rows().probe_sequences}, problem);
  }
}

void check_start(const Slots& s, const RuleReport& report) {
  const LeafRows& row = leaf_rows();
  if (!start_name(*s.values[row.init_from]).is_cell()) {
    if (s.is(row.first_step, "source")) {
      report({row.first_step, row.init_from},
             report.shown(row.first_step) +
                 " goes on after a cell of this sweep: name it by `model.init.from: arm:TAG` or "
                 "cell:ID, or give the number of steps that the weights in a file were trained "
                 "for");
    }
    return;
  }
  if (!s.is(row.init_layout, "native")) {
    report({row.init_layout, row.init_from},
           report.shown(row.init_layout) + " is a layout of files; " + report.shown(row.init_from) +
               " names a cell: leave the layout out");
  }
  if (const auto* keep = s.values[row.keep_final]->get_if<bool>(); keep != nullptr && !*keep) {
    report({row.keep_final, row.init_from},
           report.shown(row.init_from) +
               " needs the last weights of that cell: `checkpoint.keep_final: true`");
  }
}

}  // namespace

void check_cell(const Slots& slots, Place arm, Diagnostics& diagnostics) {
  const RuleReport report(slots, arm, diagnostics);
  check_sizes(slots, report);
  check_gates(slots, report);
  check_state_space(slots, report);
  check_routing(slots, report);
  check_flow(slots, report);
  check_control(slots, report);
  check_data(slots, report);
  check_training(slots, report);
  check_decay_groups(slots, report);
  check_probes(slots, report);
  check_states(slots, report);
  check_samples(slots, report);
  check_evaluation(slots, report);
  check_vocabulary(slots, report);
  check_start(slots, report);
}

}  // namespace depthgrid
