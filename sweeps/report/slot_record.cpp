#include "sweeps/report/slot_record.hpp"

#include <fstream>
#include <string_view>
#include <system_error>

#include <nlohmann/json.hpp>

#include "core/base/json_text.hpp"
#include "storage/files/publish.hpp"

namespace depthgrid {
namespace {

namespace fs = std::filesystem;

fs::path slots_folder(const fs::path& store) {
  return store / "supervisors";
}

}  // namespace

void keep_slots(const fs::path& store, const SlotRecord& record) {
  make_folders(slots_folder(store));
  const nlohmann::ordered_json json = {{"schema", 1},
                                       {"cards", record.cards},
                                       {"slot_seconds", record.seconds},
                                       {"busy_seconds", record.busy},
                                       {"wall_seconds", record.wall}};
  const std::string text = json_text(json) + "\n";
  publish_replace(slots_folder(store) / (record.name + ".json"), std::string_view(text));
}

SlotSums slot_sums(const fs::path& store) {
  SlotSums out;
  std::error_code absent;
  for (const fs::directory_entry& entry : fs::directory_iterator(slots_folder(store), absent)) {
    if (entry.path().extension() != ".json" || !entry.is_regular_file(absent)) continue;
    std::ifstream in(entry.path());
    const auto json = nlohmann::json::parse(in, nullptr, /*allow_exceptions=*/false);
    if (!json.is_object()) continue;
    const auto number = [&](const char* name) {
      const auto at = json.find(name);
      return at != json.end() && at->is_number() ? at->get<double>() : 0.0;
    };
    out.seconds += number("slot_seconds");
    out.busy += number("busy_seconds");
    out.wall += number("wall_seconds");
    out.cards = out.cards || json.value("cards", nlohmann::json()) == true;
  }
  return out;
}

}  // namespace depthgrid
