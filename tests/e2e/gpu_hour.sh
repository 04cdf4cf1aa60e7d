#!/usr/bin/env bash
# The first hour on a GPU, rehearsed without one: from the unpacked bundle, in its short form.
. "$(dirname "$0")/common.sh"
torch=$(sed -n 's/^TORCH_CPU_LIBRARY:[A-Z]*=\(.*\)\/libtorch_cpu\.so$/\1/p' "$build/CMakeCache.txt")
if [ ! -e "$build/libdepthgrid_cuda.so" ]; then
  echo "gpu_hour: skipped, this build has no GPU part"
  exit 0
fi
"$sources/scripts/bundle.sh" --tests --build "$build" "$scratch/packed.tar.gz" >out 2>err || fail "scripts/bundle.sh --tests"
[ "$(stat -c %s packed.tar.gz)" -lt 64000000 ] || fail "the bundle is too large for a lent machine"
tar -xzf packed.tar.gz
bundle=$(echo "$scratch"/depthgrid-*)
bare() { env -i HOME="$scratch" PATH=/usr/bin:/bin TORCH_LIB="$torch" OMP_NUM_THREADS=1 "$@"; }
hour() { bare "$bundle/gpu_hour.sh" "$@"; }

expect 78 hour B
expect 0 hour A --device cpu --short --out "$scratch/hour"
tail -n 20 out >table
for section in libraries tiny twice; do
  grep -Eq "^$section +ok " table || fail "$section did not pass"
done
for section in nvidia-smi families gpu_test kill_and_resume out_of_memory sanitizer_memcheck; do
  grep -Eq "^$section +not run " table || fail "the table does not say that $section was not run"
done
says out '0 failed'
grep -q 'cell .*apart' out || fail "the table of losses is missing"

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

# A difference is found: gpu_hour.py must not call two different stores the same.
cd "$scratch/hour"
expect 0 python3 "$bundle/gpu_hour.py" same equal-1.json equal-2.json
sed 's/"train_loss": [0-9.]*/"train_loss": 9/' equal-2.json >other.json
expect 1 python3 "$bundle/gpu_hour.py" same equal-1.json other.json
expect 1 python3 "$bundle/gpu_hour.py" close equal-1.json other.json fp32=1e-4
echo "gpu_hour: ok"
