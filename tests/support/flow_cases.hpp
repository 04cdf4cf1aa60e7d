#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/model_case.hpp"
#include "tests/support/small_options.hpp"

namespace depthgrid::testing {

/// Fields, methods and places of a flow.
inline void add_flow_cases(std::vector<ModelCase>& cases) {
  const auto add = [&](const std::string& name, std::function<void(ModelOptions&)> change) {
    cases.push_back({"hybrid_ode_" + name, "hybrid_ode", std::move(change)});
  };
  const auto range = [](std::int64_t first, std::int64_t last) {
    return [=](ModelOptions& o) {
      o.flow.first = first;
      o.flow.last = last;
    };
  };
  const auto method = [](const char* m) {
    return [m](ModelOptions& o) { o.solver.method = &stepper(m); };
  };
  add("early", range(0, 1));
  add("late_two", range(1, 3));
  add("everything", range(0, 3));
  add("one_step", [](ModelOptions& o) {
    o.solver.steps = 1;
    o.flow.time_embedding = false;  // at τ = 0 alone nothing reaches its weights
  });
  add("midpoint", method("midpoint"));
  add("heun", method("heun"));
  add("rk4", method("rk4"));
  add("dopri5", method("dopri5"));
  add("ab2", method("ab2"));
  add("reversible_heun", method("reversible_heun"));
  add("rk4_38_dropout", [](ModelOptions& o) {
    o.solver.method = &stepper("rk4_38");
    o.dropout_attention.assign(o.dropout_attention.size(), 0.1);
    o.dropout_mlp.assign(o.dropout_mlp.size(), 0.2);
  });
  add("mask_per_solve", [](ModelOptions& o) {
    o.flow.mask_per_solve = true;
    o.dropout_mlp.assign(o.dropout_mlp.size(), 0.2);
  });
  add("sequential_field", [](ModelOptions& o) { o.flow.sublayers = Sublayers::Sequential; });
  add("fixed_alpha", [](ModelOptions& o) { o.flow.alpha_learned = false; });
  add("autonomous", [](ModelOptions& o) { o.flow.time_embedding = false; });
  add("wide_tanh", [](ModelOptions& o) {
    o.flow.hidden = 45;
    o.flow.activation = Activation::Tanh;
  });
  add("control", [](ModelOptions& o) { with_control(o, 3); });
  add("time_indexed", [](ModelOptions& o) {
    o.flow.field = FieldKind::TimeIndexed;
    o.flow.time_embedding = false;
  });
  add("time_indexed_rk4", [](ModelOptions& o) {
    o.flow.field = FieldKind::TimeIndexed;
    o.solver.method = &stepper("rk4");
    with_control(o, 2);
    o.flow.hidden = 45;
    o.modulation.granularity.fill(Granularity::Element);
  });
  add("time_indexed_lanes", [](ModelOptions& o) {
    o.flow.field = FieldKind::TimeIndexed;
    o.width = 32;
    o.hidden = o.flow.hidden = 48;
  });
  add("mlp", with_mlp_field);
  add("mlp_timed_rk4", [](ModelOptions& o) {
    with_mlp_field(o);
    o.flow.time_embedding = true;
    o.control = {};
    o.solver.method = &stepper("rk4");
  });
  add("mlp_lanes", [](ModelOptions& o) {
    with_mlp_field(o);
    o.width = 32;
    o.hidden = o.flow.hidden = 48;
  });
  add("block", [](ModelOptions& o) { o.flow.field = FieldKind::Block; });
  add("published", [](ModelOptions& o) {
    o.solver.steps = 4;
    with_control(o, 4);
    o.control.bias = true;
    o.flow.alpha.assign(o.flow.alpha.size(), 0.1);
    o.init.scheme = InitScheme::Pytorch;
    o.init.residual_scaling.assign(o.init.residual_scaling.size(), false);
  });
}

/// Families whose whole depth is solved as one flow.
inline void add_solved_cases(std::vector<ModelCase>& cases) {
  for (const std::string family : {"time_indexed", "tong"}) {
    const auto add = [&](const std::string& name, const char* method,
                         std::function<void(ModelOptions&)> more) {
      cases.push_back({family + "_solved_" + name, family, [=](ModelOptions& o) {
                         o.solver.method = &stepper(method);
                         o.time.nodes.assign(o.time.nodes.size(), Nodes::Left);
                         more(o);
                       }});
    };
    add("euler_five", "euler", [](ModelOptions& o) { o.solver.steps = 5; });
    add("rk4", "rk4", [](ModelOptions& o) { o.residual.kind = ScaleKind::Learned; });
    add("ab2_dropout", "ab2", [](ModelOptions& o) {
      o.dropout_attention.assign(o.dropout_attention.size(), 0.1);
      o.dropout_mlp.assign(o.dropout_mlp.size(), 0.2);
    });
    add("reversible", "reversible_heun",
        [](ModelOptions& o) { o.gradient.mode = GradientMode::Reversible; });
    add("adjoint", "euler", [](ModelOptions& o) { o.gradient.mode = GradientMode::Adjoint; });
  }
  cases.push_back({"time_indexed_solved_ssm", "time_indexed", [](ModelOptions& o) {
                     with_state_space(o);
                     o.solver.method = &stepper("midpoint");
                     o.time.nodes.assign(o.time.nodes.size(), Nodes::Left);
                   }});
}

/// Ways to compute the gradient through the depth, where they differ from plain.
inline void add_gradient_cases(std::vector<ModelCase>& cases) {
  using enum GradientMode;
  for (const std::string family : kFamilies) {
    cases.push_back(
        {family + "_checkpoint", family, [](ModelOptions& o) { o.gradient = {Checkpoint, 2}; }});
  }
  const auto add = [&](const std::string& name, GradientPlan plan, const char* method) {
    cases.push_back({"hybrid_ode_" + name, "hybrid_ode", [=](ModelOptions& o) {
                       o.gradient = plan;
                       o.solver.method = &stepper(method);
                       o.dropout_mlp.assign(o.dropout_mlp.size(), 0.2);
                     }});
  };
  add("checkpoint_rk4", {Checkpoint, 1}, "rk4");
  add("checkpoint_ab2", {Checkpoint, 2}, "ab2");
  add("reversible", {Reversible}, "reversible_heun");
  add("adjoint", {Adjoint}, "euler");
}

/// Regularisers of a flow, alone where they take another path through the program.
inline void add_regulariser_cases(std::vector<ModelCase>& cases) {
  using enum Regulariser;
  const auto add = [&](
                       const std::string& family, const std::string& name,
                       const std::vector<Regulariser>& kinds,
                       std::function<void(ModelOptions&)> more = [](ModelOptions&) {}) {
    cases.push_back({family + "_" + name, family, [=](ModelOptions& o) {
                       with_regularisers(o, kinds);
                       more(o);
                     }});
  };
  add("hybrid_ode", "energy_kinetic", {Energy, Kinetic}, [](ModelOptions& o) {
    o.solver.method = &stepper("rk4");
    o.dropout_mlp.assign(o.dropout_mlp.size(), 0.2);
  });
  add("hybrid_ode", "energy_reversible", {Energy, Kinetic}, [](ModelOptions& o) {
    o.solver.method = &stepper("reversible_heun");
    o.gradient.mode = GradientMode::Reversible;
  });
  add("hybrid_ode", "frobenius", {Acceleration, JacobianFrobenius},
      [](ModelOptions& o) { o.dropout_attention.assign(o.dropout_attention.size(), 0.2); });
  add("hybrid_ode", "norms", {SpectralNorm, LogNorm}, [](ModelOptions& o) {
    o.solver.method = &stepper("ab2");
    o.gradient = {GradientMode::Checkpoint, 2};
  });
  add("hybrid_ode", "smoothness", {ControlSmoothness}, [](ModelOptions& o) { with_control(o, 3); });
  add("time_indexed", "regularised", {Acceleration, SpectralNorm},
      [](ModelOptions& o) { o.time.nodes.assign(o.time.nodes.size(), Nodes::Left); });
  add("tong", "regularised", {Kinetic, LogNorm});
}

}  // namespace depthgrid::testing
