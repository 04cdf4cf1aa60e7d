#include "core/base/digest.hpp"

#include <string>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace digest_test {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// FIPS 180-4, the examples that NIST publishes with it.
TEST(Digest, AgreesWithThePublishedExamples) {
  EXPECT_EQ(hex(sha256(std::string_view())),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex(sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hex(sha256(std::string(1000000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Digest, IsTheSameHoweverTheBytesAreCut) {
  const std::string text(200, 'x');
  for (const std::size_t cut : {0, 1, 63, 64, 65, 127, 200}) {
    Sha256Stream stream;
    stream.update(bytes_of(text).first(cut));
    stream.update(bytes_of(text).subspan(cut));
    EXPECT_EQ(stream.finish(), sha256(text)) << cut;
  }
}

TEST(Digest, ReadsAFileThatIsLongerThanItsBuffer) {
  const TemporaryFolder folder;
  const std::string text = std::string(std::size_t{1} << 20U, 'a') + "b";
  EXPECT_EQ(sha256_file(folder.write("long", text)), sha256(text));
  EXPECT_EQ(sha256_file(folder.write("empty", "")), sha256(std::string_view()));
}

TEST(Digest, SaysThatAFileIsNotThere) {
  const TemporaryFolder folder;
  try {
    sha256_file(folder.path() / "absent");
    FAIL() << "read a file that is not there";
  } catch (const StorageError& e) {
    EXPECT_EQ(e.code(), ExitCode::NoInput);
  }
}

TEST(Digest, WritesTheFirstDigitsOnly) {
  EXPECT_EQ(hex(sha256("abc"), 12), "ba7816bf8f01");
  EXPECT_EQ(hex(sha256("abc"), 1), "b");
}

}  // namespace digest_test
}  // namespace depthgrid
