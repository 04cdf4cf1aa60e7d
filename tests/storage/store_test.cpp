#include "storage/store.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/error.hpp"
#include "storage/files/publish.hpp"
#include "storage/files/sealed_file.hpp"
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
