#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sweeps/report/evaluation_basis.hpp"
#include "sweeps/report/listing.hpp"

namespace depthgrid {

/// What a user may say that it does not matter: words of `--allow`.
///   order  windows that two cells trained on, in their order, up to the last step of both
///   clip   gradients cut at another norm (train.clip)
///   code   another version of the program
///   audit  checks of the audit that failed or were off
inline constexpr std::string_view kAllowedWords[] = {"order", "clip", "code", "audit"};

/// @throws UserError (Usage) for a word that is none of them.
void check_allowed_words(std::span<const std::string> words);

/// Leaves in which the arms of one sweep file differ: the file has named them. Of several stores,
/// those that vary within one.
std::vector<std::string> leaves_of_arms(const Listing& listing);

/// In what two cells were trained that is not what is compared; nothing where it is not known, as
/// in results of older releases, and of cells that are one.
///
/// The order of windows is that of data.sampler, data.first_step, data.seq_len, train.batch_size
/// and the tokens of the training text; how long a cell trains does not change it.
/// @param allowed_leaves  those that the comparison is about, and words of `--allow`.
BasisMismatch training_mismatch(const Listing& listing, std::size_t mine, std::size_t theirs,
                                std::span<const std::string> allowed_leaves);

}  // namespace depthgrid
