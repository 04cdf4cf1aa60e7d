#include "sweeps/plan/answer_cache.hpp"

#include <cstdint>
#include <cstdlib>

#include <fmt/format.h>

#include "core/base/digest.hpp"
#include "core/base/error.hpp"
#include "core/base/isa.hpp"
#include "core/base/version.hpp"
#include "storage/files/publish.hpp"
#include "storage/files/sealed_file.hpp"

namespace depthgrid {

namespace fs = std::filesystem;

namespace {

/// The worker's, which refuses a wrong one; this program may run on another machine than that.
std::string isa_word() {
  const char* const request = std::getenv("DEPTHGRID_ISA");
  return std::string(request == nullptr || *request == '\0' ? name_of(supported_isas().front())
                                                            : std::string_view(request));
}

/// The first line of an entry: of its name, which is a digest of the question, and the answer.
std::string checksum(const fs::path& file, std::string_view answer) {
  return hex(sha256(fmt::format("{}\n{}", file.filename().string(), answer)));
}

}  // namespace

AnswerCache::AnswerCache(const fs::path& worker, fs::path folder)
    : folder_(std::move(folder)), build_(fmt::format("{} {}", code_version(), isa_word())) {
  const auto [file, absent] = real_fs().facts(worker, Links::Follow);
  if (absent != 0) return;
  constexpr std::int64_t kSecond = 1'000'000'000;
  const std::int64_t ns = file.modified.time_since_epoch().count();
  build_ += fmt::format(" {} {}.{}", file.size, ns / kSecond, ns % kSecond);
}

fs::path AnswerCache::file_of(std::string_view asked) const {
  return folder_ / (hex(sha256(fmt::format("{} {}", asked, build_)), 32) + ".json");
}

std::optional<std::string> AnswerCache::find(std::string_view asked) const {
  if (folder_.empty()) return std::nullopt;
  try {
    const fs::path file = file_of(asked);
    const std::string text = read_text_file(file);
    const std::size_t end = text.find('\n');
    if (end == text.npos) return std::nullopt;
    std::string answer = text.substr(end + 1);
    if (text.substr(0, end) != checksum(file, answer))
      return std::nullopt;  // damaged, or another's
    return answer;
  } catch (const Error&) {
    return std::nullopt;
  }
}

void AnswerCache::keep(std::string_view asked, std::string_view answer) const {
  if (folder_.empty()) return;
  try {
    make_folders(folder_);
    const fs::path file = file_of(asked);
    publish_replace(file, checksum(file, answer) + "\n" + std::string(answer));
  } catch (const Error&) {  // costs time only
  }
}

fs::path cache_folder(const fs::path& name) {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache == '/') return fs::path(cache) / "depthgrid" / name;
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home == '/') return fs::path(home) / ".cache/depthgrid" / name;
  return {};
}

}  // namespace depthgrid
