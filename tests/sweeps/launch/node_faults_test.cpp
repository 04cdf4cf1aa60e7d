#include "sweeps/launch/node_faults.hpp"

#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/base/json_text.hpp"
#include "storage/files/loose_text.hpp"
#include "storage/files/publish.hpp"
#include "tests/storage/temporary_folder.hpp"

namespace depthgrid {
namespace node_faults_test {

NodeFault fault(const std::string& node, const std::string& cause = "device") {
  return {.node = node,
          .cause = cause,
          .why = "the card is lost\nsaid the driver\n",
          .when = "2026-01-01T00:00:00Z",
          .task = "7_1",
          .launch = "0a1b"};
}

std::vector<NodeFault> faults(std::int64_t n) {
  std::vector<NodeFault> out;
  for (std::int64_t i = 1; i <= n; ++i) out.push_back(fault("n" + std::to_string(i)));
  return out;
}

TEST(NodeFaults, TheFirstStaysAndLaterOnesAreCounted) {
  const TemporaryFolder store;
  EXPECT_TRUE(node_faults(store.path()).empty()) << "of a store that never had any";
  EXPECT_EQ(record_node_fault(store.path(), fault("n1")), 1);
  EXPECT_EQ(record_node_fault(store.path(), fault("n1", "program")), 2);
  EXPECT_EQ(record_node_fault(store.path(), fault("n1-a.b")), 1);
  EXPECT_EQ(record_node_fault(store.path(), fault("n1", "check")), 3);
  const auto all = node_faults(store.path());
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].node, "n1-a.b");
  EXPECT_EQ(all[0].times, 1);
  EXPECT_EQ(all[1].node, "n1");
  EXPECT_EQ(all[1].cause, "device");
  EXPECT_EQ(all[1].task, "7_1");
  EXPECT_EQ(all[1].times, 3);
  const auto json = parse_json(loose_text(store.path() / "nodes/n1.json"));
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["launch"], "0a1b");
}

TEST(NodeFaults, NobodyIsBlamedUnderANameThatIsNone) {
  const TemporaryFolder store;
  for (const char* name : {"", "..", "a/b", ".tmp-x", "a b", "n1\n"}) {
    EXPECT_EQ(record_node_fault(store.path(), fault(name)), 0) << name;
    EXPECT_FALSE(readmit_node(store.path(), name)) << name;
  }
  EXPECT_TRUE(node_faults(store.path()).empty());
}

TEST(NodeFaults, AReadmittedNodeBeginsAnewAndItsRecordsStay) {
  const TemporaryFolder store;
  record_node_fault(store.path(), fault("n1"));
  record_node_fault(store.path(), fault("n1"));
  record_node_fault(store.path(), fault("n11"));
  EXPECT_TRUE(readmit_node(store.path(), "n1"));
  EXPECT_FALSE(readmit_node(store.path(), "n1")) << "it is not left out any more";
  ASSERT_EQ(node_faults(store.path()).size(), 1U);
  EXPECT_EQ(node_faults(store.path())[0].node, "n11");
  EXPECT_EQ(record_node_fault(store.path(), fault("n1", "program")), 1);
  EXPECT_EQ(node_faults(store.path())[0].cause, "program");
  EXPECT_EQ(node_faults(store.path())[0].times, 1);
  EXPECT_TRUE(readmit_node(store.path(), "n1"));
  for (const char* name :
       {"n1.json.readmitted-1", "n1.json.2.readmitted-1", "n1.json.readmitted-2"}) {
    EXPECT_TRUE(std::filesystem::exists(store.path() / "nodes" / name)) << name;
  }
}

TEST(NodeFaults, ARecordThatCannotBeReadLeavesItsNodeOut) {
  const TemporaryFolder store;
  make_folders(store.path() / "nodes");
  publish_once(store.path() / "nodes/n1.json", "{\"schema\": 1, \"no");
  publish_once(store.path() / "nodes/.tmp-1-2.json", "{}");
  const auto all = node_faults(store.path());
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].node, "n1");
  EXPECT_EQ(all[0].cause, "unknown");
  EXPECT_TRUE(readmit_node(store.path(), "n1"));
}

TEST(NodeFaults, ATenthOfTheNodesMayBeLeftOutAndAtLeastOne) {
  EXPECT_EQ(most_left_out(4), 1);
  EXPECT_EQ(most_left_out(19), 1);
  EXPECT_EQ(most_left_out(20), 2);
  EXPECT_EQ(sweep_fault({}, 4, "st"), "");
  EXPECT_EQ(sweep_fault(faults(1), 4, "st"), "");
  EXPECT_EQ(sweep_fault(faults(2), 20, "st"), "");
  EXPECT_NE(sweep_fault(faults(2), 4, "st"), "");
  EXPECT_NE(sweep_fault(faults(3), 20, "st"), "");
  EXPECT_EQ(sweep_fault(faults(3), 0, "st"), "") << "nobody knows how many there are";
  EXPECT_NE(sweep_fault(faults(1), 1, "st"), "") << "no node would be left";
}

TEST(NodeFaults, TheFaultOfASweepNamesNodesCausesAndWhatToDo) {
  std::vector<NodeFault> all = faults(3);
  all[0].cause = "program";
  const std::string said = sweep_fault(all, 20, "my results");
  for (const char* words :
       {"3 of 20 nodes", "(device: n2, n3; program: n1)", "the card is lost said the driver",
        "depthgrid retry --node n1 --node n2 --node n3 'my results'"}) {
    EXPECT_NE(said.find(words), said.npos) << said;
  }
}

TEST(NodeFaults, AStatusNamesTheNodeTheReasonAndTheCommandThatReadmitsIt) {
  EXPECT_EQ(node_faults_text({}, "st"), "");
  EXPECT_EQ(node_faults_json({}), "[]");
  const std::string one = node_faults_text(faults(1), "st");
  for (const char* words : {"depthgrid retry --node n1 st", "device", "the card is lost"}) {
    EXPECT_NE(one.find(words), one.npos) << one;
  }
  const std::string two = node_faults_text(faults(2), "st");
  EXPECT_NE(two.find("depthgrid retry --node NODE st"), two.npos) << two;
  const auto json = parse_json(node_faults_json(faults(2)));
  EXPECT_EQ(json[1]["node"], "n2");
  EXPECT_EQ(json[1]["times"], 1);
}

}  // namespace node_faults_test
}  // namespace depthgrid
