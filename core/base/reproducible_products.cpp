#include "core/base/reproducible_products.hpp"

#include <cstdlib>

namespace depthgrid {

void reproducible_products() {
  // "The code path of this processor, and always the same one": oneMKL developer guide, chapter
  // "Obtaining numerically reproducible results".
  setenv("MKL_CBWR", "AUTO", /*overwrite=*/0);
}

}  // namespace depthgrid
