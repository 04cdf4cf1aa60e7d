#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace depthgrid {

/// The folder of a named corpus (or of `gpt2-bpe`): `given`, else $DEPTHGRID_DATA/NAME, else
/// ./data/NAME; the first that has all `files`.
/// @param leaf   leaf that `given` comes from, for the message ("data.path").
/// @param given  empty = not given; otherwise the only place searched.
/// @throws UserError (NoInput) listing each place, what is missing there, and
///         `scripts/fetch_data.sh NAME`.
std::filesystem::path find_corpus(const std::string& name, const std::vector<std::string>& files,
                                  const std::string& leaf, const std::filesystem::path& given);

/// Reads a whole file. @throws UserError (NoInput) naming file and reason.
std::string read_corpus_file(const std::filesystem::path& file);

}  // namespace depthgrid
