#include "core/config/resolve/flow_checks.hpp"

#include <cstdint>
#include <string>

#include "core/config/schema.hpp"

namespace depthgrid {
namespace {

void check_place(const Slots& s, const RuleReport& report) {
  const LeafRows& row = leaf_rows();
  if (!s.family().flow) return;
  const ValueList& range = *s.values[row.replaced_layers]->get_if<ValueList>();
  const std::int64_t layers = s.integer(row.n_layers);
  const std::int64_t last = *range.back().get_if<std::int64_t>();
  if (last > layers) {
    report({row.replaced_layers, row.n_layers},
           report.shown(row.replaced_layers) + " ends after " + report.shown(row.n_layers) +
               ": the second number is at most " + std::to_string(layers));
  } else if (last - *range.front().get_if<std::int64_t>() == layers &&
             s.values[row.scale]->get_if<std::string>() != nullptr) {
    report({row.scale, row.replaced_layers},
           report.shown(row.scale) + " has no layer to scale: the flow replaces all of them");
  }
}

/// Of a family whose whole depth is solved as one flow.
void check_solver(const Slots& s, const RuleReport& report) {
  const LeafRows& row = leaf_rows();
  if (!s.family().timed) return;
  const bool euler = s.is(row.flow_method, "euler"), adjoint = s.is(row.gradient, "adjoint");
  const bool other = s.integer(row.flow_steps) != s.integer(row.n_layers);
  const bool ahead = s.number(row.acceleration) > 0;  // reads the field where a step ends
  if (euler && !other && !adjoint && !ahead) return;
  const std::size_t why = adjoint  ? row.gradient
                          : !euler ? row.flow_method
                          : ahead  ? row.acceleration
                                   : row.flow_steps;
  const std::string solved = report.shown(why) + " solves the depth of " + report.shown(row.family);
  const auto needs = [&](std::size_t leaf, bool holds, const std::string& needed) {
    if (!holds) report({leaf, why}, solved + ": " + needed);
  };
  const bool between = !euler || adjoint || ahead;  // evaluates the field off the nodes
  needs(
      row.sublayers, !between || s.is(row.sublayers, "parallel"),
      "it needs `model.sublayers: parallel`, since a sequential block depends on the step length");
  needs(row.time_nodes, !between || s.is(row.time_nodes, "left"),
        "it needs `model.time.nodes: left`, where its steps begin");
  needs(row.scale, !s.is(row.scale, "learned_per_layer"),
        report.shown(row.scale) + " has a step length for each layer and no field between them");
  needs(row.share, s.is(row.share, "all"),
        report.shown(row.share) + " has generators for each layer and no field between them");
  needs(row.control_dim, s.integer(row.control_dim) == 0 || s.is(row.control_sites, "token"),
        "a control signal enters layers (" + report.shown(row.control_sites) +
            "), which it then does not have");
}

void check_gradient(const Slots& s, const RuleReport& report) {
  const LeafRows& row = leaf_rows();
  const bool undoes = s.is(row.gradient, "reversible"), adjoint = s.is(row.gradient, "adjoint");
  if (!undoes && !adjoint) return;
  const std::string mode = report.shown(row.gradient);
  const bool flow = s.family().flow ? !s.is(row.field_kind, "block") : s.family().timed;
  if (!flow) {
    report({row.gradient, row.family, row.field_kind},
           mode +
               " needs a flow (`model.family: time_indexed` or `tong`, or `hybrid_ode` with a "
               "`model.field.kind` other than block): layers have `model.gradient.mode: "
               "checkpoint`");
    return;
  }
  if (undoes && !s.is(row.flow_method, "reversible_heun")) {
    report({row.gradient, row.flow_method},
           mode + " undoes each step, which " + report.shown(row.flow_method) +
               " does not allow: use `model.solver.method: reversible_heun`, or checkpoint");
  } else if (undoes) {
    report.note(row.gradient,
                mode +
                    ": these cells train the map of reversible_heun, by which they are evaluated, "
                    "decoded and probed, too; a plain arm of that method shows what undoing its "
                    "steps costs");
  }
  if (!adjoint) return;
  const bool measured = !s.is(row.gradients_schedule, "off");
  report.note(row.gradient,
              mode + ": gradients are approximate; " +
                  (measured ? "`gradient_adjoint_error` in the results is their error"
                            : "`probes.gradients.schedule` is off, so that nothing says how wrong "
                              "they are: leave it on, for `gradient_adjoint_error`"));
  if (s.is(row.flow_method, "ab2") || s.is(row.flow_method, "reversible_heun")) {
    report({row.gradient, row.flow_method},
           mode + " solves the equation backwards by a one-step method, which " +
               report.shown(row.flow_method) +
               " is not: use euler, midpoint, heun, rk4, rk4_38 or dopri5, or "
               "`model.gradient.mode: checkpoint`");
  }
  if (!s.is(row.task, "lm")) {
    report({row.gradient, row.task},
           mode +
               " is an approximation, and what a control signal learns hangs on its gradient: "
               "with " +
               report.shown(row.task) + " use plain or checkpoint");
  }
}

void check_regularisers(const Slots& s, const RuleReport& report) {
  const LeafRows& row = leaf_rows();
  const bool undoes = s.is(row.gradient, "reversible"), adjoint = s.is(row.gradient, "adjoint");
  for (std::size_t i = 0; i < row.regularisers.size(); ++i) {
    const std::size_t leaf = row.regularisers[i];
    if (s.number(leaf) == 0) continue;
    if (adjoint) {
      report({leaf, row.gradient},
             report.shown(leaf) + " is a loss along the depth, which " +
                 report.shown(row.gradient) +
                 " does not differentiate: it solves the equation of the state alone; use plain "
                 "or checkpoint");
    } else if (undoes && i > 1) {
      report({leaf, row.gradient},
             report.shown(leaf) + " with " + report.shown(row.gradient) +
                 ": only `energy` and `kinetic` are computed on steps that are undone; use plain "
                 "or checkpoint");
    }
    if (s.is(row.control_sites, "token") && s.integer(row.control_dim) > 0) {
      report({leaf, row.control_sites},
             report.shown(leaf) + " is of the depth over a text, before which " +
                 report.shown(row.control_sites) + " puts vectors: use flow, layers or both");
    }
  }
  const auto* band = s.values[row.control_band]->get_if<ValueList>();
  if (band == nullptr) return;
  if (band->size() != 2 || band->front().number() > band->back().number()) {
    report({row.control_band},
           "`regularisers.control_band: " + canonical_json(*s.values[row.control_band]) +
               "` is not [low, high] with low ≤ high: write the smaller number first");
  }
}

}  // namespace

void check_flow(const Slots& s, const RuleReport& report) {
  check_place(s, report);
  check_solver(s, report);
  check_gradient(s, report);
  check_regularisers(s, report);
}

}  // namespace depthgrid
