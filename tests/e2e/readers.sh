#!/usr/bin/env bash
# Python opens what two runs have packed: xarray, h5py and pandas read it, xarray joins both, and the statistics of
# `results --by arm` are those that NumPy finds, and are of what can be compared. Readers of netCDF read every file that
# a page tells a user to open. A store with the types of former versions is read and packed as before.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh" "$@"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1
python=$sources/.venv/bin/python
cat >base.yaml <<'YAML'
model: {family: standard, d_model: 16, n_layers: 2, n_heads: 2}
data: {corpus: synthetic:markov, synthetic: {vocab_size: 16, tokens: 20000}, seq_len: 16}
train: {batch_size: 4}
eval: {every: 10, windows: 8}
YAML
printf '%s\n' 'name: rates' 'base: base.yaml' 'train: {steps: 20}' 'seeds: 3' \
  'parameters: {train.lr: [1e-3, 1e-2]}' >rates.yaml
printf '%s\n' 'name: models' 'base: base.yaml' 'train: {steps: 30}' 'parameters: {model.n_layers: [1, 2]}' \
  'include: [{model.family: time_indexed, model.modulation.hidden: 4, tag: modulated}]' \
  'description: "h_mod, Δt = ½"' 'probes: {trajectory: {state_sequences: 1, schedule: {at: [0, 30]}}}' >models.yaml
for name in rates models; do expect 0 "$depthgrid" run "$name.yaml" --store "$name" -q; done

"$python" "$sources/tests/storage/read_sweep.py" rates/sweep.h5 6 final_loss param_train_lr || fail "rates"
"$python" "$sources/tests/storage/read_sweep.py" models/sweep.h5 3 param_model_modulation_hidden || fail "models"
"$python" -W error::FutureWarning "$sources/tests/storage/read_sweep.py" --concat rates/sweep.h5 models/sweep.h5 || fail "both"

# The netCDF library, 4.10 in the wheel and 4.9 in Debian's ncdump; R and Octave where they are.
netcdf() { "$python" "$sources/tests/e2e/netcdf.py" --need netCDF4,xarray "$@"; }
expect 0 "$depthgrid" probe models --at final --set probes.trajectory.state_sequences=2
expect 0 "$depthgrid" pack models
files_of() { ls "$1"/sweep.h5 "$1"/plan.h5 "$1"/cells/*/*/result.h5 "$1"/cells/*/*/probe-1.h5 "$1"/cells/*/*/states-*.h5; }
modulated=$("$python" -c 'import h5py; print(h5py.File("models/sweep.h5")["cell"][2].decode())')
mapfile -t files < <(files_of models | grep -e "^models/[a-z]*.h5" -e "$modulated")
[ "${#files[@]}" = 7 ] || fail "not the files of a cell and of its sweep: ${files[*]}"
netcdf "${files[@]}" rates/sweep.h5 || fail "a reader of netCDF does not read what a page tells to open"

