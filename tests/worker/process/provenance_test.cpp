#include "worker/process/provenance.hpp"

#include <cstdlib>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace depthgrid {
namespace provenance_test {

TEST(Provenance, KeepsNamedVariablesAndNoSecret) {
  const std::string canary = "canary-5f1c";
  for (const char* name : {"AWS_SECRET_ACCESS_KEY", "SLURM_JWT_TOKEN", "DEPTHGRID_PASSWORD",
                           "WANDB_API_KEY", "HOME_OF_CANARY", "NCCL_SECRET"}) {
    setenv(name, canary.c_str(), 1);
  }
  setenv("OMP_NUM_THREADS", "1", 1);

  const std::string text = attempt_json({.job = "j", .device = "cpu"});

  EXPECT_EQ(text.find(canary), std::string::npos);
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json.at("environment").at("OMP_NUM_THREADS"), "1");
  EXPECT_GT(json.at("start").get<double>(), 1.7e9);
  EXPECT_FALSE(json.at("host").get<std::string>().empty());
}

TEST(Provenance, NamesTheLibraries) {
  const auto versions = nlohmann::json::parse(library_versions_json());
  EXPECT_EQ(versions.at("libtorch"), "2.11.0");
  EXPECT_TRUE(versions.at("hdf5").get<std::string>().starts_with("1."));
  const auto mpi = versions.at("mpi").get<std::string>();
  EXPECT_TRUE(mpi.starts_with("Open MPI v") && mpi.find(',') == std::string::npos) << mpi;
}

}  // namespace provenance_test
}  // namespace depthgrid
