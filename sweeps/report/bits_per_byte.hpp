#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sweeps/report/listing.hpp"

namespace depthgrid {

/// True for "eval_bits_per_byte.valid" and the like.
bool is_per_byte(std::string_view metric);

/// Takes bits per byte away from cells whose tokens do not keep every byte of the text: what tokens
/// drop costs a model nothing, so fewer words would look better. New results have none there; a
/// result of a release that gave them is judged by its tokeniser (`word`, `char` and `char256` may
/// drop bytes; the last keeps a text that has one byte for each token). Notes the names and cells
/// in Listing::withheld.
void withhold_bits_per_byte(Listing& listing);

/// Names of figures that some cell lacks because its tokens lose bytes.
std::vector<std::string> withheld_names(const Listing& listing);

/// Says below an output that shows such a name which tokenisers lose bytes; else empty.
/// @param cells  rows that are shown.
std::string bits_per_byte_note(const Listing& listing, const std::vector<std::size_t>& cells,
                               const std::vector<std::string>& names);

}  // namespace depthgrid
