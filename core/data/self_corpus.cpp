#include "core/data/self_corpus.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/subprocess.hpp"
#include "core/data/corpus_search.hpp"

namespace depthgrid {
namespace {

constexpr std::array<std::string_view, 12> kSuffixes{
    ".md", ".hpp", ".cpp", ".cu", ".h", ".cmake", ".txt", ".yaml", ".yml", ".sh", ".py", ".in"};

/// Folders at the top of a checkout that hold products of builds and runs, not sources.
constexpr std::array<std::string_view, 3> kMadeFolders{"build", "data", "results"};

constexpr std::string_view kBundled = "share/depthgrid/self.txt";

bool skipped_folder(const std::filesystem::path& folder, int depth) {
  const std::string name = folder.filename().string();
  const bool made = std::find(kMadeFolders.begin(), kMadeFolders.end(), name) != kMadeFolders.end();
  return name.starts_with('.') || name == "__pycache__" || (depth == 0 && made);
}

}  // namespace

std::string self_text(const std::filesystem::path& checkout) {
  std::vector<std::string> names;
  std::filesystem::recursive_directory_iterator entry(checkout);
  for (; entry != std::filesystem::recursive_directory_iterator(); ++entry) {
    const std::filesystem::path& path = entry->path();
    if (entry->is_directory()) {
      if (skipped_folder(path, entry.depth())) entry.disable_recursion_pending();
    } else if (entry->is_regular_file() &&
               std::find(kSuffixes.begin(), kSuffixes.end(), path.extension().string()) !=
                   kSuffixes.end()) {
      names.push_back(path.lexically_relative(checkout).generic_string());
    }
  }
  std::sort(names.begin(), names.end());  // by bytes, whatever the file system's order
  std::string text;
  for (const std::string& name : names) {
    text += read_corpus_file(checkout / name);
    if (!text.empty() && text.back() != '\n') text += '\n';
  }
  return text;
}

std::string load_self_text(const std::filesystem::path& given) {
  if (!given.empty()) return read_corpus_file(given / "self.txt");
  const std::filesystem::path checkout = DEPTHGRID_CHECKOUT;
  std::error_code none;
  if (std::filesystem::is_regular_file(checkout / "CMakeLists.txt", none)) {
    return self_text(checkout);
  }
  std::string searched = "\n  " + checkout.string() + " (where this program was built): not there";
  for (const std::string_view above : {"", "../"}) {
    const auto file = program_beside(std::string(above) + std::string(kBundled));
    if (std::filesystem::is_regular_file(file, none)) return read_corpus_file(file);
    searched += "\n  " + file.lexically_normal().string() + ": no such file";
  }
  throw UserError(ExitCode::NoInput,
                  "corpus 'self' (this project's own text) not found. Searched:" + searched +
                      "\nName a folder that holds self.txt in data.path, or use another "
                      "data.corpus.");
}

}  // namespace depthgrid
