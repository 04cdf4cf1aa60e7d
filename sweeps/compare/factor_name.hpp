#pragma once

#include <string>
#include <string_view>

#include "sweeps/report/listing.hpp"

namespace depthgrid {

/// The full name of a factor: one of factor_names(), or its last parts.
/// @param option  of which the word is, for messages: "--by".
/// @throws UserError (Usage): of a leaf that does not vary, with its value and leaves that do; of
/// another word, with what may be meant.
std::string factor_named(const Listing& listing, std::string_view option, const std::string& word);

}  // namespace depthgrid
