#include "worker/weights/safetensors.hpp"

#include <cstring>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>

#include "core/base/error.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace safetensors_test {

std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A file with this header and so many bytes behind it.
std::string file_text(const std::string& header, std::size_t body) {
  const std::uint64_t length = header.size();
  std::string out(sizeof length, '\0');
  std::memcpy(out.data(), &length, sizeof length);
  return out + header + std::string(body, 'x');
}

/// What the reader says against it; "" if it takes the file.
std::string refusal(const TemporaryFolder& folder, const std::string& text) {
  const std::filesystem::path file = folder.write("f.safetensors", text);
  try {
    const SafetensorsFile read(file);
    for (const SafetensorsEntry& entry : read.entries()) read.read(entry);
    return "";
  } catch (const StorageError& e) {
    EXPECT_EQ(e.code(), ExitCode::BadData);
    return e.what();
  }
}

TEST(Safetensors, ReadsBackWhatWasWritten) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "w.safetensors";
  const at::Tensor a = at::randn({3, 4}), b = at::arange(5, at::kLong), none = at::zeros({0, 7});
  write_safetensors(file, {{"a", a.t()}, {"b", b}, {"none", none}, {"one", a[0][0]}},
                    {{"config", "{\"x\": \"ü\"}"}});

  const SafetensorsFile read(file);
  ASSERT_EQ(read.entries().size(), 4);
  EXPECT_TRUE(read.read(*read.find("a")).equal(a.t()));
  EXPECT_TRUE(read.read(*read.find("b")).equal(b));
  EXPECT_EQ(read.read(*read.find("none")).sizes().vec(), (std::vector<std::int64_t>{0, 7}));
  EXPECT_EQ(read.read(*read.find("one")).item<float>(), a[0][0].item<float>());
  EXPECT_EQ(read.find("c"), nullptr);
  EXPECT_EQ(read.metadata().at("config"), "{\"x\": \"ü\"}");
}

TEST(Safetensors, KnownBytesOfEveryFloatType) {
  const TemporaryFolder folder;
  // 1.5 as F64, F32, BF16, F16 (little-endian), the smallest alignment last.
  const std::string header =
      R"({"d":{"dtype":"F64","shape":[],"data_offsets":[0,8]},"f":{"dtype":"F32","shape":[1],)"
      R"("data_offsets":[8,12]},"b":{"dtype":"BF16","shape":[1,1],"data_offsets":[12,14]},)"
      R"("h":{"dtype":"F16","shape":[1],"data_offsets":[14,16]}})";
  std::string text = file_text(header, 0);
  text += std::string("\0\0\0\0\0\0\xF8\x3F", 8) + std::string("\0\0\xC0\x3F", 4) +
          std::string("\xC0\x3F", 2) + std::string("\0\x3E", 2);
  const SafetensorsFile file(folder.write("f.safetensors", text));
  for (const SafetensorsEntry& entry : file.entries()) {
    EXPECT_EQ(file.read(entry).to(at::kDouble).item<double>(), 1.5) << entry.name;
  }
}

TEST(Safetensors, RefusesWhatTheFormatForbids) {
  const TemporaryFolder folder;
  const auto entry = [](const std::string& rest) { return "{\"a\":{" + rest + "}}"; };
  const std::string good = entry(R"("dtype":"F32","shape":[2],"data_offsets":[0,8])");
  EXPECT_EQ(refusal(folder, file_text(good, 8)), "");
  EXPECT_EQ(refusal(folder, file_text(good + "   ", 8)), "");
  const struct {
    std::string text;
    const char* says;
  } bad[] = {
      {"", "too short"},
      {file_text(good, 8).substr(0, 20), "length of its header"},
      {std::string(8, '\xFF') + good, "length of its header"},
      {file_text(good, 7), "not inside the file"},
      {file_text(good, 9), "belong to none"},
      {file_text(" " + good, 8), "not a JSON object"},
      {file_text("[1]", 0), "not a JSON object"},
      {file_text("{\"a\":", 0), "not JSON"},
      {file_text("{\"\xFF\":1}", 0), "not JSON"},
      {file_text(entry(R"("dtype":"F32","shape":[3],"data_offsets":[0,8])"), 8), "needs 12"},
      {file_text(entry(R"("dtype":"F31","shape":[2],"data_offsets":[0,8])"), 8), "unknown type"},
      {file_text(entry(R"("dtype":"F32","shape":[-2],"data_offsets":[0,8])"), 8), "0 or more"},
      {file_text(entry(R"("dtype":"F32","shape":[2.0],"data_offsets":[0,8])"), 8), "0 or more"},
      {file_text(entry(R"("dtype":"F32","shape":[2],"data_offsets":[8,0])"), 8), "not inside"},
      {file_text(entry(R"("dtype":"F32","shape":[2],"data_offsets":[0,8,9])"), 8), "another type"},
      {file_text(entry(R"("dtype":"F32","shape":[2])"), 8), "other members"},
      {file_text(entry(R"("dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,8])"), 8),
       "too large"},
      {file_text(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                 R"("b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})",
                 12),
       "begins at byte 4"},
      {file_text(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                 R"("b":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}})",
                 12),
       "begins at byte 8"},
      {file_text(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                 R"("a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
                 8),
       "twice"},
      {file_text(entry(R"("dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8])"), 8),
       "twice"},
      {file_text("{\"a\":" + std::string(2000, '[') + std::string(2000, ']') + "}", 0), "deeply"},
      {file_text(R"({"__metadata__":{"a":1}})", 0), "not a text"},
      {file_text(R"({"__metadata__":3})", 0), "not an object"},
      {file_text(entry(R"("dtype":"U64","shape":[1],"data_offsets":[0,8])"), 8), "not read"},
  };
  for (const auto& [text, says] : bad) {
    EXPECT_NE(refusal(folder, text).find(says), std::string::npos)
        << says << ": " << refusal(folder, text);
  }
  EXPECT_THROW(SafetensorsFile(folder.path() / "absent"), StorageError);
}

TEST(Safetensors, DamagedFilesAreReadOrRefusedNeverMore) {
  const TemporaryFolder folder;
  write_safetensors(folder.path() / "w", {{"a", at::randn({2, 2})}, {"b", at::randn({3})}},
                    {{"k", "v"}});
  const std::string whole = bytes_of(folder.path() / "w");
  for (std::size_t n = 0; n < whole.size(); ++n) {
    EXPECT_NE(refusal(folder, whole.substr(0, n)), "") << "cut at " << n;
  }
  std::size_t refused = 0;
  const std::size_t header = whole.size() - 28;
  for (std::size_t at = 0; at < header; ++at) {
    for (const unsigned char flip : {0x01, 0x10, 0x80, 0xFF}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(static_cast<unsigned char>(damaged[at]) ^ flip);
      refused += refusal(folder, damaged).empty() ? 0 : 1;
    }
  }
  EXPECT_GT(refused, header * 3);  // what is left changes a name, or a text of the metadata
}

}  // namespace safetensors_test
}  // namespace depthgrid
