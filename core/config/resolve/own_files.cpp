#include "core/config/resolve/own_files.hpp"

#include <cstdint>
#include <filesystem>
#include <system_error>

#include "core/config/resolve/slots.hpp"
#include "core/config/schema.hpp"
#include "core/config/text_format.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

class FileCheck {
 public:
  FileCheck(const Slots& slots, std::vector<OwnFileProblem>& out)
      : slots_(slots),
        word_(*slots.values[leaf_rows().data_format]->get_if<std::string>()),
        text_key_(*slots.values[leaf_rows().text_key]->get_if<std::string>()),
        any_bytes_(slots.is(leaf_rows().tokenizer, "byte")),
        joined_(slots.is(leaf_rows().join, "published_2")),
        out_(out) {}

  /// @param tokens  the least number that the files of the leaf must give together.
  void operator()(std::size_t leaf, std::int64_t tokens) const {
    const std::vector<std::string> files = named_files(slots_, leaf);
    std::int64_t most = 0;  // tokens that they can give
    for (const std::string& file : files) {
      std::error_code problem;
      if (!fs::is_regular_file(file, problem)) {
        if (leaf == leaf_rows().data_test) {
          add(leaf, "no file '" + file +
                        "' (paths are relative to the sweep file, with --set to the working "
                        "directory)");
        }
        return;
      }
      const auto bytes = static_cast<std::int64_t>(fs::file_size(file, problem));
      const std::string beginning = beginning_of(file);
      const std::string why = bytes == 0 ? "'" + file + "' is empty"
                                         : unreadable_content(file, word_, beginning, any_bytes_);
      if (!why.empty()) return add(leaf, why);
      if (text_format(file, word_) == TextFormat::Tokens) {
        most += bytes / 2;
      } else if (static_cast<std::size_t>(bytes) > beginning.size()) {
        most += bytes;
      } else {
        const TextContents all = text_contents(file, word_, beginning, text_key_);
        if (!all.problem.empty()) return add(leaf, all.problem);
        if (all.blank) return add(leaf, "'" + file + "' holds no text");
        most += all.bytes;
      }
    }
    if (joined_) most *= 2;  // a line of one byte gets another
    if (files.empty() || most >= tokens) return;
    add(leaf, "'" + files.front() + "' is too short: at most " + std::to_string(most) +
                  " tokens, and " + std::to_string(tokens) + " are one window (data.seq_len + 1)");
  }

 private:
  void add(std::size_t leaf, const std::string& what) const {
    out_.push_back({leaf, "`" + std::string(schema()[leaf].path) + "`: " + what});
  }

  const Slots& slots_;
  const std::string& word_;
  const std::string& text_key_;
  bool any_bytes_;
  bool joined_;
  std::vector<OwnFileProblem>& out_;
};

}  // namespace

std::vector<std::string> named_files(const Slots& slots, std::size_t leaf) {
  const PooledValue& value = *slots.values[leaf];
  if (const auto* file = value.get_if<std::string>()) return {*file};
  std::vector<std::string> out;
  if (const auto* list = value.get_if<ValueList>()) {
    for (const Value& file : *list) out.push_back(*file.get_if<std::string>());
  }
  return out;
}

std::vector<OwnFileProblem> own_file_problems(const Slots& slots) {
  const LeafRows& row = leaf_rows();
  std::vector<OwnFileProblem> out;
  const FileCheck check(slots, out);
  const std::int64_t window = slots.integer(row.seq_len) + 1;
  if (slots.is(row.corpus, "file")) {
    check(row.data_path, window);
    check(row.data_valid, window);
  }
  check(row.data_test, window);
  return out;
}

}  // namespace depthgrid
