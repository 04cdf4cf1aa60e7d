"""chaos.py kill: SIGKILL at random moments; the same command goes on until the sweep is complete."""
import dataclasses
import random
import shutil
import signal
import subprocess
import time

from chaos_slurm import Lab
from chaos_store import (Memory, Programs, Reference, Violation, alive, kill_all, read_apart, send, table,
                         tree, wait, wait_for, workers)

KILLS_OF_A_STORE = 5  # then it is completed
TEAM = ("--set", "resources.ranks_per_job=2", "--set", "packing.fuse=2")
WATCHED = ("-j", "2", "--set", "packing.fuse=2", "--set", "packing.cells_per_launch=1")


@dataclasses.dataclass
class Kind:
    name: str
    options: tuple
    ranks: int
    victims: object  # pid of the command -> pids of which one is killed
    goes_on: bool = False  # the command itself starts what was killed again
    reference: str = "alone"
    programs: object = None  # with another environment
    under: tuple = ()  # words before the command
    after: object = None  # called with the command's process after a kill
    share: int = 1  # it has its turn in every so many rounds


KINDS = (
    Kind("rank of a team of two", TEAM, 2, workers, reference="team"),
    Kind("`mpirun` of a team of two", TEAM, 2, lambda pid: [pid], reference="team"),
    Kind("supervisor (`-j 2`)", WATCHED, 1, lambda pid: [pid]),
    Kind("worker of a supervisor", WATCHED, 1, workers, goes_on=True),
    Kind("worker of a plain run", (), 1, workers),
    Kind("`depthgrid run` of a plain run", (), 1, lambda pid: [pid]),
)


@dataclasses.dataclass
class Tally:
    kills: int = 0
    early: int = 0  # before the first row
    late: int = 0  # with a result
    files: int = 0
    rows: int = 0
    stores: int = 0
    violations: list = dataclasses.field(default_factory=list)

    def row(self):
        return [self.kills, self.stores, self.early, self.late, self.files, self.rows, len(self.violations)]


HEAD = ["killed", "kills", "stores", "before the first row", "with a result", "HDF5 files opened afterwards",
        "rows acknowledged before", "violations"]


class Round:
    """One store, killed several times and then completed."""

    def __init__(self, programs, kind, reference, dice, tally, store):
        self.programs, self.kind, self.reference = kind.programs or programs, kind, reference
        self.dice, self.tally, self.store = dice, tally, store
        self.words = [*kind.under, *programs.words(store, *kind.options, ranks=kind.ranks)]
        self.left = set()
        self.steps = {}

    def kill(self, child):
        """@return  False if there was nothing left to kill."""
        pids = [p for p in self.kind.victims(child.pid) if alive(p)]
        if not pids:
            return False
        self.left |= {p for root in [child.pid, *pids] for p in tree(root)} - set(self.spared(pids))
        memory = Memory(self.store)
        victim = self.dice.choice(pids)
        if not send(victim, signal.SIGKILL):
            return False
        tally = self.tally
        tally.kills += 1
        tally.rows += memory.rows
        tally.early += memory.rows == 0
        tally.late += bool(memory.results)
        for cell, step in memory.steps.items():
            self.steps[cell] = max(step, self.steps.get(cell, 0))
        self.memory = memory
        if self.kind.after:
            self.kind.after(child)
        return True

    def spared(self, pids):
        """Daemons that live on."""
        return pids if self.kind.goes_on else ()

    def judge(self, quiet):
        """@param quiet  nothing is being written: what `results` shows is compared, too."""
        self.tally.files += read_apart(self.store)
        self.memory.judge()
        if quiet and (self.store / "plan.h5").exists():
            self.reference.judge_shown(self.programs.look("results", self.store)["cells"], self.memory.steps)

    def attempt(self, most):
        """Starts the command and kills. @return  (kills, exit code or None if it was killed)."""
        child = self.programs.start(self.words)
        killed = 0
        while killed < most:
            try:
                code = child.wait(self.dice.uniform(0.02, 0.9) * self.reference.seconds)
                return killed, code
            except subprocess.TimeoutExpired:
                pass
            if not self.kill(child):
                continue
            killed += 1
            if not self.kind.goes_on:
                child.wait()
                self.judge(quiet=not any(alive(p) for p in self.left))
                return killed, None
            self.judge(quiet=False)
        code = wait(child, what=self.kind.name)
        return killed, code

    def play(self, most):
        kills = 0
        code = None
        while kills < most and code is None:
            more, code = self.attempt(most - kills)
            kills += more
            if code is not None and code != 0:
                raise Violation(f"the command ended with {code}: {self.programs.said()[-400:]}")
        for _ in range(3):  # whoever a killed command has left may hold cells for a moment
            if code == 0:
                break
            code, said = self.programs.run(self.words)
        if code != 0:
            raise Violation(f"the same command ended with {code}: {said[-400:]}")
        wait_for("end of what was left", lambda: not any(alive(p) for p in self.left), 30)
        self.tally.files += read_apart(self.store)
        self.memory.judge() if kills else None
        self.reference.judge(self.store)
        return kills


def kill(options):
    dice = random.Random(options.seed)
    programs = Programs(options.build, options.work)
    references = {"alone": Reference(programs), "team": Reference(programs, *TEAM, ranks=2, name="undisturbed-team")}
    kinds = list(KINDS)
    if Lab.at_hand(programs):
        lab = Lab(programs, options.sources)
        kinds += [Kind("`slurmstepd` of a run under `srun`", (), 1, lab.step_daemons, programs=lab.programs,
                       under=("srun", "-n1"), after=lab.end_jobs, share=2),
                  Kind("`slurmd` under such a run", (), 1, lab.node_daemons, programs=lab.programs,
                       under=("srun", "-n1"), after=lab.restart_nodes, goes_on=True, share=4)]
    else:
        print("no Slurm on this machine: its daemons are not killed")
    kinds = [k for k in kinds if options.only in k.name]
    tallies = {k.name: Tally() for k in kinds}
    started, done, n = time.time(), 0, 0
    while done < options.trials and kinds:
        kind = kinds[n % len(kinds)]
        n += 1
        if (n // len(kinds)) % kind.share:
            continue
        tally = tallies[kind.name]
        store = options.work / f"killed-{n}"
        tally.stores += 1
        before = tally.kills
        trial = Round(programs, kind, references[kind.reference], dice, tally, store)
        try:
            trial.play(min(KILLS_OF_A_STORE, options.trials - done))
            shutil.rmtree(store)
        except (Violation, OSError) as problem:
            tally.violations.append(f"{kind.name}, store {n}, seed {options.seed}: {problem}")
            print("VIOLATION", tally.violations[-1], flush=True)
            kill_all(p for p in trial.left if alive(p))
            options.keep_store(store)
        done += tally.kills - before
    rows = [[name, *tally.row()] for name, tally in tallies.items()]
    table(HEAD, [*rows, ["all", *[sum(r[i] for r in rows) for i in range(1, len(HEAD))]]])
    print(f"{sum(r[1] for r in rows)} kills in {time.time() - started:.0f} s, seed {options.seed}")
    return sum(r[-1] for r in rows)
