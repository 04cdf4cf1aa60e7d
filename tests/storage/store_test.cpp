#include "storage/store.hpp"

#include <cerrno>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/error.hpp"
#include "storage/files/journal.hpp"
#include "storage/files/lease_keeper.hpp"
#include "storage/files/publish.hpp"
#include "storage/files/sealed_file.hpp"
#include "storage/hdf5/checkpoint.hpp"
#include "storage/plan_sequence.hpp"
#include "tests/storage/pretended_fs.hpp"
#include "tests/storage/synthetic_sweep.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace store_test {

const CellId kCell = "0123456789ab";

template <class Call>
ExitCode code_of(Call&& call) {
  try {
    call();
    return ExitCode::Done;
  } catch (const UserError& e) {
    return e.code();
  }
}

TEST(Store, IsCreatedOnceAndKeepsItsIdentity) {
  TemporaryFolder folder;
  const auto root = folder.path() / "results" / "a";

  Store::open_or_create(root);
  const std::string described = read_text_file(root / "STORE.json");
  Store::open_or_create(root);

  EXPECT_NE(described.find(R"("uuid": ")"), std::string::npos) << described;
  EXPECT_EQ(read_text_file(root / "STORE.json"), described);
  struct stat about{};
  ASSERT_EQ(stat((root / "STORE.json").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0027U, 0U);
  ASSERT_EQ(stat(root.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0022U, 0U);
}

TEST(Store, ThatIsThereIsAskedForItsIdentityOnce) {
  const TemporaryFolder folder;
  const auto root = folder.path() / "s";
  const PretendedFs disk;
  int opened = 0;
  disk.state().before = [&](const PretendedFs::Call& call) {
    opened += call.name == "open" && call.path == root / "STORE.json" ? 1 : 0;
  };
  Store::open_or_create(root, FileAccess::Owner, disk);
  EXPECT_LE(opened, 2) << "a new one, which another creator may have named";
  opened = 0;
  Store::open_or_create(root, FileAccess::Owner, disk);
  EXPECT_EQ(opened, 1);
  opened = 0;
  Store::open_or_create(root, FileAccess::Group, disk);
  EXPECT_EQ(opened, 1) << "that becomes its group's";
  EXPECT_EQ(Store::open(root, disk).fs().access(), FileAccess::Group);
}

TEST(Store, OfManyCreatorsHasOneIdentity) {
  TemporaryFolder folder;
  const auto root = folder.path() / "s";
  std::vector<pid_t> children;
  for (int p = 0; p < 6; ++p) {
    const pid_t pid = fork();
    if (pid == 0) {
      try {
        Store::open_or_create(root);
        publish_replace(folder.path() / std::to_string(p), read_text_file(root / "STORE.json"));
      } catch (...) {
        _exit(1);
      }
      _exit(0);
    }
    children.push_back(pid);
  }
  for (const pid_t pid : children) {
    int status = -1;
    waitpid(pid, &status, 0);
    EXPECT_EQ(status, 0);
  }

  for (int p = 0; p < 6; ++p) {
    EXPECT_EQ(read_text_file(folder.path() / std::to_string(p)),
              read_text_file(root / "STORE.json"));
  }
}

TEST(Store, OfAnEarlierFormatIsReadAndBecomesOneOfThisBeforeItIsWritten) {
  TemporaryFolder folder;
  const auto root = folder.path() / "s";
  Store::open_or_create(root);
  const std::string now = read_text_file(root / "STORE.json");
  std::string then = now;
  then.replace(then.find("\"version\": 2"), 12, "\"version\": 1");
  publish_replace(root / "STORE.json", then);
  Store::open(root);
  EXPECT_EQ(read_text_file(root / "STORE.json"), then) << "who reads changes nothing";
  Store::open_or_create(root);
  EXPECT_EQ(read_text_file(root / "STORE.json"), now) << "the same store";
}

TEST(Store, ThatIsAbsentDamagedOrNewerIsRefusedByCode) {
  TemporaryFolder folder;
  const auto root = folder.path() / "s";
  EXPECT_EQ(code_of([&] { Store::open(root); }), ExitCode::NoInput);
  Store::open_or_create(root);

  for (const char* text :
       {"", "{", "{}", R"({"format": "other", "version": 1})",
        R"({"format": "depthgrid-store", "version": 3, "uuid": "", "created": ""})"}) {
    publish_replace(root / "STORE.json", text);
    EXPECT_EQ(code_of([&] { Store::open(root); }), ExitCode::BadData) << text;
  }
  EXPECT_EQ(code_of([&] { Store::open_or_create(root); }), ExitCode::BadData) << "a newer one";
  publish_replace(root / "STORE.json", "{");
  EXPECT_EQ(code_of([&] { Store::open_or_create(root); }), ExitCode::Done) << "written anew";
  EXPECT_EQ(read_text_file(root / "STORE.json.damaged-1"), "{");
  std::filesystem::remove(root / "STORE.json");
  std::filesystem::create_directory(root / "STORE.json");
  EXPECT_EQ(code_of([&] { Store::open(root); }), ExitCode::BadData);
  EXPECT_EQ(code_of([&] { Store::open_or_create(root); }), ExitCode::Done);
}

TEST(Store, ThatOthersMayWriteToIsRefusedUnlessSticky) {
  TemporaryFolder folder;
  const auto open_to_group = folder.path() / "group";
  const auto sticky = folder.path() / "sticky";
  make_folders(open_to_group);
  make_folders(sticky);
  chmod(open_to_group.c_str(), 0770);
  chmod(sticky.c_str(), 01777);

  EXPECT_EQ(code_of([&] { Store::open_or_create(open_to_group); }), ExitCode::CantCreate);
  EXPECT_EQ(code_of([&] { Store::open_or_create(sticky); }), ExitCode::Done);
}

std::string message_of(const std::function<void()>& call) {
  try {
    call();
    return {};
  } catch (const StorageError& e) {
    EXPECT_EQ(e.code(), ExitCode::CantCreate) << e.what();
    return e.what();
  }
}

TEST(Store, ThatIsClosedToThisUserIsNotCalledAbsent) {
  const TemporaryFolder folder;
  const auto root = folder.path() / "s";
  Store::open_or_create(root);
  chmod(root.c_str(), 0750);
  const PretendedFs disk;
  disk.state().closed = root;
  disk.state().owners[root] = 4000000001;

  for (const std::string& message :
       {message_of([&] { Store::is_at(root, disk); }), message_of([&] { Store::open(root, disk); }),
        message_of([&] { Store::open_or_create(root, FileAccess::Owner, disk); })}) {
    EXPECT_NE(message.find(root.string() + " belongs to uid 4000000001, mode 0750"),
              std::string::npos)
        << message;
    EXPECT_NE(message.find("--shared-group"), std::string::npos) << message;
  }
  EXPECT_FALSE(Store::is_at(folder.path() / "none", disk));
  EXPECT_EQ(code_of([&] { Store::open(folder.path() / "none", disk); }), ExitCode::NoInput);
}

TEST(Store, WhosePlansCannotBeListedIsNotCalledEmpty) {
  const TemporaryFolder folder;
  const PretendedFs disk;
  const Store store = Store::open_or_create(folder.path() / "s", FileAccess::Owner, disk);
  EXPECT_FALSE(has_plan(store));
  disk.state().closed = store.root();
  EXPECT_THROW(has_plan(store), StorageError);
}

TEST(Store, IsMadeByTheSameCommandWhicheverCallHasFailed) {
  fail_at_each_call(
      EIO,
      [&](const Fs& disk) {
        const TemporaryFolder folder;
        const auto root = folder.path() / "s";
        const ExitCode code =
            code_of([&] { Store::open_or_create(root, FileAccess::Owner, disk); });
        EXPECT_TRUE(code == ExitCode::Done || code == ExitCode::CantCreate);
        return std::pair(code, code_of([&] { Store::open_or_create(root); }));
      },
      [](const PretendedFs& disk, const std::pair<ExitCode, ExitCode>& codes) {
        const std::string call = disk.state().failed.name;
        EXPECT_EQ(codes.second, ExitCode::Done) << call;
        if (call.empty()) {
          EXPECT_EQ(codes.first, ExitCode::Done);
        }
      });
}

/// Modes of everything in a folder that differ from those of a shared store.
std::vector<std::string> private_parts(const std::filesystem::path& folder) {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const auto about = real_fs().facts(entry.path(), Links::Stay).value;
    const std::uint32_t wanted = about.kind == FileKind::Folder ? 02770 : 0660;
    if ((about.mode & wanted) != wanted) out.push_back(entry.path().string());
  }
  return out;
}

TEST(Store, ThatIsSharedIsItsGroupsWhateverTheUmask) {
  const TemporaryFolder folder;
  const auto root = folder.path() / "s";
  Store::open_or_create(root, FileAccess::Group);
  const Store store = Store::open(root);
  EXPECT_EQ(store.fs().access(), FileAccess::Group);
  umask(077);
  publish_plan(store, synthetic_sweep({1e-3}));
  store.publish_failure(kCell, 1, CellStatus::Failed, "{}");
  store.pin_corpus("tiny", std::string(64, 'a'));
  store.freeze_text("text", "words");
  Journal(store.cell_dir(kCell) / "journal-000001", {1, 0, {}, "{}"}, {}, store.fs());
  publish_checkpoint(store.cell_dir(kCell), 1, {1, "cafe", {}, {}, {}}, 2, {}, store.fs());
  LeaseKeeper({}, store.fs()).try_acquire(store.cell_dir(kCell));

  EXPECT_EQ(private_parts(root), std::vector<std::string>());
  EXPECT_EQ(real_fs().facts(root, Links::Stay).value.mode, 02770U);
  EXPECT_EQ(&Store::fs_at(root), &store.fs());
  Store::open_or_create(root);
  EXPECT_EQ(umask(027), 007U) << "by what the store says, for logs";
}

TEST(Store, OfOneUserBecomesSharedWithAllThatIsInIt) {
  const TemporaryFolder folder;
  const auto root = folder.path() / "s";
  const Store before = Store::open_or_create(root);
  publish_plan(before, synthetic_sweep({1e-3}));
  before.publish_failure(kCell, 1, CellStatus::Failed, "{}");
  EXPECT_EQ(before.fs().access(), FileAccess::Owner);
  EXPECT_FALSE(private_parts(root).empty());
  const std::string identity = read_text_file(root / "STORE.json");

  const Store shared = Store::open_or_create(root, FileAccess::Group);

  EXPECT_EQ(private_parts(root), std::vector<std::string>());
  EXPECT_EQ(shared.fs().access(), FileAccess::Group);
  const std::string now = read_text_file(root / "STORE.json");
  const std::string uuid = identity.substr(identity.find("\"uuid\""), 46);
  EXPECT_NE(now.find(uuid), std::string::npos) << now;
  EXPECT_NE(now.find("\"access\": \"group\""), std::string::npos) << now;
  EXPECT_EQ(Store::open_or_create(root).fs().access(), FileAccess::Group) << "and stays so";
  chmod(root.c_str(), 02777);
  EXPECT_EQ(code_of([&] { Store::open_or_create(root); }), ExitCode::CantCreate) << "to all";
}

TEST(Store, OfAFormatWithoutAccessIsItsOwners) {
  const TemporaryFolder folder;
  const auto root = folder.path() / "s";
  Store::open_or_create(root);
  publish_replace(root / "STORE.json",
                  R"({"format": "depthgrid-store", "version": 2, "uuid": "u", "created": "c"})");
  EXPECT_EQ(Store::open_or_create(root).fs().access(), FileAccess::Owner);
}

TEST(Store, WhereNothingCanBeMadeIsRefused) {
  TemporaryFolder folder;
  publish_replace(folder.path() / "file", "x");

  EXPECT_EQ(code_of([&] { Store::open_or_create(folder.path() / "file"); }), ExitCode::CantCreate);
  EXPECT_EQ(code_of([] { Store::open_or_create("/proc/depthgrid"); }), ExitCode::CantCreate);
}

TEST(Store, CellFoldersAreNamedByIdAndMadeOnDemand) {
  TemporaryFolder folder;
  const Store store = Store::open_or_create(folder.path() / "s");
  EXPECT_FALSE(std::filesystem::exists(store.cell_path(kCell)));

  const auto cell = store.cell_dir(kCell);

  EXPECT_EQ(cell, store.root() / "cells" / "01" / kCell);
  EXPECT_TRUE(std::filesystem::is_directory(cell));
  for (const char* bad :
       {"", "..", "0123456789AB", "0123456789abc", "../../../etc", "0123456789a/"}) {
    EXPECT_EQ(code_of([&] { store.cell_dir(bad); }), ExitCode::Usage) << bad;
  }
}

TEST(Store, ACellIsDoneWhenItsResultIsThereAndSound) {
  TemporaryFolder folder;
  Store store = Store::open_or_create(folder.path() / "s");
  const Sweep sweep = synthetic_sweep({1e-3, 1e-2});
  publish_plan(store, sweep);
  const StoredPlan plan = read_plan(store);
  const auto kind = [&](std::size_t row) { return store.result(plan.cells[row].id).kind; };
  const auto file = [&](std::size_t row) {
    return store.cell_dir(plan.cells[row].id) / "result.h5";
  };
  EXPECT_EQ(kind(0), ResultState::Kind::Absent);
  finish_cell(store, plan, 0, 10);
  EXPECT_TRUE(store.completed(plan.cells[0].id));
  const auto whole = read_file(file(0));

  publish_once(file(1), "x");
  EXPECT_EQ(kind(1), ResultState::Kind::Damaged);
  overwrite(file(1), whole);
  EXPECT_EQ(kind(1), ResultState::Kind::Damaged) << "the sealed result of another cell";
  EXPECT_NE(store.result(plan.cells[1].id).problem.find("holds cell " + plan.cells[0].id),
            std::string::npos);
  std::filesystem::remove(file(1));
  std::filesystem::create_directory(file(1));
  EXPECT_EQ(kind(1), ResultState::Kind::Damaged) << "a folder";
  std::filesystem::remove(file(1));
  std::filesystem::create_symlink(file(0), file(1));
  EXPECT_EQ(kind(1), ResultState::Kind::Damaged) << "a link";

  auto damaged = whole;
  damaged[damaged.size() / 2] ^= std::byte{1};
  overwrite(file(0), damaged);
  EXPECT_FALSE(store.completed(plan.cells[0].id)) << "also when it was found sound before";
  damaged = whole;
  damaged[100] ^= std::byte{1};
  overwrite(file(0), damaged);
  EXPECT_EQ(kind(0), ResultState::Kind::Damaged) << "in the seal's own block";
  overwrite(file(0), whole);
  EXPECT_TRUE(store.completed(plan.cells[0].id));
}

TEST(Store, TellsTheNewestFailure) {
  TemporaryFolder folder;
  const Store store = Store::open_or_create(folder.path() / "s");
  EXPECT_FALSE(store.newest_failure(kCell).has_value());
  store.publish_failure(kCell, 2, CellStatus::Failed, R"({"message": "first"})");
  store.publish_failure(kCell, 10, CellStatus::Oom, R"({"peak": 5})");

  const auto failure = store.newest_failure(kCell);

  ASSERT_TRUE(failure.has_value());
  EXPECT_EQ(failure->generation, 10);
  EXPECT_EQ(failure->status, CellStatus::Oom);
  EXPECT_EQ(failure->json, R"({"peak":5})");
  EXPECT_THROW(store.publish_failure(kCell, 3, CellStatus::Completed, "{}"), Error);
  publish_replace(store.cell_dir(kCell) / "failed-000011.json", "garbage");
  const auto damaged = store.newest_failure(kCell);
  ASSERT_TRUE(damaged.has_value()) << "that it failed is in the name";
  EXPECT_EQ(damaged->generation, 11);
  EXPECT_EQ(damaged->status, CellStatus::Failed);
  EXPECT_NE(damaged->json.find("failed-000011.json: the report of this failure is damaged"),
            std::string::npos);
}

TEST(Store, PinsACorpusAndRefusesOtherBytesWithBothDigests) {
  TemporaryFolder folder;
  const Store store = Store::open_or_create(folder.path() / "s");
  EXPECT_FALSE(store.pinned_corpus("wikitext-2").has_value());
  store.pin_corpus("wikitext-2", "aaaa");
  store.pin_corpus("wikitext-2", "aaaa");

  try {
    store.pin_corpus("wikitext-2", "bbbb");
    FAIL() << "another corpus was accepted";
  } catch (const UserError& e) {
    EXPECT_EQ(e.code(), ExitCode::BadData);
    EXPECT_NE(std::string(e.what()).find("aaaa"), std::string::npos);
    EXPECT_NE(std::string(e.what()).find("bbbb"), std::string::npos);
    EXPECT_NE(std::string(e.what()).find("corpora/wikitext-2.json"), std::string::npos)
        << "nothing was trained, so it may be forgotten";
  }
  store.cell_dir(kCell);
  try {
    store.pin_corpus("wikitext-2", "bbbb");
    FAIL() << "another corpus was accepted";
  } catch (const UserError& e) {
    EXPECT_EQ(std::string(e.what()).find("delete"), std::string::npos) << e.what();
  }
  EXPECT_EQ(store.pinned_corpus("wikitext-2"), "aaaa");
  EXPECT_EQ(code_of([&] { store.pin_corpus("../x", "a"); }), ExitCode::Usage);
  EXPECT_EQ(code_of([&] { store.pin_corpus(std::string(65, 'a'), "a"); }), ExitCode::Usage);
}

TEST(Store, FreezesATextAtItsFirstUse) {
  TemporaryFolder folder;
  const Store store = Store::open_or_create(folder.path() / "s");
  EXPECT_FALSE(store.read_text("self").has_value());

  EXPECT_EQ(store.freeze_text("self", "first"), "first");
  EXPECT_EQ(store.freeze_text("self", "later"), "first");

  EXPECT_EQ(store.read_text("self"), "first");
}

}  // namespace store_test
}  // namespace depthgrid
