#!/usr/bin/env bash
# The first hour on a machine with a GPU, from an unpacked bundle (scripts/bundle.sh --tests).
#   ./gpu_hour.sh A [--device cuda|cpu] [--short] [--out FOLDER]
# A, correctness (8 minutes): is the GPU part loaded, do losses agree with those of the CPU, do kernels
# have the bits of the host, do runs repeat, resume and survive a lack of memory?
# gpu_test bounds how often a step waits for the device; how many nodes a step's CUDA graph has is bounded
# nowhere, since no step is recorded as a graph yet. The baselines of bench/ are for measured times, which
# are no part of A: the bundle does not contain them.
# --device cpu rehearses it without a GPU: it runs what can be run and names what was not.
# --short runs the quick sections only, for a test of this script.
# The tables come last. Exit code 1 if anything failed, 78 if it cannot begin.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
part=${1:-}
device=cuda short=0 out=$PWD/gpu_hour
[[ $part == A ]] || { echo "usage: $0 A [--device cuda|cpu] [--short] [--out FOLDER]" >&2; exit 78; }
shift
while (($#)); do
  case $1 in
    --device) device=${2:?--device wants cuda or cpu}; shift ;;
    --out) out=${2:?--out wants a folder}; shift ;;
    --short) short=1 ;;
    *) echo "$0: what is $1?" >&2; exit 78 ;;
  esac
  shift
done
[[ $device == cuda || $device == cpu ]] || { echo "$0: --device is cuda or cpu, not $device" >&2; exit 78; }
[[ -x $here/bin/gpu_test ]] || { echo "$0: no test programs here: pack them with scripts/bundle.sh --tests" >&2; exit 78; }
mkdir -p "$out"
cd "$out" || exit 73
python=${PYTHON:-python3}
export DEPTHGRID_TEST_SOURCES=$here/share/depthgrid OMP_NUM_THREADS=${OMP_NUM_THREADS:-1} OMP_WAIT_POLICY=PASSIVE
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
rows=() tables=() failed=0 began=$SECONDS

row() { rows+=("$(printf '%-34s %-8s %4s s  %s' "$1" "$2" "$3" "$4")"); }
not_run() { row "$1" "not run" - "$2"; echo "-- $1: not run: $2"; }

# section NAME LIMIT "what it shows" COMMAND...: runs it with a limit in seconds; its output goes to NAME.log.
section() {
  local name=$1 limit=$2 shows=$3 start=$SECONDS code=0
  shift 3
  echo "-- $name ..."
  timeout -k 5 "$limit" "$@" >"$name.log" 2>&1 </dev/null || code=$?
  if ((code == 0)); then
    row "$name" ok $((SECONDS - start)) "$shows"
  else
    failed=$((failed + 1))
    row "$name" FAILED $((SECONDS - start)) "exit code $code, see $name.log: $shows"
    tail -n 15 "$name.log" | sed 's/^/   | /'
  fi
}
export here device python

