#include "core/probe/lyapunov/lyapunov_options.hpp"

#include <algorithm>
#include <string>

#include "core/base/error.hpp"
#include "core/config/axis_labels.hpp"

namespace depthgrid {

LyapunovVariant lyapunov_variant(std::string_view word) {
  const auto at = std::ranges::find(kLyapunovVariantNames, word);
  if (at == kLyapunovVariantNames.end()) {
    std::string known;
    for (const std::string_view name : kLyapunovVariantNames) known += " " + std::string(name);
    throw Error("no variant of the exponents is called '" + std::string(word) +
                "'; known:" + known);
  }
  return static_cast<LyapunovVariant>(at - kLyapunovVariantNames.begin());
}

}  // namespace depthgrid
