#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/base/nan.hpp"
#include "storage/cells/cell_profile.hpp"

namespace depthgrid {

/// Section of the page in which a picture stands.
enum class ProbePart : std::uint8_t { Depth, Training, Routing, Control };

enum class PictureForm : std::uint8_t {
  Arms,    // one plot: a line for each arm, with the range of its seeds
  Panels,  // a small plot for each arm: a line for each entry of the request's `by`
  Maps     // a heat map for each arm: rows are the entries of `by`
};

/// A picture of what probes saw. A new probe brings its picture as a row of the table.
struct ProbePicture {
  ProbePart part;
  PictureForm form;
  ProfileRequest of;
  std::string_view title;
  std::string_view x_label;
  std::string_view by_label = {};  // what an entry of `by` is: "step", "state", "layer"
  double centre = kNaN;            // of Maps whose colours diverge from it; NaN: they do not
};

std::span<const ProbePicture> probe_pictures();

}  // namespace depthgrid
