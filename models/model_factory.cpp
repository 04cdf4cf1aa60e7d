#include "models/model_factory.hpp"

#include <array>
#include <string>

#include "core/base/error.hpp"
#include "models/closed_form.hpp"
#include "models/families/hybrid_ode.hpp"
#include "models/families/mod.hpp"
#include "models/families/standard.hpp"
#include "models/families/tdt.hpp"
#include "models/families/time_indexed.hpp"
#include "models/families/tong.hpp"

namespace depthgrid {

std::span<const FamilyEntry> families() {
  static constexpr std::array<FamilyEntry, 6> kFamilies = {{
      {"hybrid_ode", make_hybrid_ode, hybrid_ode_parameters},
      {"mod", make_mod, mod_parameters},
      {"standard", make_standard, standard_parameters},
      {"tdt", make_tdt, tdt_parameters},
      {"time_indexed", make_time_indexed, time_indexed_parameters},
      {"tong", make_tong, tong_parameters},
  }};
  return kFamilies;
}

std::unique_ptr<Family> build_family(ParameterSource& source, const ModelOptions& o) {
  std::string known;
  for (const FamilyEntry& family : families()) {
    if (family.name == o.family) return family.build(source, o);
    known += (known.empty() ? "" : ", ") + std::string(family.name);
  }
  throw Error("unknown family '" + o.family + "'; known: " + known);
}

}  // namespace depthgrid
