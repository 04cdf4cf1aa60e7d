#include "storage/files/publish.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/error.hpp"
#include "storage/files/sealed_file.hpp"
#include "tests/storage/folder_watch.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace publish_test {

std::size_t files_in(const std::filesystem::path& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder),
                                                std::filesystem::directory_iterator()));
}

TEST(Publish, ReplaceGivesTheNewContentAndLeavesNothingBeside) {
  TemporaryFolder folder;
  const auto file = folder.path() / "a";
  publish_replace(file, "old");

  publish_replace(file, "new");

  EXPECT_EQ(read_text_file(file), "new");
  EXPECT_EQ(files_in(folder.path()), 1U);
  struct stat about{};
  ASSERT_EQ(stat(file.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777U & 0027U, 0U);
}

TEST(Publish, OnceKeepsWhatIsThere) {
  TemporaryFolder folder;
  const auto file = folder.path() / "a";

  EXPECT_TRUE(publish_once(file, "first"));
  EXPECT_FALSE(publish_once(file, "second"));

  EXPECT_EQ(read_text_file(file), "first");
  EXPECT_EQ(files_in(folder.path()), 1U);
}

TEST(Publish, ALinkInPlaceOfTheTargetIsReplacedNotFollowed) {
  TemporaryFolder folder;
  publish_replace(folder.path() / "victim", "untouched");
  std::filesystem::create_symlink(folder.path() / "victim", folder.path() / "a");

  EXPECT_FALSE(publish_once(folder.path() / "a", "x"));
  publish_replace(folder.path() / "a", "new");

  EXPECT_EQ(read_text_file(folder.path() / "victim"), "untouched");
  EXPECT_EQ(read_text_file(folder.path() / "a"), "new");
}

TEST(Publish, OfManyProcessesExactlyOneIsFirst) {
  TemporaryFolder folder;
  constexpr int kProcesses = 8;
  constexpr int kFiles = 20;
  std::vector<pid_t> children;
  for (int p = 0; p < kProcesses; ++p) {
    const pid_t pid = fork();
    if (pid == 0) {
      int won = 0;
      for (int f = 0; f < kFiles; ++f) {
        won += publish_once(folder.path() / std::to_string(f), std::to_string(p)) ? 1 : 0;
      }
      _exit(won);
    }
    children.push_back(pid);
  }

  int won = 0;
  for (const pid_t pid : children) {
    int status = 0;
    waitpid(pid, &status, 0);
    ASSERT_TRUE(WIFEXITED(status));
    won += WEXITSTATUS(status);
  }

  EXPECT_EQ(won, kFiles);
  EXPECT_EQ(files_in(folder.path()), static_cast<std::size_t>(kFiles));
}

TEST(Publish, InstallsACompleteScratchFile) {
  TemporaryFolder folder;
  const auto scratch = scratch_name(folder.path());
  publish_replace(scratch, "content");
  install_replace(folder.path() / "a", scratch);
  publish_replace(scratch, "late");

  EXPECT_FALSE(install_once(folder.path() / "a", scratch));

  EXPECT_EQ(read_text_file(folder.path() / "a"), "content");
  EXPECT_EQ(files_in(folder.path()), 1U);
}

TEST(Publish, RemovesWhatKilledProcessesLeft) {
  TemporaryFolder folder;
  publish_replace(folder.path() / "keep", "x");
  publish_replace(scratch_name(folder.path()), "half");

  remove_scratch(folder.path());

  EXPECT_EQ(files_in(folder.path()), 1U);
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "keep"));
}

TEST(Publish, WhatAnotherProcessHasSweptAwayIsWrittenAgain) {
  TemporaryFolder folder;
  int sweeps = 0;
  const auto sweep = [&] {  // as the next owner of the folder does, while ours is unfinished
    if (sweeps++ < 3) remove_scratch(folder.path());
  };
  const FolderWatch watch(folder.path(), DN_CREATE, sweep);
  if (!watch.works()) GTEST_SKIP() << "this kernel does not signal changes of a folder";

  publish_replace(folder.path() / "a", "content");
  EXPECT_GT(sweeps, 3);
  sweeps = 0;
  EXPECT_TRUE(publish_once(folder.path() / "b", "first"));
  sweeps = 0;
  EXPECT_FALSE(publish_once(folder.path() / "b", "second"));

  EXPECT_EQ(read_text_file(folder.path() / "a"), "content");
  EXPECT_EQ(read_text_file(folder.path() / "b"), "first");
  EXPECT_EQ(files_in(folder.path()), 2U);
}