# --- helpers of sections; each runs in a bash of its own -------------------------------------------
train() { # train STORE DEVICE FILE [OPTION...]: then STORE.json has the results
  local store=$1 on=$2 file=$3
  shift 3
  rm -rf "$store"
  "$here/depthgrid" run "$file" --store "$store" -q --set resources.device="$on" "$@" &&
    "$here/depthgrid" results "$store" --json >"$store.json"
}
libraries() {
  local libraries=$TORCH_LIB undefined
  for folder in "$TORCH_LIB"/../../nvidia/*/lib; do libraries=$libraries:$folder; done
  undefined=$(LD_LIBRARY_PATH=$libraries:$here/lib ldd -r "$here/bin/libdepthgrid_cuda.so" 2>&1 |
    grep -E 'undefined symbol|not found' | grep -v 'libcuda\.so')
  echo "${undefined:-every library and symbol is found}"
  [[ -z $undefined ]]
}
tiny() {
  train tiny-cpu cpu "$here/configs/tiny.yaml" && train "tiny-$device-2" "$device" "$here/configs/tiny.yaml" &&
    "$python" "$here/gpu_hour.py" close tiny-cpu.json "tiny-$device-2.json" fp32=1e-4
}
families() {
  cat >families.yaml <<'Y'
name: families
description: every family and precision for twenty steps
model: {d_model: 32, n_layers: 3, n_heads: 2}
data: {corpus: "synthetic:markov", synthetic: {vocab_size: 16, tokens: 20000}, seq_len: 16}
train: {steps: 20, batch_size: 4, lr: 1e-3}
eval: {every: null, windows: 16, final_windows: 64}
parameters:
  train.precision: [fp32, bf16]
  model.family: [standard, time_indexed, tong, hybrid_ode, tdt, mod]
seeds: 1
Y
  train families-cpu cpu families.yaml && train "families-$device-2" "$device" families.yaml &&
    "$python" "$here/gpu_hour.py" close families-cpu.json "families-$device-2.json" fp32=1e-4,bf16=2e-2,choice=2e-2
}
unskipped() { # unskipped COMMAND...: fails also if a test was skipped, which has shown nothing
  local code=0
  DEPTHGRID_EXPECT_GPU=$([[ $device == cuda ]] && echo 1) DEPTHGRID_GPU_REHEARSAL=$([[ $device == cpu ]] && echo 1) \
    "$@" >tests.txt 2>&1 || code=$?
  cat tests.txt
  ((code == 0)) && ! grep -q SKIPPED tests.txt
}
gpu_tests() { unskipped "$here/gpu_test" --gtest_brief=1; }
sanitizer() { # sanitizer TOOL
  unskipped compute-sanitizer --tool "$1" --error-exitcode 1 "$here/gpu_test" --gtest_brief=1 \
    --gtest_filter='*OptimizerOnGpu*'
}
twice() {
  train equal-1 "$device" "$here/configs/tiny.yaml" && train equal-2 "$device" "$here/configs/tiny.yaml" &&
    "$python" "$here/gpu_hour.py" same equal-1.json equal-2.json && echo "the same bits"
}
kill_session() { # kill_session ID: with kill -9, the children first (their groups are their own)
  local file line fields pids=()
  for file in /proc/[0-9]*/stat; do
    read -r line <"$file" 2>/dev/null || continue
    read -ra fields <<<"${line##*) }" # state, parent, group, session
    [[ ${fields[3]} == "$1" ]] && pids=("$(basename "$(dirname "$file")")" "${pids[@]}")
  done
  kill -9 "${pids[@]}" 2>/dev/null
}
resumed() {
  local options=(--set train.steps=400 --set checkpoint.every=20 --set eval.every=50) run
  train straight "$device" "$here/configs/tiny.yaml" "${options[@]}" || return 1
  rm -rf killed
  for _ in 1 2; do
    local before
    before=$(find killed -name 'ckpt-*.h5' 2>/dev/null | sort)
    setsid "$here/depthgrid" run "$here/configs/tiny.yaml" --store killed -q --set resources.device="$device" "${options[@]}" &
    run=$!
    for _ in $(seq 1200); do
      [[ $(find killed -name 'ckpt-*.h5' 2>/dev/null | sort) != "$before" ]] && break
      sleep 0.05
    done
    kill_session "$run"
    wait "$run" 2>/dev/null
  done
  "$here/depthgrid" run "$here/configs/tiny.yaml" --store killed -q --set resources.device="$device" "${options[@]}" &&
    "$here/depthgrid" results killed --json >killed.json || return 1
  (($(find killed -name 'journal-*' | wc -l) > 4)) || { echo "no attempt was interrupted"; return 1; }
  "$python" "$here/gpu_hour.py" same straight.json killed.json && echo "the same bits"
}
out_of_memory() { # two cells of 400 MB each in less than 1.2 GB of the card
  cat >large.yaml <<'Y'
name: large
model: {family: standard, d_model: 1024, n_layers: 2, n_heads: 2}
data: {corpus: "synthetic:markov", synthetic: {vocab_size: 16, tokens: 4000}, seq_len: 4}
train: {steps: 2, batch_size: 1}
eval: {every: null, at_start: false, windows: 2, final_windows: 2, batch_size: 1}
packing: {fuse: 2}
seeds: 2
Y
  local total check unaudited=()
  # The audit would need memory and time before a cell does, and is not what is tried here.
  # shellcheck disable=SC2016  # backquotes of Markdown
  for check in $("$here/depthgrid" schema --markdown | sed -n 's/^| `\(audit\.[a-z_]*\)`.*/\1/p'); do
    unaudited+=(--set "$check=off")
  done
  ((${#unaudited[@]})) || return 1
  total=$(nvidia-smi --query-gpu=memory.total --format=csv,noheader,nounits | head -1)
  rm -rf large
  PYTORCH_CUDA_ALLOC_CONF=per_process_memory_fraction:$(awk -v t="$total" 'BEGIN { printf "%.5f", 650 / t }') \
    "$here/depthgrid" run large.yaml --store large --set resources.device=cuda "${unaudited[@]}" 2>&1 | tee large.txt
  grep -q 'split in two' large.txt && "$here/depthgrid" results large --json | grep -c '"completed"' | grep -qx 2
}
export -f train libraries tiny families unskipped gpu_tests sanitizer twice kill_session resumed out_of_memory

# --- A -------------------------------------------------------------------------------------------
if [[ -z ${TORCH_LIB:-} ]]; then
  TORCH_LIB=$("$python" -c '
import importlib.util
spec = importlib.util.find_spec("torch")
print(spec.submodule_search_locations[0] + "/lib" if spec else "")' 2>/dev/null)
  export TORCH_LIB
fi
[[ -e $TORCH_LIB/libtorch_cpu.so ]] || { echo "$0: no torch 2.11.0: name its Python (PYTHON=...) or TORCH_LIB=..." >&2; exit 78; }
echo "gpu_hour $part on $(uname -n), device $device, $(date -u +%FT%TZ), results in $out"
if [[ $device == cuda ]]; then
  section nvidia-smi 30 "the driver answers" nvidia-smi
else
  not_run nvidia-smi "no GPU in a rehearsal"
fi
section libraries 60 "the GPU part finds every library and symbol (ldd -r)" bash -c libraries
section tiny 90 "losses of tiny.yaml within 1e-4 of the CPU's" bash -c tiny
tables+=(tiny)
section twice 90 "two equal runs have the same bits" bash -c twice
if ((short)); then
  for name in families gpu_test kill_and_resume models_test core_test distributed_test; do not_run "$name" "--short"; done
else
  section families 180 "six families, fp32 and bf16, 20 steps, against the CPU" bash -c families
  tables+=(families)
  section gpu_test 240 "Adam's bits, waits, NaN neighbours, E = 1, 7, 32$([[ $device == cpu ]] && echo '; the CPU against itself')" bash -c gpu_tests
  tables+=(gpu_test)
  section kill_and_resume 120 "killed twice and resumed: the bits of a straight run" bash -c resumed
  section models_test 200 "operations and models on this CPU" "$here/models_test" --gtest_brief=1 \
    --gtest_filter='References/Golden.*:*PerCellNorm*:CellEmbedding.*:DepthProduct.*:ZeroOrderHold.*'
  section core_test 120 "the optimiser on this CPU" "$here/core_test" --gtest_brief=1 --gtest_filter='*Adam*:*ArenaStep*:*CellOptimizer*'
  section distributed_test 120 "two ranks" env DEPTHGRID_EXPECT_RANKS=2 "$here/mpirun" -np 2 "$here/bin/distributed_test" --gtest_brief=1
fi
if [[ $device == cpu ]]; then
  not_run out_of_memory "needs a GPU's memory (on the CPU: tests/e2e/out_of_memory.sh)"
elif ((short)); then
  not_run out_of_memory "--short"
else
  section out_of_memory 120 "a job that does not fit on the card is split" bash -c out_of_memory
fi
for tool in memcheck racecheck synccheck initcheck; do
  if [[ $device == cpu ]]; then
    not_run "sanitizer_$tool" "no GPU in a rehearsal"
  elif ((short)) || ! command -v compute-sanitizer >/dev/null; then
    not_run "sanitizer_$tool" "$( ((short)) && echo --short || echo 'no compute-sanitizer in PATH')"
  else
    section "sanitizer_$tool" 120 "kernels of the optimiser" bash -c "sanitizer $tool"
  fi
done

for name in "${tables[@]}"; do
  printf '\n== %s\n' "$name"
  grep -E '^(cell |\||[a-z_]+=|hidden)' "$name.log"
done
printf '\n== gpu_hour %s, device %s\n' "$part" "$device"
printf '%s\n' "${rows[@]}"
printf '%d failed, %d s\n' "$failed" $((SECONDS - began))
((failed == 0))
