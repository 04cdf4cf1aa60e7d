#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <stdlib.h>

#include "core/base/error.hpp"
#include "core/data/corpus_search.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid::test {

using depthgrid::TemporaryFolder;

/// Sets (or removes, if null) an environment variable for one scope.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const char* value) : name_(name) {
    if (const char* const old = std::getenv(name)) old_ = old;
    set(value);
  }
  ~ScopedVariable() { set(old_ ? old_->c_str() : nullptr); }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  void set(const char* value) const {
    if (value != nullptr) {
      ::setenv(name_, value, 1);
    } else {
      ::unsetenv(name_);
    }
  }
  const char* name_;
  std::optional<std::string> old_;
};

/// Runs `call` and gives back the message of the exception it must throw.
template <class Exception, class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const Exception& error) {
    return error.what();
  }
  return "nothing was thrown";
}

/// The folder of a corpus, or nothing on a machine that does not have it.
inline std::optional<std::filesystem::path> corpus_at_hand(const std::string& name,
                                                           const std::vector<std::string>& files) {
  try {
    return find_corpus(name, files, "data.path", {});
  } catch (const UserError&) {
    return std::nullopt;
  }
}

}  // namespace depthgrid::test
