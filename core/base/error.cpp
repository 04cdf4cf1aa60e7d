#include "core/base/error.hpp"

namespace depthgrid {

Error::Error(const std::string& message, const char* file, int line)
    : std::runtime_error(message), where_(std::string(file) + ":" + std::to_string(line)) {}

UserError::UserError(ExitCode code, const std::string& message, const char* file, int line)
    : Error(message, file, line), code_(code) {}

StorageError::StorageError(const std::string& path, const std::string& message, ExitCode code,
                           const char* file, int line)
    : UserError(code, path + ": " + message, file, line) {}

BackendError::BackendError(const char* library, const char* call, long code,
                           const std::string& detail, const char* file, int line)
    : Error(
          std::string(library) + ": " + call + " failed (" + std::to_string(code) + "): " + detail,
          file, line),
      code_(code) {}

}  // namespace depthgrid
