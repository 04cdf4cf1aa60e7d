#pragma once

#include <filesystem>

namespace depthgrid {

/// Makes a fault that ends this process (SEGV, BUS, ILL, FPE, ABRT) leave an empty file, before
/// what would have happened happens. So a crash, which a further attempt may well repeat, is
/// distinguished from a kill from outside or the loss of the machine, which leave nothing. Handlers
/// of before are kept; call it after MPI has begun, which brings its own.
/// @param file  its folder must exist. A path of over 4,000 bytes is refused (Usage).
void mark_crashes(const std::filesystem::path& file);

/// Leaves the mark now: an exception that nobody expected ends this process.
void mark_crash() noexcept;

}  // namespace depthgrid
