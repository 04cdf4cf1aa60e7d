#include "core/data/corpus_search.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace depthgrid {
namespace {

struct Place {
  std::filesystem::path folder;
  std::string from;  // why it is searched
};

std::vector<Place> places(const std::string& name, const std::string& leaf,
                          const std::filesystem::path& given) {
  if (!given.empty()) return {{given, leaf}};
  std::vector<Place> all;
  const char* const root = std::getenv("DEPTHGRID_DATA");
  if (root != nullptr && *root != '\0') {
    all.push_back({std::filesystem::path(root) / name, "$DEPTHGRID_DATA"});
  }
  all.push_back({std::filesystem::path("data") / name, "the current folder"});
  return all;
}

std::string missing_from(const std::filesystem::path& folder,
                         const std::vector<std::string>& files) {
  std::error_code none;
  if (!std::filesystem::is_directory(folder, none)) return "no such folder";
  for (const std::string& file : files) {
    if (!std::filesystem::is_regular_file(folder / file, none)) return "no " + file;
  }
  return {};
}

}  // namespace

std::filesystem::path find_corpus(const std::string& name, const std::vector<std::string>& files,
                                  const std::string& leaf, const std::filesystem::path& given) {
  std::string searched;
  if (std::getenv("DEPTHGRID_DATA") == nullptr && given.empty()) {
    searched = fmt::format("\n  $DEPTHGRID_DATA/{}: DEPTHGRID_DATA is not set", name);
  }
  for (const Place& place : places(name, leaf, given)) {
    const std::string missing = missing_from(place.folder, files);
    if (missing.empty()) return place.folder;
    searched += fmt::format("\n  {} (from {}): {}",
                            std::filesystem::absolute(place.folder).string(), place.from, missing);
  }
  throw UserError(ExitCode::NoInput,
                  fmt::format("{0} not found. Searched:{1}\nFetch it with `scripts/fetch_data.sh "
                              "{0}`, or name its folder in {2}.",
                              name, searched, leaf));
}

std::string read_corpus_file(const std::filesystem::path& file) {
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) {
    throw UserError(ExitCode::NoInput, file.string() + ": is a folder; expected a file");
  }
  errno = 0;
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  if (!in) {
    throw UserError(ExitCode::NoInput,
                    fmt::format("{}: cannot be read: {}", file.string(), std::strerror(errno)));
  }
  std::string text(static_cast<std::size_t>(in.tellg()), '\0');
  in.seekg(0);
  if (!in.read(text.data(), static_cast<std::streamsize>(text.size()))) {
    throw UserError(ExitCode::NoInput, file.string() + ": cannot be read to its end");
  }
  return text;
}

}  // namespace depthgrid