# Files of a former version: the same results, and the same sweep.h5 but for the digests of files.
expect 0 "$depthgrid" results models --json
cp out results.json
cp models/sweep.h5 packed.h5
mapfile -t files < <(files_of models)
"$python" "$sources/tests/e2e/old_types.py" "${files[@]}" || fail "the types of a former version"
same_as_packed() {
  "$python" - <<'PY' || fail "$1"
import h5py
import numpy as np

old, new = h5py.File("packed.h5"), h5py.File("models/sweep.h5")
assert list(old) == list(new)
for name in old:
    if not name.endswith("_sha256") or name in ("weights_sha256", "tokens_sha256", "probe_set_sha256"):
        assert old[name].dtype == new[name].dtype, name
        np.testing.assert_array_equal(old[name][()], new[name][()], err_msg=name)
PY
}
expect 0 "$depthgrid" results models --json
cmp out results.json || fail "results of files with the types of a former version"
rm models/sweep.h5
expect 0 "$depthgrid" pack models
same_as_packed "results with the types of a former version are packed otherwise"
"$python" "$sources/tests/e2e/old_types.py" models/sweep.h5 || fail "the types of a former version"
rm models/cells/*/"$modulated"/result.h5
"$depthgrid" pack models >out 2>err || true # it says what is missing
says err "is kept as it was packed before"
same_as_packed "rows with the types of a former version are kept otherwise"

expect 0 "$depthgrid" results rates --by arm --json
"$python" - <<'PY' || fail "the statistics of the arms are not those of the file"
import json

import numpy as np
import xarray as xr

told = json.load(open("out"))
data = xr.open_dataset("rates/sweep.h5", engine="h5netcdf")
params = sorted(name for name in data.variables if name.startswith("param_"))
assert params == ["param_data_seed", "param_model_family", "param_seed", "param_train_lr"], params
assert told["metric"] == "final_loss.valid" and told["baseline"] == data.arm.values[0]
loss = data.final_loss.sel(split="valid").values.reshape(2, 3)  # the file's order: arms, then seeds
for arm, values in zip(told["arms"], loss):
    metric = arm["metrics"]["final_loss.valid"]
    assert metric["n"] == 3 and np.isclose(metric["mean"], values.mean(), rtol=1e-12)
    assert np.isclose(metric["sd"], values.std(ddof=1), rtol=1e-9)
pairs = loss[1] - loss[0]
half = 4.302652729749464 * pairs.std(ddof=1) / np.sqrt(3)  # Student's 97.5 % quantile, two degrees of freedom
difference = told["arms"][1]["metrics"]["final_loss.valid"]["difference"]
assert difference["kind"] == "paired" and difference["n"] == 3
assert np.allclose([difference["low"], difference["high"]], [pairs.mean() - half, pairs.mean() + half], rtol=1e-9)
PY
expect 0 "$depthgrid" results models --by arm --filter "tag = mod*" --csv
[ "$(grep -c '^modulated,modulated,false,1,1,,final_loss.valid,1,' out)" = 1 ] || fail "one arm was asked for"
expect 2 "$depthgrid" results models --baseline modulated
says err '--baseline belongs to --by'

# Arms of other text, tokens or windows are not subtracted, on the same weights neither; bits per byte are where tokens
# keep every byte. Seeds pair where both arms have them.
for i in $(seq 2000); do printf 'caf\303\251 %d of \346\210\246\n' "$i"; done >text.txt
cat >compared.yaml <<'YAML'
name: compared
model: {family: standard, d_model: 16, n_layers: 1, n_heads: 2, vocab_size: 300}
data: {corpus: file, path: text.txt, seq_len: 16, tokenizer: byte, test_fraction: 0.1}
train: {batch_size: 4, steps: 4}
eval: {every: 2, windows: 8, final_splits: [valid, test]}
seeds: 2
method: list
include:
  - {tag: base}
  - {tag: dev, data.dev_fraction: 0.1}
  - {tag: few, eval.final_windows: 8}
  - {tag: valid, data.valid_fraction: 0.05}
  - {tag: char, data.tokenizer: char}
  - {tag: char256, data.tokenizer: char256}
  - {tag: word, data.tokenizer: word, data.vocab_size: 64}
YAML
expect 0 "$depthgrid" run compared.yaml --store compared -q
expect 0 "$depthgrid" run compared.yaml --store compared -q --set seeds=3 --only 'tag != base'
expect 0 "$depthgrid" results compared --by arm --json
"$python" - <<'PY' || fail "comparisons across evaluations"
import json

arms = {arm["tag"]: arm["metrics"] for arm in json.load(open("out"))["arms"]}
def refused(tag, metric):
    of = arms[tag][metric]
    assert (of["difference"] is None) == (of["refused"] is not None), (tag, metric, of)
    return of["refused"] and [d["what"] for d in of["refused"]["differs"]]
assert refused("dev", "final_loss.valid") is None, "its valid split is the same"
assert refused("few", "final_loss.valid") == ["eval.final_windows"]
assert refused("few", "eval_loss.valid") is None
assert refused("valid", "final_loss.valid") == ["data.valid_fraction"]
assert refused("valid", "final_loss.test") is None
assert refused("char", "final_loss.valid") == ["data.tokenizer"]
assert refused("char", "final_bits_per_byte.valid") is None
assert refused("char", "eval_bits_per_byte.valid") == ["data.tokenizer"], "eight windows of each"
for lossy in ("char256", "word"):
    assert arms[lossy]["final_bits_per_byte.valid"]["all"]["n"] == 0, lossy
of = arms["dev"]["final_loss.valid"]
pairs = of["difference"]
assert pairs["kind"] == "paired" and pairs["n"] == of["n"] == 2 and of["all"]["n"] == 3
assert pairs["left_out"] == {"arm": [2], "baseline": []} and pairs["seeds"] == [0, 1]
assert abs(of["mean"] - pairs["baseline"]["mean"] - pairs["value"]) < 1e-12
PY
expect 0 "$depthgrid" results compared --by arm
says out 'refused'
says out 'dev: pairs of seeds 0, 1; left out, as completed in one of the two only: 2'
expect 0 "$depthgrid" results compared --by arm --filter 'status = completed' --json
check 'all(a["metrics"]["final_loss.valid"]["difference"]["n"] == 2 for a in j["arms"] if a["tag"] == "dev")'
expect 0 "$depthgrid" results compared --columns alias,final_bits_per_byte.valid
says out 'no bits per byte of 6 cells: tokens of char256, word do not keep every byte'
expect 0 "$depthgrid" eval compared --cell word,s0
says out 'no bits per byte: tokens of word do not keep every byte'
echo "readers: ok"
