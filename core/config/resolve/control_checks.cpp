#include "core/config/resolve/control_checks.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "core/config/axis_labels.hpp"
#include "core/config/resolve/derive.hpp"

namespace depthgrid {
namespace {

constexpr std::size_t kMostNames = 8;

std::int64_t at(const ValueList& list, std::size_t i) {
  return *list.at(i).get_if<std::int64_t>();
}

std::string rule_attributes() {
  std::string all;
  for (const std::string_view name : kRuleAttributeNames) {
    all += (all.empty() ? "" : ", ") + std::string(name);
  }
  return all;
}

void check_axes(const Slots& s, const RuleReport& report) {
  const LeafRows& row = leaf_rows();
  const std::int64_t axes = s.integer(row.control_dim);
  const auto* list = s.values[row.control_names]->get_if<ValueList>();
  const std::size_t named = list == nullptr ? 1 : list->size();
  if (named > kMostNames) {
    report({row.control_names}, "`model.control.names` has " + std::to_string(named) +
                                    " names; at most 8 axes have names");
  }
  if (named > 0 && static_cast<std::int64_t>(named) != axes) {
    report({row.control_dim, row.control_names},
           report.shown(row.control_dim) + " is not the number of names in " +
               report.shown(row.control_names) + ": leave `model.control.dim` out");
  }
  std::set<std::string> seen;
  for (std::size_t i = 0; list != nullptr && i < named; ++i) {
    const auto& name = *list->at(i).get_if<std::string>();
    if (!seen.insert(name).second) {
      report({row.control_names}, "`model.control.names` has '" + name + "' twice");
    }
  }
  const auto* u = s.values[row.control_u]->get_if<ValueList>();
  if (u != nullptr && std::ssize(*u) != axes) {
    report({row.control_u, row.control_dim},
           report.shown(row.control_u) + " has " + std::to_string(u->size()) + " numbers for " +
               std::to_string(axes) + " axes (`model.control.dim`)");
  }
  const auto& window = *s.values[row.control_window]->get_if<ValueList>();
  if (window.size() != 2 || window[0].number() > window[1].number()) {
    report({row.control_window},
           report.shown(row.control_window) + ": give [a, b] with 0 ≤ a ≤ b ≤ 1");
  }
}

void check_layers(const Slots& s, const RuleReport& report) {
  const LeafRows& row = leaf_rows();
  const std::int64_t layers = s.integer(row.n_layers);
  const ValueList& range = *s.values[row.replaced_layers]->get_if<ValueList>();
  const bool flow = s.family().flow;
  if (flow && at(range, 0) == 0 && at(range, 1) >= layers) {
    report({row.control_sites, row.replaced_layers},
           report.shown(row.control_sites) +
               " has no layer to enter: the flow replaces all of "
               "them; use `model.control.sites: flow`");
    return;
  }
  const auto* list = s.values[row.control_layers]->get_if<ValueList>();
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const std::int64_t layer = at(*list, i);
    const bool replaced = flow && layer >= at(range, 0) && layer < at(range, 1);
    if (layer < layers && !replaced) continue;
    report({row.control_layers, row.n_layers, row.replaced_layers},
           report.shown(row.control_layers) + " names layer " + std::to_string(layer) +
               (replaced ? ", which the flow replaces (" + report.shown(row.replaced_layers) + ")"
                         : "; layers of " + report.shown(row.n_layers) + " count from 0 to " +
                               std::to_string(layers - 1)));
  }
}

/// Whether the profile leaves anything of a signal at a depth-time.
bool passes(const Slots& s, double t) {
  constexpr double kSlack = 1e-6;
  const LeafRows& row = leaf_rows();
  if (s.is(row.control_schedule, "ramp_up")) return t > 0;
  if (s.is(row.control_schedule, "ramp_down")) return t < 1;
  if (!s.is(row.control_schedule, "window")) return true;
  const auto& window = *s.values[row.control_window]->get_if<ValueList>();
  return t >= window.front().number() - kSlack && t <= window.back().number() + kSlack;
}

/// Whether the profile leaves anything of a signal where the flow evaluates its field: at the
/// beginning of each step, and of other methods than Euler's also at its middle and its end.
bool passes_in_flow(const Slots& s) {
  const LeafRows& row = leaf_rows();
  const ValueList& range = *s.values[row.replaced_layers]->get_if<ValueList>();
  const auto layers = static_cast<double>(s.integer(row.n_layers));
  const double first = static_cast<double>(at(range, 0)) / layers;
  const double span = static_cast<double>(at(range, 1)) / layers - first;
  const std::int64_t halves = 2 * s.integer(row.flow_steps);
  const bool euler = s.is(row.flow_method, "euler");
  for (std::int64_t i = 0; i <= halves; i += euler ? 2 : 1) {
    if (euler && i == halves) break;
    if (passes(s, first + span * static_cast<double>(i) / static_cast<double>(halves))) return true;
  }
  return false;
}

/// Whether it leaves anything before one of the layers that a signal enters.
bool passes_before_layers(const Slots& s) {
  const LeafRows& row = leaf_rows();
  const std::int64_t layers = s.integer(row.n_layers);
  const ValueList& range = *s.values[row.replaced_layers]->get_if<ValueList>();
  const auto* list = s.values[row.control_layers]->get_if<ValueList>();
  const auto entered = [&](std::int64_t layer) {
    return passes(s, static_cast<double>(layer) / static_cast<double>(layers));
  };
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    if (entered(at(*list, i))) return true;
  }
  for (std::int64_t layer = 0; list == nullptr && layer < layers; ++layer) {
    const bool replaced = s.family().flow && layer >= at(range, 0) && layer < at(range, 1);
    if (!replaced && entered(layer)) return true;
  }
  return false;
}

