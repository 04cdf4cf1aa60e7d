"""The Slurm of chaos.py: the lab of scripts/slurm/lab.sh, whose daemons are killed by process id only."""
import copy
import os
import pathlib
import shutil
import subprocess
import time

from chaos_store import alive, command_of, kill_all, tree

PROGRAMS = ("munged", "slurmctld", "slurmd", "srun")

running = []


def stop_all():
    while running:
        running.pop().stop()


class Lab:
    """A private cluster of two virtual nodes."""

    def __init__(self, programs, sources):
        self.folder = programs.work / "lab"
        self.script = str(sources / "scripts/slurm/lab.sh")
        self.programs = copy.copy(programs)
        path = programs.env["PATH"] + ":/usr/sbin"
        self.programs.env = dict(programs.env, PATH=path, SLURM_CONF=str(self.folder / "slurm.conf"),
                                 OMPI_MCA_pml="ob1", OMPI_MCA_btl="tcp,self")
        subprocess.run([self.script, "start", str(self.folder), "2", "0"], env=self.programs.env, check=True,
                       stdout=subprocess.DEVNULL)
        running.append(self)

    @staticmethod
    def at_hand(programs):
        path = programs.env["PATH"] + ":/usr/sbin"
        return all(shutil.which(p, path=path) for p in PROGRAMS)

    def stop(self):
        subprocess.run([self.script, "stop", str(self.folder)], check=False)

    def step_daemons(self, _):
        """slurmstepd processes of this lab: there may be other Slurms on this machine."""
        out = []
        for process in pathlib.Path("/proc").iterdir():
            if process.name.isdigit() and command_of(process.name)[0:1] and \
                    command_of(process.name)[0].startswith("slurmstepd: ["):
                try:
                    if (process / "cwd").readlink() == self.folder / "log":
                        out.append(int(process.name))
                except OSError:
                    pass
        return out

    def node_daemons(self, _):
        out = []
        for file in self.folder.glob("slurmd.*.pid"):
            pid = int(file.read_text() or 0)
            if pid and alive(pid) and command_of(pid)[0].endswith("slurmd"):
                out.append(pid)
        return out

    def end_jobs(self, child):
        """srun does not notice that its step is gone: whoever waits for it cancels the job."""
        time.sleep(0.2)
        subprocess.run(["scancel", "--user=" + str(os.getuid())], env=self.programs.env, check=False)
        try:
            child.wait(timeout=1)
        except subprocess.TimeoutExpired:
            kill_all(tree(child.pid))

    def restart_nodes(self, _):
        time.sleep(0.2)
        for file in self.folder.glob("slurmd.*.pid"):
            if not alive(int(file.read_text() or 0)):
                subprocess.run(["slurmd", "-f", str(self.folder / "slurm.conf"), "-N", file.name.split(".")[1]],
                               env=self.programs.env, check=True)
