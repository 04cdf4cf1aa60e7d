#include "core/config/sweep/leaf_sources.hpp"

#include "core/config/schema.hpp"
#include "core/config/sweep/overrides.hpp"

namespace depthgrid {
namespace {

LeafSourceKind kind_of(Origin origin, const Place& place, const SweepDocument& document,
                       const Diagnostics& diagnostics) {
  if (place.file >= 0 && diagnostics.name(place.file) == kOverrideName) return LeafSourceKind::Set;
  if (origin == Origin::Preset) return LeafSourceKind::Preset;
  if (origin == Origin::Level) return LeafSourceKind::Factor;
  if (origin == Origin::Row) return LeafSourceKind::Row;
  return place.file == document.place.file ? LeafSourceKind::File : LeafSourceKind::Base;
}

}  // namespace

std::vector<LeafSource> leaf_sources(const Slots& slots, const SweepDocument& document,
                                     const Diagnostics& diagnostics) {
  std::vector<LeafSource> out;
  for (std::size_t leaf = 0; leaf < schema().size(); ++leaf) {
    const Origin origin = slots.origins[leaf];
    if (origin == Origin::Default) continue;
    LeafSource& source = out.emplace_back();
    source.leaf = schema()[leaf].path;
    const Place& place = slots.places[leaf];
    source.kind = kind_of(origin, place, document, diagnostics);
    if (place.file < 0) continue;
    source.file = diagnostics.name(place.file);
    source.line = place.line;
    if (source.kind == LeafSourceKind::Set) source.text = diagnostics.text(place.file);
  }
  return out;
}

}  // namespace depthgrid
