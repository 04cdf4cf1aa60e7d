#include "storage/columns/variables.hpp"

namespace depthgrid {

std::vector<std::span<const Dimension>> axis_tables() {
  return {store_axes()};
}

std::vector<std::span<const Variable>> variable_tables() {
  return {identity_variables(),   train_variables(),    eval_variables(),   routing_variables(),
          trajectory_variables(), lyapunov_variables(), probe_variables(),  field_variables(),
          control_variables(),    cost_variables(),     attempt_variables()};
}

}  // namespace depthgrid
