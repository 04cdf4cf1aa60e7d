#include "worker/process/provenance.hpp"

#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/base/json_text.hpp"

namespace depthgrid {
namespace provenance_test {

nlohmann::json environment_now() {
  return parse_json(attempt_json({.job = "j", .device = "cpu"})).at("environment");
}

TEST(Provenance, KeepsNamedVariablesAndNoSecret) {
  const std::string canary = "canary-5f1c";
  std::vector<std::string> names = {"HOME_OF_CANARY", "SLURM_JWT", "MKL_LICENSE_PASS"};
  for (const char* prefix : {"SLURM_", "NCCL_", "DEPTHGRID_", "OMPI_MCA_", "AWS_"}) {
    for (const char* word : {"JWT_TOKEN", "SECRET", "PASSWORD", "api_key", "Credentials", "AUTH",
                             "oauth2", "PRIVATE_PART", "cookie"}) {
      names.push_back(std::string(prefix) + word);
    }
  }
  for (const std::string& name : names) setenv(name.c_str(), canary.c_str(), 1);
  setenv("OMP_NUM_THREADS", "1", 1);

  const std::string text = attempt_json({.job = "j", .device = "cpu"});
  for (const std::string& name : names) unsetenv(name.c_str());

  EXPECT_EQ(text.find(canary), std::string::npos) << text;
  const auto json = parse_json(text);
  EXPECT_EQ(json.at("environment").at("OMP_NUM_THREADS"), "1");
  EXPECT_GT(json.at("start").get<double>(), 1.7e9);
  EXPECT_FALSE(json.at("host").get<std::string>().empty());
}

TEST(Provenance, LeavesOutUserInfoOfUrls) {
  setenv("DEPTHGRID_MIRROR", "https://me:canary@host/a@b, http://you@there", 1);
  EXPECT_EQ(environment_now().at("DEPTHGRID_MIRROR"), "https://host/a@b, http://there");
  unsetenv("DEPTHGRID_MIRROR");
}

TEST(Provenance, AnyBytesMayBeInAVariable) {
  setenv("DEPTHGRID_BYTES", "a\xff\xfe b", 1);
  EXPECT_EQ(environment_now().at("DEPTHGRID_BYTES"), "a\uFFFD\uFFFD b");
  unsetenv("DEPTHGRID_BYTES");
}

TEST(Provenance, NamesTheLibraries) {
  const auto versions = parse_json(library_versions_json());
  EXPECT_EQ(versions.at("libtorch"), "2.11.0");
  EXPECT_TRUE(versions.at("hdf5").get<std::string>().starts_with("1."));
  const auto mpi = versions.at("mpi").get<std::string>();
  EXPECT_TRUE(mpi.starts_with("Open MPI v") && mpi.find(',') == std::string::npos) << mpi;
}

}  // namespace provenance_test
}  // namespace depthgrid
