#pragma once

#include <string>

#include "core/config/sweep.hpp"
#include "core/config/sweep/sweep_document.hpp"

namespace depthgrid {

/// A document as one sweep file that expands to the same cells, names and order from any folder:
/// bases composed, overrides applied, paths absolute. Comments of the files are lost.
std::string composed_yaml(const SweepDocument& document);

/// Comment lines with the version of the program and the command line that `request` stands for.
/// Of the command line only file and --set are known: no environment, no other option.
std::string composed_heading(const SweepRequest& request);

}  // namespace depthgrid