TEST(Publish, WhatIsSweptAwayEachTimeIsAnErrorAndKeepsTheOldFile) {
  TemporaryFolder folder;
  publish_replace(folder.path() / "a", "old");
  const FolderWatch watch(folder.path(), DN_CREATE, [&] { remove_scratch(folder.path()); });
  if (!watch.works()) GTEST_SKIP() << "this kernel does not signal changes of a folder";

  EXPECT_THROW(publish_replace(folder.path() / "a", "new"), StorageError);

  EXPECT_EQ(read_text_file(folder.path() / "a"), "old");
  EXPECT_EQ(files_in(folder.path()), 1U);
}

TEST(Publish, AFailedWriteKeepsTheOldFileAndNamesTheError) {
  TemporaryFolder folder;
  const auto file = folder.path() / "a";
  publish_replace(file, "old");
  const pid_t pid = fork();
  if (pid == 0) {
    signal(SIGXFSZ, SIG_IGN);  // the write then fails half-way with EFBIG
    const rlimit limit{10000, 10000};
    setrlimit(RLIMIT_FSIZE, &limit);
    try {
      publish_replace(file, std::string(50000, 'n'));
    } catch (const StorageError& e) {
      const bool named = std::string(e.what()).find("File too large") != std::string::npos;
      _exit(named && e.code() == ExitCode::CantCreate ? 7 : 8);
    }
    _exit(9);
  }
  int status = 0;
  waitpid(pid, &status, 0);

  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_EQ(read_text_file(file), "old");
  EXPECT_EQ(files_in(folder.path()), 1U);
}

TEST(Publish, AFullDiskIsReportedWithNeededAndFreeBytesAndKeepsTheOldFile) {
  TemporaryFolder folder;
  const auto disk = folder.path() / "disk";
  std::filesystem::create_directory(disk);
  if (mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=256k") != 0) {
    GTEST_SKIP() << "mounting a small disk needs privileges";
  }
  const auto file = disk / "a";
  publish_replace(file, std::string(100000, 'o'));
  std::string message;
  try {
    publish_replace(file, std::string(200000, 'n'));
  } catch (const StorageError& e) {
    message = e.what();
  }
  const std::string kept = read_text_file(file);
  const std::size_t files = files_in(disk);
  publish_replace(file, "small again");
  const std::string after = read_text_file(file);
  umount(disk.c_str());

  EXPECT_NE(message.find("No space left on device"), std::string::npos) << message;
  EXPECT_NE(message.find("needed 200000 bytes, free "), std::string::npos) << message;
  EXPECT_EQ(kept, std::string(100000, 'o'));
  EXPECT_EQ(files, 1U);
  EXPECT_EQ(after, "small again");
}

TEST(Publish, ADiskThatIsFullOnRequestFailsFromTheNthPublicationOn) {
  TemporaryFolder folder;
  const pid_t child = fork();  // publications are counted for a whole process
  if (child == 0) {
    setenv("DEPTHGRID_FAULT", "enospc@3", 1);
    int failed = 0;
    for (const char* name : {"a", "b", "b", "c"}) {
      try {
        publish_replace(folder.path() / name, name);
      } catch (const StorageError& e) {
        failed += std::string(e.what()).find("needed 1 bytes, free ") != std::string::npos ? 1 : 0;
      }
    }
    _exit(failed);
  }
  int status = 0;
  waitpid(child, &status, 0);

  EXPECT_EQ(WEXITSTATUS(status), 2) << "the third and the fourth";
  EXPECT_EQ(read_text_file(folder.path() / "b"), "b");
  EXPECT_EQ(files_in(folder.path()), 2U);
}

TEST(Publish, SaysWhenInodesAndNotBytesHaveRunOut) {
  TemporaryFolder folder;
  const auto disk = folder.path() / "disk";
  make_folders(disk);
  if (mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=256k,nr_inodes=2") != 0) {
    GTEST_SKIP() << "mounting a small disk needs privileges";
  }
  publish_replace(disk / "a", "x");
  std::string message;
  try {
    publish_replace(disk / "b", "x");
  } catch (const StorageError& e) {
    message = e.what();
  }
  umount(disk.c_str());

  EXPECT_NE(message.find("no inode"), std::string::npos) << message;
  EXPECT_NE(message.find("remove some files"), std::string::npos) << message;
}

