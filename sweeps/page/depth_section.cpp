#include "sweeps/page/page_sections.hpp"
#include "sweeps/page/probe_blocks.hpp"

namespace depthgrid {

PageBlocks depth_section(const PageData& data) {
  return probe_blocks(data, ProbePart::Depth);
}

PageBlocks training_section(const PageData& data) {
  return probe_blocks(data, ProbePart::Training);
}

PageBlocks control_section(const PageData& data) {
  return probe_blocks(data, ProbePart::Control);
}

}  // namespace depthgrid
