#!/usr/bin/env python3
"""200 short cells as arrays on four virtual nodes, disturbed: two preemptions, a node killed, a supervisor killed, a time
limit. Every cell is completed once, with the bits of an undisturbed run. Prints what happened when.

usage: slurm_sweep.py BUILD_FOLDER SOURCE_FOLDER [CELLS]
"""
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

VARIABLES = ("train_loss", "train_grad_norm", "eval_loss", "final_loss", "weights_sha256")
NODES, CELLS_OF_A_TASK = 4, 10


def output(*command, code=0):
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != code:
        sys.exit(f"FAILED: {' '.join(map(str, command))} returned {done.returncode}, not {code}:\n{done.stdout}{done.stderr}")
    return done.stdout


class Timeline:
    def __init__(self):
        self.begin = time.monotonic()
        print(f"{'s':>5}  {'event':<52}  {'task':<6}  node", flush=True)

    def add(self, event, task="", node=""):
        print(f"{time.monotonic() - self.begin:5.0f}  {event:<52}  {task:<6}  {node}".rstrip(), flush=True)


class Queue:
    """Slurm's tasks of the partition gpu; tells of every task that leaves a node or comes back to one."""

    def __init__(self, timeline):
        self.timeline, self.before, self.disturbed = timeline, {}, {}

    def look(self):
        lines = output("squeue", "-h", "-r", "-p", "gpu", "-o", "%i|%T|%N|%S").splitlines()
        now = {task: (state, node) for task, state, node, _ in (line.split("|") for line in lines)}
        for task, (state, node) in self.before.items():
            after, there = now.get(task, ("gone", ""))
            if task not in self.disturbed or (after, there) == (state, node):
                continue
            if after == "PENDING" and state != "PENDING":
                self.timeline.add("  is back in the queue", task, node)
            elif after == "RUNNING" and state != "RUNNING":
                self.timeline.add("  starts again", task, there)
            elif after == "gone":
                self.timeline.add("  has ended", task, node)
        self.before = now
        for task, (state, _) in now.items():  # Slurm holds requeued tasks for two minutes
            if state == "PENDING" and task in self.disturbed:
                subprocess.run(["scontrol", "update", f"jobid={task}", "StartTime=now", "TimeLimit=10"],
                               capture_output=True, check=False)
        return now

    def running(self):
        return {task: node for task, (state, node) in self.look().items()
                if state == "RUNNING" and task not in self.disturbed}

    def victim(self):
        """A running task that nobody has disturbed yet and that has begun to train."""
        for _ in range(1200):
            running = sorted(self.running().items())
            if running:
                task, node = random.choice(running)
                self.disturbed[task] = node
                time.sleep(4)
                if self.look().get(task, ("", ""))[0] == "RUNNING":
                    return task, node
                del self.disturbed[task]
            time.sleep(0.3)
        sys.exit("FAILED: no task runs")

    def wait_until(self, what, condition, seconds=300):
        end = time.monotonic() + seconds
        while not condition(self.look()):
            if time.monotonic() > end:
                sys.exit(f"FAILED: no {what} within {seconds} s\n" + output("squeue", "-r"))
            time.sleep(0.3)


