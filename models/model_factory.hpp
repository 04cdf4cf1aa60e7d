#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "core/train/optimizer/parameter_layout.hpp"
#include "models/family.hpp"
#include "models/options/model_options.hpp"

namespace depthgrid {

/// One row of the table of families.
struct FamilyEntry {
  std::string_view name;  // `model.family`
  std::unique_ptr<Family> (*build)(ParameterSource&, const ModelOptions&);
  std::int64_t (*parameters)(const ModelOptions&);  // closed form, see closed_form.hpp; or null
};

/// All families. A test requires cases of every row for the tests of fusion, causality and
/// gradients.
std::span<const FamilyEntry> families();

/// @throws Error naming the known families.
std::unique_ptr<Family> build_family(ParameterSource& source, const ModelOptions& o);

}  // namespace depthgrid
