#pragma once

#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <unistd.h>

#include "core/config/sweep.hpp"

namespace depthgrid {

/// Two seeds of three arms, of which b starts from a.
inline constexpr const char* kPhases = R"(data: {corpus: synthetic:markov, seq_len: 9}
model: {d_model: 16, n_layers: 2, n_heads: 2, max_seq_len: 9}
seeds: 2
method: list
include:
  - {tag: a}
  - {tag: b, train.lr: 1e-3, model.init.from: arm:a}
  - {tag: c, train.lr: 2e-3}
)";

/// A folder of sweep files that goes with the test.
class SweepFiles {
 public:
  SweepFiles()
      : folder_(std::filesystem::temp_directory_path() /
                ("depthgrid-config-" + std::to_string(::getpid()) + "-" +
                 std::to_string(std::random_device()()))) {
    std::filesystem::create_directories(folder_);
  }
  ~SweepFiles() { std::filesystem::remove_all(folder_); }
  SweepFiles(const SweepFiles&) = delete;
  SweepFiles& operator=(const SweepFiles&) = delete;

  std::filesystem::path write(const std::string& name, const std::string& text) const {
    const auto path = folder_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  Sweep load(const std::string& text, std::vector<std::string> set = {}, bool yes = false) const {
    return load_sweep({write("sweep.yaml", text), std::move(set), yes});
  }

  /// The problems of a text; empty if it has none.
  std::vector<Diagnostic> problems(const std::string& text,
                                   std::vector<std::string> set = {}) const {
    try {
      load(text, std::move(set));
    } catch (const SweepErrors& errors) {
      return errors.diagnostics();
    }
    return {};
  }

  /// All messages in one text.
  std::string messages(const std::string& text, std::vector<std::string> set = {}) const {
    std::string out;
    for (const auto& problem : problems(text, std::move(set))) {
      out += std::to_string(problem.line) + ":" + std::to_string(problem.column) + ": " +
             problem.message + "\n";
    }
    return out;
  }

  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

inline std::vector<std::string> aliases(const Sweep& sweep) {
  std::vector<std::string> out;
  for (const CellPlan& cell : sweep.cells) out.push_back(cell.alias);
  return out;
}

inline std::vector<std::string> arms(const Sweep& sweep) {
  std::vector<std::string> out;
  for (const CellPlan& cell : sweep.cells) out.push_back(cell.arm);
  return out;
}

inline const CellPlan& cell_named(const Sweep& sweep, const std::string& alias) {
  for (const CellPlan& cell : sweep.cells) {
    if (cell.alias == alias) return cell;
  }
  throw std::runtime_error("no cell " + alias);
}

}  // namespace depthgrid