/// A signal must enter somewhere.
void check_schedule(const Slots& s, const RuleReport& report) {
  const LeafRows& row = leaf_rows();
  const bool both = s.is(row.control_sites, "both");
  const bool flow = both || s.is(row.control_sites, "flow");
  const bool layers = both || s.is(row.control_sites, "layers");
  if (!flow && !layers) return;
  if ((flow && passes_in_flow(s)) || (layers && passes_before_layers(s))) return;
  if (layers && !both) {
    report({row.control_schedule, row.control_window, row.control_layers},
           report.shown(row.control_schedule) + " is 0 at the input of every layer of " +
               report.shown(row.control_layers) +
               " (layer l of L is at depth-time l/L): no signal would enter");
    return;
  }
  report({row.control_schedule, row.control_window, row.replaced_layers},
         report.shown(row.control_schedule) + " is 0 at every evaluation of the flow" +
             (both ? ", and at the input of every layer" : "") +
             ": depth-time is that of the whole model, of which the flow takes " +
             report.shown(row.replaced_layers) + " / " + report.shown(row.n_layers) +
             "; no signal would enter");
}

/// The user's labels, scores or classifier.
void check_source(const Slots& s, const RuleReport& report) {
  const LeafRows& row = leaf_rows();
  struct Own {
    std::string_view source;
    std::size_t leaf;
  };
  for (const auto& [source, leaf] : {Own{"file", row.label_file}, Own{"scores", row.label_scores},
                                     Own{"command", row.label_command}}) {
    if (!s.is(row.label_source, source)) continue;
    const auto* list = s.values[leaf]->get_if<ValueList>();
    if (s.null(leaf) || (list != nullptr && list->empty())) {
      report({row.label_source},
             report.shown(row.label_source) + " needs `" + std::string(schema()[leaf].path) + "`");
    }
  }
  if (s.is(row.label_span, "document") && !s.is(row.label_source, "file")) {
    report({row.label_span, row.label_source}, report.shown(row.label_span) +
                                                   " takes the spans of one's own labels "
                                                   "(`train.control.labels.source: file`)");
  }
  if (s.is(row.label_map, "probability") && s.is(row.label_source, "rules")) {
    report({row.label_map, row.label_source},
           report.shown(row.label_map) +
               " needs scores in [0, 1] (`train.control.labels.source: scores` or `command`): "
               "those of rules are none");
  }
}

void check_names(const Slots& s, const RuleReport& report) {
  const LeafRows& row = leaf_rows();
  const bool rules = s.is(row.label_source, "rules");
  const auto* list = s.values[row.control_names]->get_if<ValueList>();
  if (list != nullptr && list->empty()) {
    report({row.control_dim, row.task},
           "`train.task: control` labels sentences by `model.control.names`" +
               (rules ? ", some of " + rule_attributes() : std::string()) +
               ": name the axes instead of counting them");
  }
  for (std::size_t i = 0; rules && list != nullptr && i < list->size(); ++i) {
    const auto& name = *list->at(i).get_if<std::string>();
    if (std::ranges::find(kRuleAttributeNames, name) != kRuleAttributeNames.end()) continue;
    report({row.control_names}, "`model.control.names`: no rule labels '" + name +
                                    "'; sentences are labelled by " + rule_attributes() +
                                    ", or as `train.control.labels.source` says otherwise");
  }
}

/// Terms of the loss beside the likelihood.
void check_terms(const Slots& s, const RuleReport& report) {
  const LeafRows& row = leaf_rows();
  const bool guided = s.number(row.contrastive) > 0 || s.number(row.attribute) > 0;
  if (guided && s.is(row.label_shuffle, "constant")) {
    report(
        {row.contrastive, row.attribute, row.label_shuffle},
        report.shown(row.label_shuffle) +
            " leaves no labels that `train.control.contrastive` or `attribute` could distinguish");
  }
  if (s.number(row.anchor) == 0) return;
  if (s.null(row.init_from)) {
    report({row.anchor, row.init_from},
           report.shown(row.anchor) +
               " keeps the model near the one that it started from: it needs `model.init.from`");
  }
}

