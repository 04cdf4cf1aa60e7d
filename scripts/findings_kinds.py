"""What a finding is, and the kinds of tables that the page has of one: types of findings_list.py."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Mapping, Sequence

Names = Mapping[str, str]


@dataclasses.dataclass(frozen=True)
class Run:
    """`depthgrid run CONFIG --set … [--only …] [--store …]`."""

    config: str
    set: Sequence[str] = ()
    only: str = ""
    store: str = ""  # "" = the configuration's own, results/<name>
    factors: Names = dataclasses.field(default_factory=dict)  # leaves that tell runs of one finding apart
    probes: Sequence[str] = ()  # measured afterwards: options of `depthgrid probe STORE`

    def options(self) -> list[str]:
        return [self.config, *(word for value in self.set for word in ("--set", value))]

    def command_words(self) -> list[str]:
        words = ["depthgrid", "run", *self.options(), *(["--only", self.only] if self.only else [])]
        return words + (["--store", self.store] if self.store else [])

    def command(self) -> str:
        return shlex.join(self.command_words())


@dataclasses.dataclass(frozen=True)
class Finding:
    runs: Sequence[Run]
    metrics: Sequence[str]
    time: str = "not recorded"  # on two cores
    factors: Sequence[str] = ()  # leaves that tables are by
    elements: Sequence[str] = ()  # of variables with further axes: VARIABLE.LABEL.LABEL, patterns of fnmatch
    axes: Names = dataclasses.field(default_factory=dict)  # other names of labels
    ratios: Mapping[str, tuple[str, str]] = dataclasses.field(default_factory=dict)  # of elements: kept as NAME.…
    seeds_differ: bool = False  # some arms were given fewer seeds, for their cost: each keeps its own


@dataclasses.dataclass(frozen=True)
class Column:
    """Numbers of one metric for each row; {…} in `metric` are words of the row."""

    title: str
    metric: str
    show: str = "sd"  # mean ± sd | interval: mean ± half-width | difference: to `baseline`, ± half-width | count
    digits: int = 4
    baseline: str = ""  # an arm, of a difference; {…} as in `metric`
    where: Names = dataclasses.field(default_factory=dict)  # only in rows with these words
    only: str = ""  # --filter of the cells; {…} as in `metric`


@dataclasses.dataclass(frozen=True)
class ArmTable:
    """One row per arm (or per arm and what the metrics' names hold)."""

    finding: str
    titles: Sequence[str]  # of the words of a row
    rows: Sequence[tuple[Sequence[str], Names]]  # words; `arm` and what fills the metrics' names
    columns: Sequence[Column]


@dataclasses.dataclass(frozen=True)
class FactorTable:
    """Effects of one factor against its baseline, averaged over the others."""

    finding: str
    factor: str
    by: str  # --by, with the other factors of the family
    title: str
    levels: Names = dataclasses.field(default_factory=dict)  # as the page writes them
    metric: str = "final_loss.valid"
    digits: int = 4


@dataclasses.dataclass(frozen=True)
class GridTable:
    """Means ± sd of two factors; `effects`: instead, differences to the baseline level of the rows' factor."""

    finding: str
    rows: str
    columns: str
    title: str
    heads: Names
    effects: bool = False
    metric: str = "final_loss.valid"
    digits: int = 4


@dataclasses.dataclass(frozen=True)
class ShareTable:
    """Shares of variance of two factors, their interaction and nothing else."""

    finding: str
    factors: Names  # two: as the page names them
    metric: str = "final_loss.valid"


@dataclasses.dataclass(frozen=True)
class QuestionTable:
    """One row per question: arm − baseline, each a test of its own."""

    finding: str  # or several, A+B: arms of both, beside each other
    rows: Sequence[tuple[str, str, str, str]]  # question, arm, baseline, metric
    digits: int = 4


Side = Sequence[tuple[str, str]] | float


@dataclasses.dataclass(frozen=True)
class SeedTable:
    """One row per question about two figures of each seed. A side is a number, or an arm's metric (of a pattern: the
    mean of what fits), or that less another arm's or metric. Beside a number, values are not differences."""

    finding: str
    rows: Sequence[tuple[str, str, Side, Side]]  # two titles, one side, less the other
    at: Mapping[str, Names]  # columns: leaves of the cells that count
    titles: Sequence[str] = ("question", "difference")
    digits: int = 4
    ranges: bool = False  # all figures of the first side, from least to greatest
    holm: bool = False  # p by Holm over the rows, too, and verdicts by it; of a table with one column


Table = ArmTable | FactorTable | GridTable | ShareTable | QuestionTable | SeedTable
