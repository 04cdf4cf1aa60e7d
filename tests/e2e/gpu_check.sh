#!/usr/bin/env bash
# The quarter of an hour on a GPU, rehearsed without one: from the unpacked bundle in an empty environment.
. "$(dirname "$0")/common.sh"
torch=$(sed -n 's/^TORCH_CPU_LIBRARY:[A-Z]*=\(.*\)\/libtorch_cpu\.so$/\1/p' "$build/CMakeCache.txt")
if [ ! -e "$build/libdepthgrid_cuda.so" ]; then
  echo "gpu_check: skipped, this build has no GPU part"
  exit 0
fi
"$sources/scripts/bundle.sh" --tests --build "$build" "$scratch/packed.tar.gz" >out 2>err || fail "scripts/bundle.sh --tests"
[ "$(stat -c %s packed.tar.gz)" -lt 50000000 ] || fail "the bundle is too large for a lent machine"
tar -xzf packed.tar.gz
bundle=$(echo "$scratch"/depthgrid-*)
bare() { env -i HOME="$scratch" PATH=/usr/bin:/bin TORCH_LIB="$torch" "$@"; }
shows() { grep -Eq -- "^$1" out || fail "no row \"$1\""; }
gpu() { bare "$bundle/gpu_check.sh" "$@"; }

expect 2 gpu hour
expect 78 bare TORCH_LIB=/nowhere "$bundle/gpu_check.sh" correct
says err 'torch in /nowhere is not there'

# A gate that passes, rows that depend on it, rows that need a card.
expect 0 gpu correct --device cpu --only 'equal runs' --out result
grep -Eq '^tiny +ok ' result/correct.txt || fail "tiny did not pass"
grep -Eq '^equal runs +ok .*the same bits' result/correct.txt || fail "two equal runs differ"
[ "$(grep -c '"state": "ok"' result/correct.jsonl)" = 2 ] || fail "the rows are not in the JSON file"
[ "$(find result -type f | wc -l)" = 3 ] || fail "more files than three"
expect 0 gpu correct --device cpu --only memcheck --out result
shows 'memcheck +not run .*no GPU in a rehearsal'

# A deadline: what is not reached is said, and the exit code says it, too.
expect 1 gpu correct --device cpu --only equal --deadline 0.5 --out result
shows 'tiny +NOT REACHED'
shows 'equal runs +NOT REACHED'

# A missing library leaves the other rows as they are.
mv "$bundle/bin/libdepthgrid_cuda.so" plugin
expect 1 gpu correct --device cpu --only libraries --out result
shows 'libraries +FAILED'
expect 0 gpu correct --device cpu --only kernels --out result
shows 'kernels +ok'
mv plugin "$bundle/bin/libdepthgrid_cuda.so"

expect 0 gpu fast --device cpu --only 'step standard E=8' --out result
shows 'step standard E=8 fp32 +ok .*ms per cell-step'

# Without a GPU a test that needs one is skipped and says why; as a rehearsal it runs.
expect 0 bare "$bundle/gpu_test" --gtest_filter='*OptimizerOnGpu*'
if [ ! -e /dev/nvidia0 ]; then
  says out 'no GPU: '
  says out 'SKIPPED'
  # Where a GPU is expected, a test that was skipped has shown nothing.
  expect 1 bare DEPTHGRID_EXPECT_GPU=1 "$bundle/gpu_test" --gtest_filter='*OptimizerOnGpu*'
  says out 'no GPU: '
fi
expect 0 bare DEPTHGRID_GPU_REHEARSAL=1 "$bundle/gpu_test" --gtest_filter='*OptimizerOnGpu*:*ModelOnGpu.*/standard_plain'
grep -q SKIPPED out && fail "the rehearsal skips"
"$sources/tests/e2e/gpu_check.py" "$sources/scripts/gpu_check" >out 2>&1 || { cat out; fail "a difference is not found"; }
echo "gpu_check: ok"
