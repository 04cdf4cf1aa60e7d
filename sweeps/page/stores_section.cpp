#include <cstddef>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "sweeps/page/answer_sentence.hpp"
#include "sweeps/page/effects_blocks.hpp"
#include "sweeps/page/page_commands.hpp"
#include "sweeps/page/page_sections.hpp"

namespace depthgrid {

PageBlocks stores_section(const PageData& data) {
  PageBlocks out;
  for (std::size_t store = 0; store < data.by_store.size(); ++store) {
    const Comparison& arms = data.by_store[store];
    out.emplace_back(PageText{PageText::Kind::Heading, data.stores[store]});
    if (arms.effects.empty() || arms.effects.front().rows.empty()) {
      out.emplace_back(PageText{PageText::Kind::Paragraph, "No cell of it has a result."});
      continue;
    }
    const EffectTable& effects = arms.effects.front();
    if (std::string answer = answer_sentence(arms, effects); !answer.empty())
      out.emplace_back(PageText{PageText::Kind::Paragraph, std::move(answer)});
    const std::string command = store_command(data, store);
    add_blocks(out, effects_blocks(arms, effects, fmt::format("store-{}", store), command));
    out.emplace_back(PageText{PageText::Kind::Command, command});
  }
  return out;
}

}  // namespace depthgrid
