#include "core/base/reproducible_products.hpp"

#include <cstdlib>

namespace depthgrid {

void reproducible_products() {
  // This processor's code path, and always the same one: oneMKL developer guide, chapter
  // "Obtaining numerically reproducible results".
  setenv("MKL_CBWR", "AUTO", /*overwrite=*/0);
}

}  // namespace depthgrid
