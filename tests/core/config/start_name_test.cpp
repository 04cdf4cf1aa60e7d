#include "core/config/start_name.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/storage/temporary_folder.hpp"
#include "tests/support/cell_identity.hpp"

namespace depthgrid {
namespace start_name_test {

CellConfig config(const std::filesystem::path& path) {
  return make_config({{"model.init.from", path.string()}});
}

TEST(StartFiles, IdentityIsTheContentNotThePath) {
  const TemporaryFolder folder;
  const auto a = folder.write("a.safetensors", "weights"), b = folder.write("b", "weights");
  const auto c = folder.write("c.safetensors", "others");
  EXPECT_EQ(cell_id(config(a)), cell_id(config(b)));
  EXPECT_NE(cell_id(config(a)), cell_id(config(c)));
  EXPECT_NE(cell_id(config(a)), cell_id(make_config({})));
  EXPECT_EQ(structure_key(config(a)), structure_key(config(c)));  // they may train fused
  EXPECT_EQ(config(a).word("model.init.from"), a.string());
}

TEST(StartFiles, IdentitySurvivesJson) {
  const TemporaryFolder folder;
  const auto file = folder.write("a.safetensors", "weights");
  const std::string json = config(file).json();
  const CellId id = cell_id(config(file));
  std::filesystem::remove(file);  // nobody needs it to read a configuration back
  EXPECT_EQ(cell_id(config_from_json(json)), id);
}

TEST(StartFiles, AFolderIsItsWeightsAndItsConfiguration) {
  const TemporaryFolder folder;
  const auto weights = folder.write("m/model.safetensors", "weights");
  const std::string alone = files_digest(start_files(folder.path() / "m"));
  EXPECT_EQ(alone, files_digest({weights}));
  const auto text = folder.write("m/config.json", "{}");
  EXPECT_NE(files_digest(start_files(folder.path() / "m")), alone);
  EXPECT_EQ(start_files(folder.path() / "m"), (std::vector<std::filesystem::path>{text, weights}));
}

TEST(StartFiles, PicklesAndWhatIsNotThereAreRefused) {
  const TemporaryFolder folder;
  for (const char* name : {"model.bin", "model.pt", "model.pth", "model.ckpt", "model.pkl"}) {
    EXPECT_THROW(start_files(folder.write(name, "x")), UserError) << name;
  }
  EXPECT_THROW(start_files(folder.path() / "absent"), StorageError);
  EXPECT_THROW(start_files(folder.path()), StorageError);  // a folder without weights
  EXPECT_THROW(config(folder.path() / "absent"), UserError);
}

}  // namespace start_name_test
}  // namespace depthgrid