void check_prompts(const Slots& s, const RuleReport& report) {
  const LeafRows& row = leaf_rows();
  if (!s.is(row.task, "steering")) return;
  const auto* list = s.values[row.control_names]->get_if<ValueList>();
  const bool named = list != nullptr && !list->empty();
  if (s.integer(row.control_dim) == 0 || (!named && !s.is(row.prompts, "published"))) {
    report({row.task, row.control_names, row.control_dim},
           "`train.task: steering` needs axes of the signal: `model.control.names`, those of its "
           "prompts (of `train.steering.prompts: builtin`: sentiment, scale)");
  }
  for (std::size_t k = 0; named && s.is(row.prompts, "builtin") && k < list->size(); ++k) {
    const auto* name = (*list)[k].get_if<std::string>();
    if (name == nullptr || *name == "sentiment" || *name == "scale") continue;
    report({row.control_names, row.prompts},
           "no prompt of " + report.shown(row.prompts) + " has the axis `" + *name +
               "`; there are sentiment, scale; `train.steering.prompts: file` takes others");
  }
  if (s.is(row.prompts, "file") && s.null(row.prompt_file)) {
    report({row.prompts}, report.shown(row.prompts) + " needs `train.steering.file`");
  }
  if (s.integer(row.batch_size) % 2 != 0) {
    report({row.batch_size, row.task},
           report.shown(row.batch_size) +
               ": `train.task: steering` takes each prompt under +1 and "
               "−1, so a step has an even number of rows");
  }
  const auto* corpus = s.values[row.corpus]->get_if<std::string>();
  if (corpus != nullptr && corpus->starts_with("synthetic:")) {
    report({row.corpus, row.task}, report.shown(row.corpus) +
                                       " has no words: `train.task: steering` needs a text, whose "
                                       "tokens its prompts are made of");
  }
}

void check_labels(const Slots& s, const RuleReport& report) {
  const LeafRows& row = leaf_rows();
  if (!s.is(row.task, "control")) return;
  if (s.integer(row.control_dim) == 0) {
    report({row.task, row.control_names},
           "`train.task: control` needs an attribute for each axis of the signal: "
           "`model.control.names`, some of " +
               rule_attributes());
    return;
  }
  check_names(s, report);
  check_source(s, report);
  check_terms(s, report);
  const double rate = s.number(row.lr) * s.number(row.control_lr_scale);
  if (rate > kHighestControlRate && s.written[leaf_index("train.groups.control.lr")]->is_null()) {
    report.note(row.control_lr_scale,
                "the maps of the signal train at " + shortest(kHighestControlRate) + ", not at " +
                    shortest(rate) +
                    " (train.lr × train.control.control_lr_scale): `train.groups.control.lr` sets "
                    "another rate");
  }
  if (!s.is(row.trainable, "all") && s.null(row.init_from)) {
    report.note(row.trainable, report.shown(row.trainable) +
                                   " without `model.init.from` trains a part of a model whose rest "
                                   "stays as it was drawn");
  }
  const auto* corpus = s.values[row.corpus]->get_if<std::string>();
  if (corpus != nullptr && corpus->starts_with("synthetic:")) {
    report({row.corpus, row.task},
           report.shown(row.corpus) + " has no sentences: `train.task: control` needs a text");
  }
  if (s.is(row.control_sites, "token") && s.is(row.label_span, "sentence")) {
    report({row.control_sites, row.label_span},
           "a prefix (`model.control.sites: token`) has one u for a whole window: it needs "
           "`train.control.labels.span: window` or `document`");
  }
}

}  // namespace

void check_control(const Slots& s, const RuleReport& report) {
  const LeafRows& row = leaf_rows();
  check_axes(s, report);
  check_labels(s, report);
  check_prompts(s, report);
  if (s.is(row.trainable, "flow") && !s.family().flow) {
    report({row.trainable, row.family},
           report.shown(row.trainable) + " needs a flow (`model.family: hybrid_ode`)");
  }
  if (s.integer(row.control_dim) == 0) return;
  const bool both = s.is(row.control_sites, "both");
  const bool field = s.family().flow && !s.is(row.field_kind, "block");
  if ((both || s.is(row.control_sites, "flow")) && !field) {
    report({row.control_sites, row.family, row.field_kind},
           report.shown(row.control_sites) +
               " needs a flow (`model.family: hybrid_ode` with a `model.field.kind` other than "
               "block): without one, u enters `layers`");
  }
  if (both || s.is(row.control_sites, "layers")) check_layers(s, report);
  check_schedule(s, report);
  if (s.is(row.control_sites, "token") && s.family().skips) {
    report({row.control_sites, row.family},
           "`model.control.sites: token` puts vectors before the text, among which layers that "
           "skip tokens would choose: use `layers` with " +
               report.shown(row.family));
  }
}

}  // namespace depthgrid
