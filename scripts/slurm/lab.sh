#!/usr/bin/env bash
# A private Slurm cluster of virtual nodes on this machine, to try a submission and to test it:
#   lab.sh start DIR [NODES [GPUS [PORT]]]   0.8 s to 4 idle nodes of 8 cores and 4 pretended GPUs each; it listens at
#                                            PORT and the NODES after it (default: where nobody listens)
#   eval "$(lab.sh env DIR)"                 from now on this shell's sbatch, squeue, … mean that cluster
#   lab.sh stop DIR
#   lab.sh kill DIR NODE                     as if NODE had lost its power: its slurmd and all processes of its tasks
#   lab.sh revive DIR NODE                   starts its slurmd again
# Of `start`, in the environment: LAB_MAX_ARRAY_SIZE (1001), LAB_KILL_WAIT (3 s), LAB_GRACE (20 s), LAB_MAX_TIME (2-0, of
# partition gpu) and LAB_CTLD_PARAMETERS (preempt_send_user_signal; "none": preempted tasks get no signal of their own).
# It needs the Debian packages slurm-wlm and munge (scripts/setup.sh installs them), no root, no systemd, no control
# groups. It has a munged of its own and touches no Slurm that the machine may belong to.
# Tried with Slurm 22.05.8, munge 0.5.15, Open MPI 4.1.4, PMIx 4.2.2.
set -euo pipefail
usage() {
  sed -n '2,10s/^# //p' "${BASH_SOURCE[0]}" >&2
  exit 2
}
[ $# -ge 2 ] || usage
verb=$1
mkdir -p "$2"
dir=$(cd "$2" && pwd)
nodes=${3:-4} gpus=${4:-4} port=${5:-}
export PATH=$PATH:/usr/sbin:/sbin SLURM_CONF=$dir/slurm.conf

stop() {
  local file pid pids=()
  for file in "$dir"/slurmd.*.pid "$dir"/ctld.pid "$dir"/munged.pid; do
    [ -s "$file" ] || continue
    pids+=("$(cat "$file")")
    kill "${pids[-1]}" 2>/dev/null || true
  done
  # They write their state before they end.
  for pid in ${pids[@]+"${pids[@]}"}; do
    for _ in $(seq 50); do
      kill -0 "$pid" 2>/dev/null || break
      sleep 0.1
    done
  done
}

# Pids of a node: slurmd, its slurmstepds (they write to its log) and whatever descends from these.
pids_of() { # pids_of NODE
  local file=$dir/slurmd.$1.pid step
  {
    [ ! -s "$file" ] || cat "$file"
    for step in $(pgrep -x slurmstepd || true); do
      if find "/proc/$step/fd" -lname "$dir/log/slurmd.$1.log" 2>/dev/null | grep -q .; then echo "$step"; fi
    done
  } | awk 'NR == FNR { parent[$1] = $2; next } { root[$1] = 1 }
           END {
             for (pid in parent) {
               for (p = pid; p > 1 && !(p in root); p = parent[p]) { }
               if (p in root) print pid
             }
           }' <(ps -e -o pid= -o ppid=) -
}

case $verb in
  stop)
    stop
    exit 0
    ;;
  kill)
    [ $# -eq 3 ] || usage
    # Stopped first, so that none of them can react to the death of another.
    for signal in STOP KILL; do
      for pid in $(pids_of "$3"); do kill -"$signal" "$pid" 2>/dev/null || true; done
    done
    exit 0
    ;;
  revive)
    [ $# -eq 3 ] || usage
    exec slurmd -f "$dir/slurm.conf" -N "$3"
    ;;
  env)
    echo "export PATH=\$PATH:/usr/sbin SLURM_CONF=$dir/slurm.conf OMPI_MCA_pml=ob1 OMPI_MCA_btl=tcp,self"
    exit 0
    ;;
  start) ;;
  *) usage ;;
esac
for program in munged slurmctld slurmd sinfo; do
  command -v "$program" >/dev/null || {
    echo "lab.sh: $program is missing: apt-get install slurm-wlm munge" >&2
    exit 1
  }
done

me=$(id -un) host=$(hostname -s)
# port_in_use FIRST: prints the first port of the lab's at which somebody listens.
port_in_use() {
  local at
  for at in $(seq "$1" $(($1 + nodes))); do
    if (exec 3<>"/dev/tcp/127.0.0.1/$at") 2>/dev/null; then
      echo "$at"
      return
    fi
  done
}
if [ -s "$dir/ctld.pid" ] && kill -0 "$(cat "$dir/ctld.pid")" 2>/dev/null; then
  echo "lab.sh: there is a cluster at work in $dir; end it: lab.sh stop $dir" >&2
  exit 1
