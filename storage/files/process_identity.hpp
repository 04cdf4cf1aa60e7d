#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/process_identity.hpp"

namespace depthgrid {

/// One JSON object on one line.
std::string to_json(const ProcessIdentity& identity);

/// Inverse of to_json(); nothing if the text is not such an object.
std::optional<ProcessIdentity> identity_from_json(std::string_view text);

/// A process as part of a file's name: "PID-START-MACHINE"; MACHINE is a digest of the machine, its
/// boot and the process namespace.
std::string process_tag(const ProcessIdentity& process);
/// Of the calling process.
std::string process_tag();

/// True only if the tag is of this machine and surely_dead() is true of its process.
bool surely_dead_tag(std::string_view tag);

}  // namespace depthgrid