def supervisor_of(task):
    array, index = task.split("_")
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            variables = (folder / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        ours = {f"SLURM_ARRAY_JOB_ID={array}".encode(), f"SLURM_ARRAY_TASK_ID={index}".encode(),
                f"SLURM_CONF={os.environ['SLURM_CONF']}".encode()} <= set(variables)
        if ours and len(words) > 1 and words[0].endswith(b"/depthgrid") and words[1] == b"supervise":
            return int(folder.name)
    return None


def preempt(queue, timeline):
    task, node = queue.victim()
    job = output("sbatch", "--parsable", "-p", "high", "-w", node, "--exclusive", "-t", "1", "-o", "/dev/null", "--wrap",
                 "sleep 1").strip()
    timeline.add("a job of higher priority wants the node", task, node)
    queue.wait_until("end of the preempting job", lambda _: not output("squeue", "-h", "-o", "%i", "-p", "high").split(), 120)
    return job


def main():
    build, sources = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
    cells = int(sys.argv[3]) if len(sys.argv) > 3 else 200
    if not all(shutil.which(p, path=os.environ["PATH"] + ":/usr/sbin") for p in ("munged", "slurmctld", "slurmd")):
        print("skipped: Slurm is not installed")
        sys.exit(77)
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="depthgrid-e2e."))
    lab, labdir = sources / "scripts/slurm/lab.sh", scratch / "lab"
    random.seed(7)
    os.chdir(scratch)
    os.environ |= {"XDG_CACHE_HOME": str(scratch / "cache"), "OMP_NUM_THREADS": "1"}
    os.environ.pop("DEPTHGRID_DATA", None)
    depthgrid = build / "depthgrid"
    options = []
    for leaf in ("train.steps=1500", "checkpoint.every=100", "eval.every=500", "packing.fuse=off", f"seeds={cells // 2}",
                 f"packing.cells_per_launch={CELLS_OF_A_TASK}", "resources.lease=5", "resources.time=10",
                 "slurm.signal_delay=10", "slurm.extra=[--exclusive]", "resources.device=cpu"):
        options += ["--set", leaf]
    sweep = sources / "configs/tiny.yaml"
    try:
        output(lab, "start", labdir, NODES, 0)
        for assignment in re.findall(r"(\w+)=(\S+)", output(lab, "env", labdir)):
            os.environ[assignment[0]] = assignment[1].replace("$PATH", os.environ["PATH"])
        output(depthgrid, "run", sweep, *options, "--store", "plain", "-q", "-j", "2")  # a task must outlast its time limit
        timeline = Timeline()
        queue = Queue(timeline)

        def submit():
            answer = json.loads(output(depthgrid, "submit", sweep, *options, "--store", "disturbed", "--json"))
            timeline.add(f"submit: {answer['cells']} cells in {answer['tasks']} tasks, {answer['done']} done")
            return answer

        assert submit()["cells"] == cells
        preempt(queue, timeline)

        task, node = queue.victim()
        output("scontrol", "update", f"jobid={task}", "TimeLimit=1")
        timeline.add("its time limit is a minute from its start", task, node)
        queue.wait_until("requeue at the time limit", lambda now: now.get(task, ("",))[0] != "RUNNING", 120)

        task, node = queue.victim()
        pid = supervisor_of(task)
        if pid is None:
            sys.exit(f"FAILED: no supervisor of {task}")
        os.kill(pid, signal.SIGKILL)
        timeline.add("kill -9 of its supervisor", task, node)

        dead_task, dead_node = queue.victim()
        output(lab, "kill", labdir, dead_node)
        timeline.add("the node loses its power", dead_task, dead_node)
        preempt(queue, timeline)

        queue.wait_until("end of all tasks", lambda now: not now, 900)
        output(lab, "revive", labdir, dead_node)
        again = submit()
        if again["cells"]:
            queue.wait_until("end of all tasks", lambda now: not now, 300)
            again = submit()
        status = json.loads(output(depthgrid, "status", "disturbed", "--json"))
        timeline.add(f"{status['counts']['completed']} of {status['cells']} cells completed")
        results = list(pathlib.Path("disturbed/cells").glob("*/*/result.h5"))
        if not (status["counts"]["completed"] == len(results) == cells and again["cells"] == 0):
            sys.exit(f"FAILED: {status['counts']}, {len(results)} results")
        output(depthgrid, "pack", "disturbed")
        for variable in VARIABLES:
            output("h5diff", "-q", "plain/sweep.h5", "disturbed/sweep.h5", f"/{variable}", f"/{variable}")
        ends = {}
        for record in pathlib.Path("disturbed/launches").glob("*/attempt-*.json"):
            end = json.loads(record.read_text())["end"]
            ends[end] = ends.get(end, 0) + 1
        if ends.get("stopped", 0) < 3:
            sys.exit(f"FAILED: two preemptions and a time limit, but launches ended as {ends}")
        print(f"h5diff: {', '.join(VARIABLES)} of {cells} cells are those of the undisturbed run; launches ended as {ends}")
    finally:
        subprocess.run([lab, "stop", labdir], check=False)
        os.chdir("/")
        if "--keep" not in sys.argv:
            shutil.rmtree(scratch, ignore_errors=True)


main()
