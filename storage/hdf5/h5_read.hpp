#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "storage/files/sealed_file.hpp"
#include "storage/hdf5/h5_write.hpp"

namespace depthgrid {

/// What a dataset is, without its values.
struct H5VariableInfo {
  std::string name;                 // "train_loss", "weights/head.weight"
  std::vector<std::int64_t> shape;  // empty: a scalar
  std::vector<std::string> dims;    // names of the attached dimension scales; "" where none is
  bool is_text = false;
  std::size_t text_width = 0;  // bytes of one string
  H5Kind kind = H5Kind::F8;    // of numbers
  bool is_dimension = false;   // a coordinate variable
  std::int64_t count() const;  // elements
};

/// Reads one sealed HDF5 file: the seal is verified before libhdf5 parses a byte.
///
/// Errors: StorageError with BadData for damage (also for what libhdf5 refuses) and for a name or
/// type that is not there, NoInput for absence.
class H5Reader {
 public:
  /// @param verify  false only for a file whose seal the caller has just verified.
  explicit H5Reader(const std::filesystem::path& file, bool verify = true);
  ~H5Reader();
  H5Reader(H5Reader&&) noexcept;
  H5Reader& operator=(H5Reader&&) noexcept;

  const std::filesystem::path& file() const;
  const SealInfo& seal() const;

  /// Datasets of the root group in order of creation, coordinate variables included.
  const std::vector<H5VariableInfo>& variables() const;
  /// Datasets of a group below the root; empty if there is no such group.
  std::vector<H5VariableInfo> variables_of(const std::string& group) const;
  bool has(const std::string& name) const;
  H5VariableInfo info(const std::string& name) const;

  /// Whole datasets, row-major, converted.
  std::vector<double> numbers(const std::string& name) const;
  std::vector<std::int64_t> integers(const std::string& name) const;
  std::vector<float> floats(const std::string& name) const;
  std::vector<std::string> texts(const std::string& name) const;

  /// Attributes of `owner` ("" = root); nothing if there is none of that name.
  std::vector<std::string> attribute_names(const std::string& owner) const;
  std::optional<std::string> text_attribute(const std::string& owner,
                                            const std::string& name) const;
  std::optional<std::int64_t> integer_attribute(const std::string& owner,
                                                const std::string& name) const;
  std::optional<double> number_attribute(const std::string& owner, const std::string& name) const;
  std::optional<std::vector<double>> numbers_attribute(const std::string& owner,
                                                       const std::string& name) const;
  std::optional<std::vector<std::string>> texts_attribute(const std::string& owner,
                                                          const std::string& name) const;
  bool attribute_is_text(const std::string& owner, const std::string& name) const;

  /// As attribute of the root; @throws StorageError naming it if it is missing.
  std::string required_text(const std::string& name) const;
  std::int64_t required_integer(const std::string& name) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// "1.10.8": of the HDF5 library that is loaded.
std::string hdf5_version();

}  // namespace depthgrid
