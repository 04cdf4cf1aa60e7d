#include "core/base/fs.hpp"

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/real_fs.hpp"
#include "tests/storage/pretended_fs.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace fs_test {

std::uint32_t mode_of(const std::filesystem::path& file) {
  return real_fs().facts(file, Links::Stay).value.mode;
}

/// Restores the umask at its end.
struct Umask {
  explicit Umask(mode_t mask) : before(umask(mask)) {}
  ~Umask() { umask(before); }
  mode_t before;
};

TEST(Fs, TellsWhatIsAbsentFromWhatIsNotKnown) {
  const TemporaryFolder folder;
  folder.write("file", "x");
  std::filesystem::create_symlink("itself", folder.path() / "itself");
  const auto error_at = [&](const std::string& name) {
    return real_fs().facts(folder.path() / name, Links::Follow).error;
  };

  EXPECT_EQ(error_at("file"), 0);
  EXPECT_TRUE(means_absent(error_at("none")));
  EXPECT_TRUE(means_absent(error_at("file/below")));
  EXPECT_TRUE(means_absent(error_at(std::string(300, 'n'))));
  EXPECT_FALSE(means_absent(error_at("itself")));
  EXPECT_FALSE(means_absent(EACCES));
  EXPECT_FALSE(means_absent(EIO));
}

TEST(Fs, FollowsLinksOnlyWhereItIsAsked) {
  const TemporaryFolder folder;
  folder.write("file", "content");
  std::filesystem::create_symlink("file", folder.path() / "link");
  const auto link = folder.path() / "link";

  EXPECT_EQ(real_fs().facts(link, Links::Stay).value.kind, FileKind::Link);
  EXPECT_EQ(real_fs().facts(link, Links::Follow).value.kind, FileKind::File);
  EXPECT_EQ(real_fs().open(link, OpenHow::Read).error, ELOOP);
  EXPECT_EQ(real_fs().open(link, OpenHow::Overwrite).error, ELOOP);
  EXPECT_EQ(real_fs().read(link).value, "content");
}

TEST(Fs, OpensAsItIsTold) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "a";
  const auto put = [&](OpenHow how, const std::string& text) {
    const auto [open, error] = real_fs().open(file, how);
    if (error == 0) open->write(std::as_bytes(std::span(text)));
    return error;
  };

  EXPECT_EQ(real_fs().open(file, OpenHow::Read).error, ENOENT);
  EXPECT_EQ(put(OpenHow::New, "12345"), 0);
  EXPECT_EQ(put(OpenHow::New, "x"), EEXIST);
  EXPECT_EQ(put(OpenHow::NewLog, "x"), EEXIST);
  EXPECT_EQ(put(OpenHow::Overwrite, "ab"), 0);
  EXPECT_EQ(real_fs().read(file).value, "ab345");
  EXPECT_EQ(put(OpenHow::Append, "c"), 0);
  EXPECT_EQ(real_fs().read(file).value, "ab345c");
  EXPECT_EQ(put(OpenHow::Emptied, "z"), 0);
  EXPECT_EQ(real_fs().read(file).value, "z");
}

TEST(Fs, ReadsFromAPlaceOnAndTheEnd) {
  const TemporaryFolder folder;
  const std::string text = std::string(100000, 'a') + "end";
  const auto file = folder.write("file", text);

  EXPECT_EQ(real_fs().read(file).value, text);
  EXPECT_EQ(real_fs().read(file, 99999).value, "aend");
  EXPECT_EQ(real_fs().read(file, 200000).value, "");
  EXPECT_EQ(real_fs().read_end(file, 4).value, "aend");
  EXPECT_EQ(real_fs().read_end(file, 1000000).value, text);
  EXPECT_EQ(real_fs().read(folder.path()).error, ENOENT) << "a folder is no file";
  EXPECT_FALSE(real_fs().read("/proc/self/status").value.empty()) << "its size is said to be 0";
}

TEST(Fs, NoOpeningWaitsForTheOtherEndOfAPipe) {
  const TemporaryFolder folder;
  const auto pipe = folder.path() / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  constexpr unsigned kPatience = 20;
  alarm(kPatience);  // ends this process instead of letting it wait for ever
  EXPECT_EQ(real_fs().read(pipe).error, ENOENT);
  EXPECT_EQ(real_fs().read_end(pipe, 4).error, ENOENT);
  for (const OpenHow how : {OpenHow::Overwrite, OpenHow::Emptied, OpenHow::Append}) {
    EXPECT_EQ(real_fs().open(pipe, how).error, ENXIO) << "nobody reads it";
  }
  EXPECT_EQ(real_fs().adopt(pipe).error, 0);
  alarm(0);
}

