#include "sweeps/page/leaf_names.hpp"

#include <algorithm>

namespace depthgrid {

std::string short_leaf(const std::string& leaf, const std::vector<std::string>& leaves) {
  const std::string last = leaf.substr(leaf.rfind('.') + 1);
  const bool unique = std::ranges::none_of(leaves, [&](const std::string& one) {
    return one != leaf && one.substr(one.rfind('.') + 1) == last;
  });
  return unique ? last : leaf;
}

}  // namespace depthgrid
