#pragma once

#include <span>
#include <string_view>

namespace depthgrid {

/// Where a preset with the shapes of a published program differs from that program.
struct PresetDeviation {
  std::string_view preset;     // "published/tong"
  std::string_view what;       // "attention"
  std::string_view published;  // how the program has it
  std::string_view here;       // how it is here, and which leaf says so
};

/// All rows, preset by preset; presets without a published program have none.
std::span<const PresetDeviation> preset_deviations();

}  // namespace depthgrid
