#include "sweeps/protocol/sweep_of_model.hpp"

#include <filesystem>
#include <string_view>
#include <utility>

#include "core/base/scratch_folder.hpp"
#include "storage/files/publish.hpp"

namespace depthgrid {

Sweep sweep_of_model(const std::string& leaf, const std::string& name, std::vector<std::string> set,
                     bool yes) {
  const ScratchFolder folder;
  const std::filesystem::path file = folder.path() / "model.yaml";
  const std::string text = "name: model\nmodel: {" + leaf + ": " + name + "}\n";
  publish_replace(file, std::string_view(text));
  return load_sweep(SweepRequest{file, std::move(set), yes});
}

}  // namespace depthgrid
