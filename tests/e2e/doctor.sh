#!/usr/bin/env bash
# doctor: each finding has a cure; problems give exit 1; the site profile is a base of sweeps.
. "$(dirname "$0")/common.sh"
export TMPDIR=$scratch
mkdir fakes
PATH=$scratch/fakes:$PATH

# Slurm's commands as they answer on a cluster; no controller is needed.
fake() { printf '#!/bin/sh\n%s\n' "$2" >"fakes/$1"; chmod +x "fakes/$1"; }
fake sbatch 'echo "slurm-wlm 22.05.8"'
fake sacctmgr 'printf "200\n"'
fake scontrol '[ "$2" = config ] || { printf "PartitionName=gpu\n   GraceTime=0 PreemptMode=REQUEUE\n"; exit; }
printf "KillWait                = 30 sec\n"
printf "MaxArraySize            = 1001\nMpiDefault              = pmix\nPreemptMode             = REQUEUE\n"'
fake srun 'printf "MPI plugin types are...\n\tpmi2\n\tpmix\n" >&2'
fake sinfo 'printf "cpu*|8|64|256000|(null)|infinite\ngpu|4|32|512000|gpu:a100:4|1:00:00\n"'

expect 0 "$depthgrid" doctor store --json --site cluster.yaml
check 'j["schema"] == 1 and j["problems"] == 0'
check 'all({"check", "result", "seen", "cure"} <= set(f) for f in j["findings"])'
check 'all(f["cure"] for f in j["findings"] if f["result"] != "ok")'
check '{"file system", "permissions", "free space", "clock", "locks", "cores", "memory", "/dev/shm", "umask", "GPUs", "NCCL", "NCCL between GPUs", "Slurm", "job arrays", "submit limit", "KillWait", "GraceTime of gpu"} <= {f["check"] for f in j["findings"]}'
check 'any(f["check"] == "GraceTime of gpu" and f["result"] == "warning" and "slurm.signal_delay (180 s)" in f["cure"] for f in j["findings"])'
check 'any(f["check"] == "submit limit" and "200" in f["seen"] for f in j["findings"])'
if [ -x "$build/depthgrid-worker" ] && command -v mpirun >/dev/null; then
  check 'any(f["check"] == "two ranks" and "trained" in f["seen"] for f in j["findings"])'
fi
[ ! -e store ] || fail "doctor has written a store"
[ -z "$(find . -maxdepth 1 -name 'depthgrid-doctor.*')" ] || fail "doctor has left its trial"
grep -q 'partition: gpu' cluster.yaml || fail "the profile has no partition"
{ echo 'base: cluster.yaml'; cat "$sources/configs/tiny.yaml"; } >sweep.yaml
expect 0 "$depthgrid" validate sweep.yaml
expect 0 "$depthgrid" doctor store --site cluster.yaml >/dev/null
echo 'name: mine' >mine.yaml
expect 73 "$depthgrid" doctor store --site mine.yaml
says err "is not from doctor"

# A controller that cannot be reached, a worker that is absent, a corpus folder that is none.
fake scontrol 'echo "slurm_load_ctl_conf error: Unable to contact slurm controller (connect failure)" >&2; exit 1'
alone
export DEPTHGRID_DATA=/nowhere/at/all
expect 1 alone/depthgrid doctor
says out "Unable to contact slurm controller"
says out "depthgrid-worker is not beside depthgrid"
says out "which is no folder"
echo "doctor: ok"
