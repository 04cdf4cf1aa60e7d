#pragma once

#include <stdexcept>
#include <string>

#include "core/base/exit_code.hpp"

namespace depthgrid {

/// Base of everything depthgrid throws. what() is the message alone; where() is the "file:line"
/// that threw it.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, const char* file = __builtin_FILE(),
                 int line = __builtin_LINE())
      : std::runtime_error(message), where_(std::string(file) + ":" + std::to_string(line)) {}
  const std::string& where() const noexcept { return where_; }

 private:
  std::string where_;
};

/// Something the user can fix. The message names the place, the value, what was expected and what
/// to do; main() prints only the message and returns code().
class UserError : public Error {
 public:
  UserError(ExitCode code, const std::string& message, const char* file = __builtin_FILE(),
            int line = __builtin_LINE())
      : Error(message, file, line), code_(code) {}
  ExitCode code() const noexcept { return code_; }

 private:
  ExitCode code_;
};

/// A file of the store is missing, damaged or in the way.
class StorageError : public UserError {
 public:
  /// @param code  BadData if damaged, NoInput if missing, CantCreate for a failed write.
  StorageError(const std::string& path, const std::string& message,
               ExitCode code = ExitCode::CantCreate, const char* file = __builtin_FILE(),
               int line = __builtin_LINE())
      : UserError(code, path + ": " + message, file, line) {}
};

/// What this node cannot do and another one may: it is not the user's fault, nor a cell's.
class NodeError : public UserError {
 public:
  /// @param cause  a word: "card" for a fault of a card, its driver or its connection, "device" for
  ///               one that was given to this process and cannot be used. Of static lifetime.
  NodeError(ExitCode code, const char* cause, const std::string& message,
            const char* file = __builtin_FILE(), int line = __builtin_LINE())
      : UserError(code, message, file, line), cause_(cause) {}
  const char* cause() const noexcept { return cause_; }

 private:
  const char* cause_;
};

/// A tensor has the wrong shape, dtype or device: a bug in the caller.
class ShapeError : public Error {
 public:
  using Error::Error;
};

/// A call into MPI, NCCL, CUDA or HDF5 failed.
class BackendError : public Error {
 public:
  BackendError(const char* library, const char* call, long code, const std::string& detail,
               const char* file = __builtin_FILE(), int line = __builtin_LINE())
      : Error(std::string(library) + ": " + call + " failed (" + std::to_string(code) +
                  "): " + detail,
              file, line),
        library_(library),
        code_(code) {}
  const std::string& library() const noexcept { return library_; }  // "CUDA"
  long code() const noexcept { return code_; }                      // of that library

 private:
  std::string library_;
  long code_;
};

}  // namespace depthgrid
