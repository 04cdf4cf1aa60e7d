#pragma once

#include <functional>
#include <initializer_list>
#include <string>

#include "models/options/model_options.hpp"

namespace depthgrid::testing {

/// One way in which a model's structure can differ from small_options().
struct ModelCase {
  std::string name;
  std::string family;
  std::function<void(ModelOptions&)> change;
};

inline const auto kFamilies = {"standard", "time_indexed", "tong", "hybrid_ode", "tdt", "mod"};

}  // namespace depthgrid::testing
