#!/bin/sh
# Runs a command whose environment holds it to an instruction set; 77, "skipped", where the processor lacks that.
#   for_isa.sh avx2 COMMAND…
set -eu
isa=$1
shift
if [ "$isa" != base ] && ! grep -qw "$isa" /proc/cpuinfo; then
  echo "skipped: this processor has no $isa"
  exit 77
fi
exec "$@"
