#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "storage/files/process_identity.hpp"

namespace depthgrid {

/// Second word of a heartbeat file; of equal length, so that one line overwrites the other.
inline constexpr std::string_view kBeatingWord = "beats";
inline constexpr std::string_view kEndedWord = "ended";

/// Highest g of the files `gen-<g>` in the folder; 0 without any.
std::int64_t highest_claim(const std::filesystem::path& cell_dir);

/// Owner of `gen-<generation>`; nothing if it cannot be read.
std::optional<ProcessIdentity> read_claim(const std::filesystem::path& cell_dir,
                                          std::int64_t generation);

/// Content of `hb-<generation>`; "" if unreadable. Observers compare it and look for the end mark.
std::string read_heartbeat(const std::filesystem::path& cell_dir, std::int64_t generation);
bool heartbeat_ended(const std::string& heartbeat);

}  // namespace depthgrid
