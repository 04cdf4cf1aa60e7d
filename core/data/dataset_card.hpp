#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "core/data/dataset.hpp"

namespace depthgrid {

/// What a store keeps of a dataset, so that its cells can be evaluated, and generate, where the
/// files of the corpus are not: names of token files, digests and the tokeniser's vocabulary.
/// @return  JSON. Splits without a file in the token cache are left out (synthetic sources need
///          none; of .bin files the training ids stay where they are).
std::string dataset_card(const Dataset& data);

/// The dataset that a card describes.
/// @param options  as of the cell; its tokenizer_path must lead to the files of `gpt2`.
/// @param folder   of the token files.
/// @return  nothing if the card or a token file is damaged or absent, or the tokeniser differs.
std::optional<Dataset> dataset_of_card(const std::string& card, const DataOptions& options,
                                       const std::filesystem::path& folder);

/// The first split of a card whose tokens are not those of `data`; empty if there is none.
std::string changed_split(const std::string& card, const Dataset& data);

}  // namespace depthgrid