TEST(Fs, WhatIsReadIsWhatWasLookedAt) {
  const TemporaryFolder folder;
  const auto file = folder.write("file", "content"), other = folder.write("other", "another text");
  const PretendedFs disk;
  std::vector<std::string> calls;
  disk.state().before = [&](const PretendedFs::Call& call) {
    calls.push_back(call.name);
    if (call.name == "facts") std::filesystem::rename(other, file);
  };
  EXPECT_EQ(disk.read_end(file, 4).value, "tent");
  EXPECT_EQ(calls.at(0), "open");
}

TEST(Fs, ListsNamesWithTheirKinds) {
  const TemporaryFolder folder;
  folder.write("file", "x");
  folder.write("folder/inside", "x");
  std::filesystem::create_symlink("folder", folder.path() / "link");
  auto [entries, error] = real_fs().list(folder.path());
  std::ranges::sort(entries, {}, &FolderEntry::name);

  EXPECT_EQ(error, 0);
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_EQ(entries[0].name, "file");
  EXPECT_EQ(entries[0].kind, FileKind::File);
  EXPECT_EQ(entries[1].kind, FileKind::Folder);
  EXPECT_EQ(entries[2].kind, FileKind::Link);
  EXPECT_EQ(real_fs().list(folder.path() / "none").error, ENOENT);
  EXPECT_EQ(real_fs().list(folder.path() / "file").error, ENOTDIR);
}

TEST(Fs, RenamesAndLinksReplaceOnlyWhatTheyMay) {
  const TemporaryFolder folder;
  const auto a = folder.write("a", "a"), b = folder.write("b", "b");

  EXPECT_EQ(real_fs().rename_to_new(a, b), EEXIST);
  EXPECT_EQ(real_fs().link(a, b), EEXIST);
  EXPECT_EQ(real_fs().read(b).value, "b");
  EXPECT_EQ(real_fs().rename(a, b), 0);
  EXPECT_EQ(real_fs().read(b).value, "a");
  EXPECT_EQ(real_fs().rename_to_new(b, a), 0);
  EXPECT_EQ(real_fs().remove(b), ENOENT);
}

TEST(Fs, RemovesWholeTreesAndWhatIsNotThereIsNoError) {
  const TemporaryFolder folder;
  folder.write("tree/a/b/file", "x");
  folder.write("beside", "x");
  std::filesystem::create_symlink(folder.path(), folder.path() / "tree" / "link");

  EXPECT_EQ(real_fs().remove_all(folder.path() / "tree"), 0);
  EXPECT_EQ(real_fs().remove_all(folder.path() / "tree"), 0);
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "tree"));
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "beside")) << "behind a link";
}

TEST(Fs, MakesForTheOwnerUnlessItIsForTheGroup) {
  const TemporaryFolder folder;
  const Fs& shared = real_fs().with(FileAccess::Group);
  {
    const Umask strict(077);
    real_fs().make_folder(folder.path() / "own");
    real_fs().open(folder.path() / "own" / "file", OpenHow::New);
    shared.make_folder(folder.path() / "shared");
    shared.open(folder.path() / "shared" / "file", OpenHow::New);
    shared.open_folder(folder.path()).value->create("file");
  }
  {
    const Umask usual(022);
    real_fs().make_folder(folder.path() / "usual");
    real_fs().open(folder.path() / "usual" / "file", OpenHow::New);
  }

  EXPECT_EQ(mode_of(folder.path() / "own"), 0700U);
  EXPECT_EQ(mode_of(folder.path() / "own" / "file"), 0600U);
  EXPECT_EQ(mode_of(folder.path() / "usual"), 0750U);
  EXPECT_EQ(mode_of(folder.path() / "usual" / "file"), 0640U);
  EXPECT_EQ(mode_of(folder.path() / "shared"), 02770U);
  EXPECT_EQ(mode_of(folder.path() / "shared" / "file"), 0660U);
  EXPECT_EQ(mode_of(folder.path() / "file"), 0660U);
  EXPECT_EQ(&shared.with(FileAccess::Owner), &real_fs().with(FileAccess::Owner));
}

TEST(Fs, NamesTheOwnerOfTheNearestFolderThatCanBeSeen) {
  const TemporaryFolder folder;
  const std::string note = owner_note(real_fs(), folder.path() / "none" / "below");

  EXPECT_NE(note.find("; " + folder.path().string() + " belongs to "), std::string::npos) << note;
  EXPECT_NE(note.find("uid " + std::to_string(real_fs().user())), std::string::npos) << note;
  EXPECT_NE(note.find("mode 0700"), std::string::npos) << note;
  EXPECT_EQ(user_name(4000000001U), "uid 4000000001");
}

}  // namespace fs_test
}  // namespace depthgrid
