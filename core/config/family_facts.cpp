#include "core/config/family_facts.hpp"

#include <algorithm>

namespace depthgrid {
namespace {

constexpr FamilyFacts kFamilies[] = {
    {.name = "standard", .plain = true},
    {.name = "time_indexed", .timed = true},
    {.name = "tong", .timed = true, .generated = true},
    {.name = "hybrid_ode", .flow = true},
    {.name = "tdt", .skips = true, .teaches = true},
    {.name = "mod", .skips = true, .predicts = true},
};
constexpr FamilyFacts kNone = {};

}  // namespace

std::span<const FamilyFacts> family_facts() {
  return kFamilies;
}

const FamilyFacts& facts_of(std::string_view family) {
  const auto* const row = std::ranges::find(kFamilies, family, &FamilyFacts::name);
  return row == std::end(kFamilies) ? kNone : *row;
}

}  // namespace depthgrid
