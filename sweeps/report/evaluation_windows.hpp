#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sweeps/report/listing.hpp"

namespace depthgrid {

/// Which windows of a split an evaluation examines.
enum class WindowsOf : std::uint8_t { Periodic, Modes, Final };

/// How many windows are asked for; 0 = all, also where the split has fewer than that: then there
/// are fewer tokens than so many windows hold, of which one may be shorter.
/// @param tokens  metric that counts what was seen, such as "final_tokens.valid".
double windows_seen(const Listing& listing, std::size_t row, WindowsOf which,
                    const std::string& tokens);

/// How evaluation divides a split in these cells: into "disjoint" windows, into overlapping
/// "sliding" ones (eval.stride less than data.seq_len: more context, lower losses), or "mixed" if
/// cells differ.
std::string eval_windows(const Listing& listing, const std::vector<std::size_t>& cells);

/// On how many windows the figures of these cells are that an output shows under these names: how
/// final_loss and eval_loss differ, for an output that shows both; else empty.
std::string losses_note(const Listing& listing, const std::vector<std::size_t>& cells,
                        const std::vector<std::string>& names);

}  // namespace depthgrid
