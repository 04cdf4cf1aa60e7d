#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/hdf5/h5_handles.hpp"

namespace depthgrid {

/// Attributes of an object: scalars, fixed-length UTF-8 of any length, lists of small integers.
/// @throws BackendError.
void h5_put(hid_t owner, const std::string& name, const std::string& text);
void h5_put(hid_t owner, const std::string& name, std::int64_t value);
void h5_put(hid_t owner, const std::string& name, double value);
void h5_put(hid_t owner, const std::string& name, const std::vector<std::int8_t>& values);
void h5_put(hid_t owner, const std::string& name, const H5Type& type, const void* value);

/// Nothing if there is no attribute of that name, or one of another type.
std::optional<std::string> h5_text(hid_t owner, const std::string& name);
std::optional<std::int64_t> h5_integer(hid_t owner, const std::string& name);
std::optional<double> h5_number(hid_t owner, const std::string& name);

/// Sorted by name.
std::vector<std::string> h5_attribute_names(hid_t owner);

/// Names of a group's members, in order of creation.
std::vector<std::string> h5_member_names(hid_t group);

/// A scalar if there are no extents.
H5Space h5_space(const std::vector<hsize_t>& extents);

/// Extents of a dataset; empty for a scalar.
std::vector<hsize_t> h5_extents(hid_t dataset);

}  // namespace depthgrid
