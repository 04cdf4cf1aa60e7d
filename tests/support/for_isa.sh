#!/bin/sh
# Runs a command whose environment holds it to an instruction set; 77, "skipped", where the processor lacks that,
# or where it is the best that the processor has: then the plain tests use it.
#   for_isa.sh avx2 COMMAND…
set -eu
isa=$1
shift
has() {
  for flag in "$@"; do grep -qw "$flag" /proc/cpuinfo || return 1; done
}
case $isa in
  avx2) has avx2 fma bmi1 bmi2 avx512f avx512bw avx512cd avx512dq avx512vl || exit 77 ;;
  base) has avx2 fma bmi1 bmi2 || exit 77 ;;
esac
exec "$@"