fi
if [ -z "$port" ]; then
  for _ in $(seq 20); do
    port=$((20000 + RANDOM % 12000)) # the kernel gives those from 32768 on to connections
    [ -n "$(port_in_use "$port")" ] || break
  done
fi
used=$(port_in_use "$port")
[ -z "$used" ] || {
  echo "lab.sh: somebody listens at port $used; name another PORT, or none" >&2
  exit 1
}
last=$((port + nodes))
mkdir -p "$dir/state" "$dir/log"
for i in $(seq "$nodes"); do
  mkdir -p "$dir/spool/n$i" "$dir/tmp/n$i" # slurmd makes one level only
done
if [ ! -s "$dir/munge.key" ]; then
  dd if=/dev/urandom of="$dir/munge.key" bs=128 count=1 2>/dev/null
  chmod 600 "$dir/munge.key"
fi
chmod go-w "$dir"

# A pretended GPU needs a character device behind it, whichever.
devices=(/dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/tty /dev/ptmx /dev/console)
: >"$dir/gres.conf"
for ((g = 0; g < gpus; g++)); do
  echo "NodeName=n[1-$nodes] Name=gpu Type=a100 File=${devices[$g]} Flags=nvidia_gpu_env" >>"$dir/gres.conf"
done
echo "CgroupPlugin=cgroup/v1" >"$dir/cgroup.conf"
# Nodes that share one kernel must look separate to Open MPI's shared memory and to NCCL.
cat >"$dir/taskprolog.sh" <<END
#!/bin/sh
echo "export OMPI_MCA_btl_vader_backing_directory=$dir/tmp/\$SLURMD_NODENAME"
echo "export NCCL_HOSTID=\$SLURMD_NODENAME"
END
chmod +x "$dir/taskprolog.sh"
resources="" type=""
if ((gpus > 0)); then
  resources="Gres=gpu:a100:$gpus" type="GresTypes=gpu"
fi
parameters=${LAB_CTLD_PARAMETERS:-preempt_send_user_signal}
if [ "$parameters" = none ]; then parameters=""; else parameters=SlurmctldParameters=$parameters; fi
cat >"$dir/slurm.conf" <<END
ClusterName=lab
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmUser=$me
SlurmdUser=$me
AuthType=auth/munge
AuthInfo=socket=$dir/munge.sock
CredType=cred/munge
MpiDefault=pmix
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
TaskProlog=$dir/taskprolog.sh
TmpFS=$dir/tmp/%n
SlurmctldPidFile=$dir/ctld.pid
SlurmdPidFile=$dir/slurmd.%n.pid
SlurmdSpoolDir=$dir/spool/%n
StateSaveLocation=$dir/state
SlurmctldLogFile=$dir/log/ctld.log
SlurmdLogFile=$dir/log/slurmd.%n.log
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=2,bf_interval=5,batch_sched_delay=0
$type
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
SlurmctldTimeout=30
SlurmdTimeout=20
MessageTimeout=10
KillWait=${LAB_KILL_WAIT:-3}
MinJobAge=300
ReturnToService=2
MaxArraySize=${LAB_MAX_ARRAY_SIZE:-1001}
JobRequeue=1
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
$parameters
SlurmdParameters=config_overrides
NodeName=n[1-$nodes] NodeHostname=$host NodeAddr=127.0.0.1 Port=[$((port + 1))-$last] CPUs=8 Sockets=1 CoresPerSocket=8 ThreadsPerCore=1 RealMemory=16000 $resources State=UNKNOWN
PartitionName=gpu Nodes=n[1-$nodes] Default=YES DefMemPerCPU=500 DefaultTime=10 MaxTime=${LAB_MAX_TIME:-2-0} PriorityTier=1 PreemptMode=REQUEUE GraceTime=${LAB_GRACE:-20} State=UP
PartitionName=high Nodes=n[1-$nodes] DefMemPerCPU=500 DefaultTime=10 MaxTime=2-0 PriorityTier=10 PreemptMode=OFF State=UP
END

munged --force --key-file="$dir/munge.key" --socket="$dir/munge.sock" --pid-file="$dir/munged.pid" \
  --log-file="$dir/log/munged.log" --seed-file="$dir/munge.seed"
slurmctld -f "$dir/slurm.conf"
for i in $(seq "$nodes"); do
  slurmd -f "$dir/slurm.conf" -N "n$i"
done
for _ in $(seq 30); do
  if [ "$(sinfo -h -N -t idle -o %N 2>/dev/null | sort -u | wc -l)" = "$nodes" ]; then
    sinfo -N -o '%N %t %c %m %G' | sort -u
    exit 0
  fi
  sleep 0.5
done
echo "lab.sh: the nodes did not become idle:" >&2
{ sinfo -R; tail -n 5 "$dir"/log/*.log; } >&2
stop
exit 1
