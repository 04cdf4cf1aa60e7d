# Sourced by the scripts beside it: the step runner and the environment they share.
# Every step prints what it does and how long it took; a failing step names the command, the log and
# the likely cause.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
logs=$root/build/logs
venv=$root/.venv
cd "$root"

now() { date +%s.%N; }
elapsed() { awk -v a="$1" -v b="$(now)" 'BEGIN { printf "%.1f s", b - a }'; }
# Cores that this shell may use: nproc heeds OMP_NUM_THREADS, and does not know a container's share of time.
cores() {
  local most quota period
  most=$(env -u OMP_NUM_THREADS nproc)
  if read -r quota period </sys/fs/cgroup/cpu.max && [[ $quota =~ ^[0-9]+$ ]]; then
    quota=$(((quota + period - 1) / period))
    ((quota >= most)) || most=$quota
  fi 2>/dev/null
  echo "$most"
}
say() { printf '%s\n' "$*"; }
skip() { printf '== %s: %s\n' "$1" "$2"; }  # a step with nothing to do
# shellcheck disable=SC2034  # read by the scripts
script_start=$(now)

# What a line in a log usually means: pattern | cause. The first match wins.
readonly known_causes='
No space left on device|the disk is full (the Python packages and the build need about 8 GB)
Temporary failure in name resolution|no network, or no name server: setting up needs one the first time
Could not resolve|no network, or no name server: setting up needs one the first time
Network is unreachable|no network: setting up needs one the first time (a proxy is set by https_proxy)
Failed to establish a new connection|no network: setting up needs one the first time (a proxy is set by https_proxy)
CERTIFICATE_VERIFY_FAILED|certificates: install ca-certificates, or point PIP_CERT and SSL_CERT_FILE to your own
Could not get lock|another package manager is running: wait for it and start again
dpkg was interrupted|an earlier installation was cut off: run "dpkg --configure -a" as root
ensurepip is not available|the package python3-venv is missing
No matching distribution found|the package index has no such version for this Python (3.11 or newer, x86-64)
do not match the hashes|a damaged download: start again (pip cache purge helps if it repeats)
Killed signal terminated program|not enough memory for so many compilers at once: DEPTHGRID_JOBS=1
fatal error: Killed|not enough memory for so many compilers at once: DEPTHGRID_JOBS=1
is different than the directory .* where CMakeCache|the folder was moved or copied: remove build/ and start again
unsupported Microsoft Visual|the host compiler does not suit nvcc: DEPTHGRID_CUDA=OFF builds without it
unsupported GNU version|the host compiler is too new for nvcc: CUDAHOSTCXX=g++-12, or DEPTHGRID_CUDA=OFF
Could NOT find|a development package is missing: see the list that scripts/setup.sh printed
Permission denied|a file or folder that belongs to another user (was an earlier run made as root?)
'

explain() {  # explain LOG FALLBACK
  local pattern cause
  while IFS='|' read -r pattern cause; do
    if [[ -n $pattern ]] && grep -qE -- "$pattern" "$1" 2>/dev/null; then
      printf '%s' "$cause"
      return
    fi
  done <<<"$known_causes"
  printf '%s' "$2"
}

# step NAME "what it does" "likely cause of a failure" COMMAND...
# The output goes to build/logs/NAME.log; with SHOW=1 also to the terminal. A failure ends the
# script; with MAY_FAIL=1 it is reported and left in step_status. COMMAND may be a function: it runs in
# a subshell that exits at its first error (so never call step itself in a condition).
step() {
  local _what=$2 _cause=$3 _log=$logs/$1.log _start
  shift 3
  mkdir -p "$logs"
  printf '== %s ... (log: %s)\n' "$_what" "${_log#"$root/"}"
  _start=$(now)
  printf '$ %s\n' "$*" >"$_log"
  set +e
  if [[ ${SHOW:-0} == 1 ]]; then
    (set -e; "$@") 2>&1 | tee -a "$_log"
  else
    (set -e; "$@") >>"$_log" 2>&1 </dev/null
  fi
  step_status=$?
  set -e
  if ((step_status == 0)); then
    printf '   done in %s\n' "$(elapsed "$_start")"
    return 0
  fi
  {
    if [[ ${SHOW:-0} != 1 ]]; then
      echo "   the last lines of the log:"
      tail -n 15 "$_log" | sed 's/^/   | /'
    fi
    echo "FAILED after $(elapsed "$_start") (exit code $step_status): $_what"
    echo "   command:      $*"
    echo "   log:          $_log"
    echo "   likely cause: $(explain "$_log" "$_cause")"
  } >&2
  [[ ${MAY_FAIL:-0} == 1 ]] || exit "$step_status"
}

# part NAME COMMAND...: a part of a script, whose wall and CPU seconds (of every process that it waited for)
# print_parts shows; returns the command's exit code.
parts=()
part() {
  local _name=$1 _start _before _code=0
  shift
  _start=$(now)
  count_cpu
  _before=$cpu_seconds
  "$@" || _code=$?
  count_cpu
  parts+=("$(awk -v n="$_name" -v a="$_start" -v b="$(now)" -v c="$_before" -v d="$cpu_seconds" \
    'BEGIN { printf "   %-8s %7.0f s, %7.0f s of CPU", n, b - a, d - c }')")
  return "$_code"
}
count_cpu() {  # user and system seconds of this shell's children that have ended; a subshell would count its own
  mkdir -p "$logs"
  times >"$logs/times"
  cpu_seconds=$(awk 'NR == 2 { gsub("s", ""); split($1, u, "m"); split($2, s, "m")
    printf "%.2f", (u[1] + s[1]) * 60 + u[2] + s[2] }' "$logs/times")
}
print_parts() { printf '%s\n' "${parts[@]}"; }

# Allows mpirun as root, in containers and on machines with fewer cores than ranks; one thread per rank.
mpi_environment() {
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
  # Ranks beside other tests: one that waits lets others compute, wherever there is room.
  export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_hwloc_base_binding_policy=none
  export OMP_NUM_THREADS=1
}

# Prints the folder of WikiText-2, or nothing; searches the same places as the program.
find_wikitext() {
  local folder
  for folder in ${DEPTHGRID_DATA:+"$DEPTHGRID_DATA/wikitext-2"} "$root/data/wikitext-2"; do
    if [[ -r $folder/train.txt && -r $folder/valid.txt ]]; then
      printf '%s' "$folder"
      return 0
    fi
  done
  return 1
}

# Prints the CUDA toolkit of version 13.0 to build with, or nothing. setup.sh creates .venv/cuda.
find_cuda() {
  local home homes=(/usr/local/cuda /usr/local/cuda-13.0 "$venv/cuda")
  [[ -z ${DEPTHGRID_CUDA_HOME:-} ]] || homes=("$DEPTHGRID_CUDA_HOME")
  for home in "${homes[@]}"; do
    if [[ -x $home/bin/nvcc ]] && "$home/bin/nvcc" --version 2>/dev/null | grep -q 'release 13\.0'; then
      printf '%s' "$home"
      return 0
    fi
  done
  return 1
}
