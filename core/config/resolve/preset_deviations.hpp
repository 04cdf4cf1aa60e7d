#pragma once

#include <span>
#include <string_view>

namespace depthgrid {

/// A difference between a preset with a published program's shapes and that program.
struct PresetDeviation {
  std::string_view preset;     // "published/tong"
  std::string_view what;       // "attention"
  std::string_view published;  // in the program
  std::string_view here;       // here, with the leaf that decides it
};

/// All rows, preset by preset; presets without a published program have none.
std::span<const PresetDeviation> preset_deviations();

}  // namespace depthgrid
