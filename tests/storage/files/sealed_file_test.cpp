#include "storage/files/sealed_file.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "storage/files/publish.hpp"
#include "tests/storage/loss_file.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace sealed_file_test {

std::vector<std::byte> small_image() {
  std::vector<std::byte> image(kSealBytes + 300);
  for (std::size_t i = 0; i < image.size(); ++i) image[i] = static_cast<std::byte>(i * 7);
  seal_image(image, 3);
  return image;
}

ExitCode code_of(std::span<const std::byte> image) {
  TemporaryFolder folder;
  const auto file =
      folder.write("file.h5", {reinterpret_cast<const char*>(image.data()), image.size()});
  try {
    verify_sealed_file(file);
    return ExitCode::Done;
  } catch (const StorageError& e) {
    return e.code();
  }
}

TEST(SealedFile, TellsGenerationLengthAndDigestOfTheRest) {
  TemporaryFolder folder;
  const auto image = small_image();
  publish_replace(folder.path() / "file.h5", image);

  const SealInfo seal = verify_sealed_file(folder.path() / "file.h5");

  EXPECT_EQ(seal.generation, 3);
  EXPECT_EQ(seal.length, 300U);
  EXPECT_EQ(seal.digest, sha256(std::span(image).subspan(kSealBytes)));
}

TEST(SealedFile, NoticesEveryChangedByteOfTheWholeFile) {
  const auto sound = small_image();
  ASSERT_EQ(code_of(sound), ExitCode::Done);

  for (std::size_t i = 0; i < sound.size(); ++i) {
    for (const int mask : {0x01, 0x80, 0xFF}) {
      auto image = sound;
      image[i] ^= static_cast<std::byte>(mask);
      EXPECT_EQ(code_of(image), ExitCode::BadData) << "byte " << i << " mask " << mask;
    }
  }
}

TEST(SealedFile, NoticesEveryCutAndEveryAddition) {
  const auto sound = small_image();

  for (std::size_t n = 0; n < sound.size(); ++n) {
    EXPECT_EQ(code_of(std::span(sound).first(n)), ExitCode::BadData) << n;
  }
  auto longer = sound;
  longer.push_back(std::byte{0});
  EXPECT_EQ(code_of(longer), ExitCode::BadData);
}

TEST(SealedFile, NoticesZeroedSectorsAndPagesOfAnHdf5File) {
  TemporaryFolder folder;
  publish_losses(folder.path() / "a.h5", 1, std::vector<std::int64_t>(40000, 7),
                 std::vector<double>(40000, 1.5));
  const auto sound = read_file(folder.path() / "a.h5");
  ASSERT_EQ(code_of(sound), ExitCode::Done);

  int damages = 0;
  for (const std::size_t size : {512U, 4096U}) {
    for (std::size_t at = 0; at + size <= sound.size(); at += size) {
      auto image = sound;
      std::fill_n(image.begin() + static_cast<std::ptrdiff_t>(at), size, std::byte{0});
      if (image == sound) continue;
      ++damages;
      EXPECT_EQ(code_of(image), ExitCode::BadData) << at;
    }
  }
  EXPECT_GT(damages, 5);
}

TEST(SealedFile, VerifiesFilesAndSaysWhatIsWrong) {
  TemporaryFolder folder;
  const auto file = folder.path() / "a.h5";
  auto image = small_image();
  publish_replace(file, image);
  ASSERT_EQ(verify_sealed_file(file).generation, 3);
  image.back() ^= std::byte{1};
  publish_replace(file, image);

  try {
    verify_sealed_file(file);
    FAIL() << "damage went unnoticed";
  } catch (const StorageError& e) {
    EXPECT_EQ(e.code(), ExitCode::BadData);
    EXPECT_NE(std::string(e.what()).find("SHA-256"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("a.h5"), std::string::npos) << e.what();
  }
  ASSERT_TRUE(peek_seal(file).has_value());  // its own block is sound
  EXPECT_EQ(peek_seal(file)->generation, 3);
}

TEST(SealedFile, ComparesFilesByContent) {
  TemporaryFolder folder;
  std::vector<std::byte> bytes((1U << 20U) + 17, std::byte{5});
  overwrite(folder.path() / "a", bytes);

  EXPECT_TRUE(file_equals(folder.path() / "a", bytes));
  EXPECT_FALSE(file_equals(folder.path() / "a", std::span(bytes).first(bytes.size() - 1)));
  bytes.back() = std::byte{6};
  EXPECT_FALSE(file_equals(folder.path() / "a", bytes));
  bytes.push_back(std::byte{5});
  EXPECT_FALSE(file_equals(folder.path() / "a", bytes));
}

TEST(SealedFile, RefusesLinksFoldersAndAbsentFilesByTheirOwnCodes) {
  TemporaryFolder folder;
  publish_replace(folder.path() / "a.h5", small_image());
  std::filesystem::create_symlink(folder.path() / "a.h5", folder.path() / "link.h5");

  EXPECT_THROW(verify_sealed_file(folder.path() / "link.h5"), StorageError);
  EXPECT_THROW(verify_sealed_file(folder.path()), StorageError);
  try {
    verify_sealed_file(folder.path() / "absent.h5");
    FAIL();
  } catch (const StorageError& e) {
    EXPECT_EQ(e.code(), ExitCode::NoInput);
  }
  EXPECT_FALSE(peek_seal(folder.path() / "absent.h5").has_value());
}

}  // namespace sealed_file_test
}  // namespace depthgrid
