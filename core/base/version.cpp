#include "core/base/version.hpp"

namespace depthgrid {

std::string version() {
  return DEPTHGRID_VERSION;
}

std::string code_version() {
  return std::string(DEPTHGRID_VERSION) + "+" + DEPTHGRID_COMMIT;
}

}  // namespace depthgrid
