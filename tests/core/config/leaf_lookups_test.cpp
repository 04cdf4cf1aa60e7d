// A look-up of a leaf by a path that is misspelt, or as another kind than the leaf has, throws when
// it runs; here it fails before: every path that stands in the sources is held against the schema.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/config/schema.hpp"

namespace depthgrid {
namespace leaf_lookups_test {

namespace fs = std::filesystem;
using Problems = std::vector<std::string>;

// Names of files that look like paths of leaves.
const std::set<std::string> kNoLeaves = {"model.safetensors", "model.yaml", "train.txt",
                                         "data.corpus."};

bool begins_a_path(const std::string& text) {
  const std::string under = text.ends_with('.') ? text : text + ".";
  return std::ranges::any_of(schema(),
                             [&](const Leaf& leaf) { return leaf.path.starts_with(under); });
}

/// Literals that begin like a leaf ("train.…") and neither are one nor lead to one
/// ("train.groups").
Problems unknown_paths(const std::string& source) {
  static const std::regex kPath(
      R"re("((?:audit|checkpoint|data|eval|model|packing|resources|retry|train)\.[\w.]*)")re");
  Problems out;
  for (std::sregex_iterator at(source.begin(), source.end(), kPath), end; at != end; ++at) {
    const std::string path = (*at)[1];
    if (find_leaf(path) == schema().size() && !begins_a_path(path) && !kNoLeaves.contains(path)) {
      out.push_back(path);
    }
  }
  return out;
}

/// Look-ups, config.real("train.lr"), by a method that throws for every value of the leaf.
Problems wrong_kinds(const std::string& source) {
  using enum ValueKind;
  static const std::map<std::string, std::set<ValueKind>> kKinds = {
      {"flag", {Bool}},
      {"integer", {Int}},
      {"integer_if", {Int}},
      {"real", {Real, Int}},  // integers convert
      {"words", {WordList, TextList}}};
  static const std::regex kLookup(
      R"re([.>](flag|integer|integer_if|real|word|words)\(\s*"([\w.]+)"\s*\))re");
  Problems out;
  for (std::sregex_iterator at(source.begin(), source.end(), kLookup), end; at != end; ++at) {
    const std::string method = (*at)[1], path = (*at)[2];
    const std::size_t row = find_leaf(path);
    if (row == schema().size()) continue;  // not a leaf's, or reported by its path
    const Leaf& leaf = schema()[row];
    const bool word =
        leaf.kind == Word || leaf.kind == Text || leaf.kind == TextList || !leaf.words.empty();
    if (method == "word" ? !word : !kKinds.at(method).contains(leaf.kind)) {
      out.push_back(method + "(" + path + ")");
    }
  }
  return out;
}

/// Text of all sources but the rows of the schema and the table of frequent mistakes.
std::map<std::string, std::string> sources() {
  std::map<std::string, std::string> out;
  for (const char* layer :
       {"core", "storage", "models", "distributed", "sweeps", "worker", "cli"}) {
    const fs::path root = fs::path(DEPTHGRID_SOURCE_DIR) / layer;
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
      const std::string name = entry.path().filename();
      if (!name.ends_with("pp") || name == "leaf_reader.cpp") continue;
      std::ostringstream text;
      text << std::ifstream(entry.path()).rdbuf();
      out[entry.path()] = text.str();
    }
  }
  return out;
}

TEST(LeafLookups, NameLeavesOfTheSchema) {
  for (const auto& [file, text] : sources()) EXPECT_EQ(unknown_paths(text), Problems{}) << file;
}

TEST(LeafLookups, AskForTheKindOfTheLeaf) {
  for (const auto& [file, text] : sources()) EXPECT_EQ(wrong_kinds(text), Problems{}) << file;
}

TEST(LeafLookups, AreRefusedWhereTheyAreWrong) {
  EXPECT_EQ(unknown_paths(R"(c.real("train.lrr"); c.word("model." + f); c.flag("data.seq_len"))"),
            Problems{"train.lrr"});
  EXPECT_EQ(wrong_kinds("c.flag(\n\"train.steps\"); c.real(\"train.steps\")"),
            Problems{"flag(train.steps)"});
  EXPECT_EQ(wrong_kinds(R"(c.word("train.lr"); c.word("train.clip"); c->words("eval.every"))"),
            (Problems{"word(train.lr)", "words(eval.every)"}));
}

}  // namespace leaf_lookups_test
}  // namespace depthgrid
