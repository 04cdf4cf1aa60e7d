#include "sweeps/orders/sweep_of_model.hpp"

#include <filesystem>
#include <string_view>
#include <utility>

#include "storage/files/publish.hpp"

namespace depthgrid {
namespace {

/// A temporary folder, removed with its owner.
struct ScratchFolder {
  std::filesystem::path path = scratch_name(std::filesystem::temp_directory_path());
  ScratchFolder() { make_folders(path); }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
};

}  // namespace

Sweep sweep_of_model(const std::string& leaf, const std::string& name, std::vector<std::string> set,
                     bool yes) {
  const ScratchFolder folder;
  const std::filesystem::path file = folder.path / "model.yaml";
  const std::string text = "name: model\nmodel: {" + leaf + ": " + name + "}\n";
  publish_replace(file, std::string_view(text));
  return load_sweep(SweepRequest{file, std::move(set), yes});
}

}  // namespace depthgrid