TEST(Publish, NamesTheFolderThatIsNotThere) {
  TemporaryFolder folder;

  EXPECT_THROW(publish_replace(folder.path() / "absent" / "a", "x"), StorageError);
}

TEST(Publish, MakesMissingParentsAndAcceptsWhatIsThere) {
  TemporaryFolder folder;
  const auto deep = folder.path() / "a" / "b" / "c";

  make_folders(deep);
  make_folders(deep);

  EXPECT_TRUE(std::filesystem::is_directory(deep));
  publish_replace(folder.path() / "file", "x");
  EXPECT_THROW(make_folders(folder.path() / "file"), StorageError);
  EXPECT_THROW(make_folders(folder.path() / "file" / "below"), StorageError);
}

TEST(Publish, MakesFoldersWhoseParentsOthersRemoveMeanwhile) {
  TemporaryFolder folder;
  const std::string parent = folder.path() / "live";
  int removed = 0;
  const FolderWatch watch(folder.path(), DN_CREATE, [&] {
    if (removed < 3 && rmdir(parent.c_str()) == 0) ++removed;
  });
  if (!watch.works()) GTEST_SKIP() << "the kernel tells nothing of folders";
  make_folders(folder.path() / "live" / "run");
  EXPECT_EQ(removed, 3);
  EXPECT_TRUE(std::filesystem::is_directory(folder.path() / "live" / "run"));
}

// Ranks make the folders of their cells at the same moment, and these share parents: whenever a
// system call of the one has found nothing, the other makes the parent before the next call.
TEST(Publish, MakesFoldersWhoseParentsOthersMakeMeanwhile) {
  TemporaryFolder folder;
  const std::string parent = folder.path() / "52", mine = folder.path() / "52" / "mine";
  const pid_t maker = fork();
  ASSERT_GE(maker, 0);
  if (maker == 0) {
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(2);
    raise(SIGSTOP);
    try {
      make_folders(mine);
    } catch (const StorageError&) {
      _exit(1);
    }
    _exit(0);
  }
  int status = 0, found_nothing = 0;
  bool told = true;
  while (waitpid(maker, &status, 0) == maker && WIFSTOPPED(status)) {
    ptrace(PTRACE_SETOPTIONS, maker, nullptr, PTRACE_O_TRACESYSGOOD);  // else no call is told of
    __ptrace_syscall_info call{};
    told = ptrace(PTRACE_GET_SYSCALL_INFO, maker, sizeof call, &call) >= 0 && told;
    if (call.op == PTRACE_SYSCALL_INFO_EXIT && call.exit.rval == -ENOENT) {
      ++found_nothing;
      mkdir(parent.c_str(), 0750);
    }
    ptrace(PTRACE_SYSCALL, maker, nullptr, nullptr);
  }
  ASSERT_TRUE(WIFEXITED(status));
  if (!told || WEXITSTATUS(status) == 2) GTEST_SKIP() << "calls cannot be traced here";

  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(found_nothing, 1);
  EXPECT_TRUE(std::filesystem::is_directory(mine));
}

TEST(Publish, OnlyScratchFilesOfDeadProcessesAreRemovedFromSharedFolders) {
  TemporaryFolder folder;
  const pid_t child = fork();
  if (child == 0) {
    publish_once(scratch_name(folder.path()), "of the dead");
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  publish_once(scratch_name(folder.path()), "of the living");
  publish_once(folder.path() / ".tmp-123-0badc0de", "of an older release, or another machine");
  publish_once(folder.path() / ".tmp-9-9-0badc0de-1", "long forgotten");
  std::filesystem::last_write_time(
      folder.path() / ".tmp-9-9-0badc0de-1",
      std::filesystem::file_time_type::clock::now() - std::chrono::hours(30));
  publish_once(folder.path() / "file", "x");

  remove_dead_scratch(folder.path());

  std::set<std::string> left;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    if (entry.is_regular_file()) left.insert(read_text_file(entry.path()));
  }
  EXPECT_EQ(left, (std::set<std::string>{"of the living", "of an older release, or another machine",
                                         "x"}));
}

}  // namespace publish_test
}  // namespace depthgrid
