#pragma once

#include <string_view>

namespace depthgrid {

/// Opens those of the three standard streams that are closed, such that writing to them still
/// fails: otherwise the next file that is opened would get their messages. Call it first.
void keep_standard_streams() noexcept;

/// Writes a result to stdout and flushes it: byte by byte into a file or pipe, printable() onto a
/// terminal, where names and keys from files must not act as commands; colours stay.
/// @throws StorageError (CantCreate) if that fails, such as on a full disk.
void print(std::string_view text);

/// Writes a message to stderr. Errors are ignored: there is nowhere left to report them.
void print_to_stderr(std::string_view text) noexcept;

}  // namespace depthgrid
