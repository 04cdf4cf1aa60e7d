#include "sweeps/plan/text_check.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <utility>

#include "core/base/digest.hpp"
#include "core/base/error.hpp"
#include "core/config/text_format.hpp"

namespace depthgrid {
namespace {

/// A name under which a store pins texts, and their files.
using PinnedTexts = std::pair<std::string, std::vector<std::string>>;

std::vector<PinnedTexts> texts_of(const CellConfig& config) {
  const std::string& corpus = config.word("data.corpus");
  std::vector<std::string> files = config.names("data.path");
  std::ranges::move(config.names("data.valid"), std::back_inserter(files));
  return {{corpus, std::move(files)}, {corpus + ".test", config.names("data.test")}};
}

}  // namespace

std::vector<std::string> refused_texts(const Sweep& sweep, const Store& store) {
  std::vector<std::string> out;
  std::set<PinnedTexts> seen;
  for (const CellPlan& cell : sweep.cells) {
    if (cell.config.word("data.corpus") != "file" || store.completed(cell.id)) continue;
    for (const PinnedTexts& texts : texts_of(cell.config)) {
      const auto& [name, files] = texts;
      const std::string& format = cell.config.word("data.format");
      const auto tokenised = [&](const std::string& file) {
        return text_format(file, format) == TextFormat::Tokens;
      };
      if (files.empty() || std::ranges::any_of(files, tokenised)) continue;
      if (!seen.insert(texts).second) continue;
      std::string why;
      try {
        std::vector<std::string> digests, bytes;
        for (const std::string& file : files) {
          bytes.push_back(hex(sha256_file(file)));
          digests.push_back(text_digest(bytes.back(), read_as(file, format, beginning_of(file))));
        }
        why = store.corpus_refusal(name, digest_of_all(digests), digest_of_all(bytes));
      } catch (const UserError& problem) {  // of the pin, or an unreadable file
        why = problem.what();
      }
      if (!why.empty()) out.push_back(why);
    }
  }
  return out;
}

}  // namespace depthgrid
