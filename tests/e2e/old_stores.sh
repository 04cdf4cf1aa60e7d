#!/usr/bin/env bash
# Stores that release 0.1 wrote (tests/golden/stores_0_1): listed as they were, resumed, grown and packed in the new
# form; a result that was trained with another data.text_key does not count, and plan, results, pack and run say so.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh" "$@"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1
tar -xJf "$sources/tests/golden/stores_0_1/stores.tar.xz"
python=$sources/.venv/bin/python
# format FILE: format_version of an HDF5 file.
format() { "$python" -c 'import h5py, sys; print(h5py.File(sys.argv[1]).attrs["format_version"].decode())' "$1"; }
# version STORE: of STORE.json.
version() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["version"])' "$1/STORE.json"; }
# equal_cells OLD NEW: cells that had a result list the same numbers, but for what is withheld since.
equal_cells() {
  python3 - "$1" "$2" <<'PY'
import json, sys
old, new = (json.load(open(name))["cells"] for name in sys.argv[1:3])
now = {cell["id"]: cell for cell in new}
done = [cell for cell in old if cell["status"] == "completed"]
assert done, "no cell was finished"
for cell in done:
    here = now[cell["id"]]
    lost = set(cell["metrics"]) - set(here["metrics"]) - set(here["withheld"])
    other = [name for name, value in here["metrics"].items() if cell["metrics"].get(name) != value]
    assert here["status"] == "completed" and not lost and not other, (cell["alias"], lost, other)
PY
}

mkdir former
# 1. Who only reads sees the same numbers and changes nothing.
[ "$(version text)" = 1 ] && [ "$(format text/sweep.h5)" = 1.3 ] || fail "the store is not of release 0.1"
for store in text key; do
  find "$store" -type f -exec sha256sum {} + | sort >before
  expect 0 "$depthgrid" results "$store" --json
  equal_cells "$store.json" out || fail "$store: other numbers than in 0.1"
  check '[c["status"] for c in j["cells"]] == ["completed", "pending"]'
  expect 3 "$depthgrid" status "$store"
  expect 3 "$depthgrid" compare "$store"
  says out "by text rules 1 of an earlier release"
  says err "no seed has completed in both sides of a pair"
  find "$store" -type f -exec sha256sum {} + | sort >after
  cmp -s before after || fail "$store: reading has changed files"
done
# Tokens follow the rules of 0.1, and the list says so.
expect 0 "$depthgrid" results text
says out "2 cells of 'file' were trained on tokens by text rules 1 of an earlier release"

# 2. Resumed, grown, packed. The half-trained cell goes on where it was.
seal() { sha256sum text/cells/*/*/result.h5; }
seal >before
expect 0 "$depthgrid" plan text.yaml --store text
says out "1 cell done, 1 in progress"
expect 0 "$depthgrid" run -q text.yaml --store text --set seeds=2
seal >after
grep -qFf before after || fail "the finished result was not kept as it was"
[ "$(version text)" = 2 ] || fail "the store did not become one of format 2"
expect 0 "$depthgrid" results text --json
check 'len(j["cells"]) == 4 and all(c["status"] == "completed" for c in j["cells"])'
equal_cells text.json out || fail "results of 0.1 have changed"
expect 0 "$depthgrid" logs "$(python3 -c 'import json; print(json.load(open("text.json"))["cells"][1]["id"])')" text
says out "goes on from step"
says out "started with 0.1.0"
[ "$(format text/sweep.h5)" = 2.1 ] || fail "sweep.h5 is not in the new form"
# Bits per byte that 0.1 recorded though its tokens (char) are not known to keep every byte are not packed again.
tar -xJf "$sources/tests/golden/stores_0_1/stores.tar.xz" -C former text
expect 0 "$depthgrid" pack former/text
"$python" - former/text text <<'PY' || fail "sweep.h5 has bits per byte that results withholds"
import h5py, numpy, sys
for store in sys.argv[1:]:
    file = h5py.File(store + "/sweep.h5")
    cells = file["cell"].asstr()[()].tolist()
    began = [cells.index(cell) for cell in ("918324752f12", "c37069d794c7")]  # by 0.1
    for name in ("final", "eval"):
        bits, loss = (file.get(f"{name}_{figure}") for figure in ("bits_per_byte", "loss"))
        for row in began[:1] if store != "text" else began:
            assert numpy.isfinite(loss[row]).any(), (store, name)
        lost = began if store != "text" else began[:1]
        assert bits is None or numpy.isnan(bits[()][lost]).all(), (store, name)
PY
"$python" - <<'PY' || fail "netCDF does not read what was packed"
import netCDF4
data = netCDF4.Dataset("text/sweep.h5")
assert data["final_loss"].shape[0] == 4 and len(set(data["cell"][:])) == 4
PY
"$python" - <<'PY' || fail "sweep.h5 does not tell the tokens of 0.1 from those of this release"
import h5py
file = h5py.File("text/sweep.h5")
rules = dict(zip(file["cell"].asstr()[()].tolist(), file["text_rules"][()].tolist()))
assert rules.pop("918324752f12") == -1, "trained by 0.1, which had no number"
assert set(rules.values()) == {2}, rules
PY
expect 0 "$depthgrid" run -q text.yaml --store text --set seeds=2
expect 0 "$depthgrid" pack text
says out "already up to date"

# 3. A cell's result of another key is not that cell's.
expect 0 "$depthgrid" plan other.yaml --store key
says out "it was trained with data.text_key: body, not with text"
says out "under plans"  # and the one that was killed before it had a snapshot
says out "0 cells done"
expect 0 "$depthgrid" plan other.yaml --store key --json
check 'all(c["status"] == "pending" for c in j["cells"])'
"$depthgrid" results other.yaml --store key >out 2>err
says err "data.text_key: body, not with text"
expect 0 "$depthgrid" results both --json
says err "does not count"
check '[c["status"] for c in j["cells"]] == ["pending", "pending"] and not any(c["metrics"] for c in j["cells"])'
expect 4 "$depthgrid" pack both
says err "does not count"
"$python" - <<'PY' || fail "numbers of another key were packed"
import h5py, numpy
file = h5py.File("both/sweep.h5")
assert "final_loss" not in file or numpy.isnan(file["final_loss"][:]).all()
PY

expect 0 "$depthgrid" run other.yaml --store key
says err "its files are in earlier-1 now"
[ "$(find key/cells -path '*/earlier-1/result.h5' | wc -l)" = 1 ] || fail "the former result was not kept"
expect 0 "$depthgrid" results key --json
cp out trained.json
check 'all(c["status"] == "completed" for c in j["cells"])'
silent err
# The same as in a store that knows nothing of the other key.
expect 0 "$depthgrid" run -q other.yaml --store fresh
expect 0 "$depthgrid" results fresh --json
python3 - <<'PY' || fail "the cells were not trained from the start with the asked key"
import json
one, two = ({c["id"]: c["metrics"]["final_loss.valid"] for c in json.load(open(n))["cells"]} for n in ("trained.json", "out"))
assert one == two, (one, two)
PY
expect 0 "$depthgrid" run -q other.yaml --store both
expect 0 "$depthgrid" results both --json
check 'all(c["status"] == "completed" for c in j["cells"] if c["in_plan"])'
# With the key that it was trained with, a cell has another id now; what 0.1 trained stays in the list.
tar -xJf "$sources/tests/golden/stores_0_1/stores.tar.xz" key
expect 0 "$depthgrid" plan key.yaml --store key
says out "1 cell that release 0.1 has trained with these leaves has another name here, since data.text_key"
expect 0 "$depthgrid" run -q key.yaml --store key
expect 0 "$depthgrid" results key --all-plans --json
check 'len(j["cells"]) == 4 and sum(c["in_plan"] for c in j["cells"]) == 2'

# 4. Tokens that 0.1 made otherwise are refused, wherever the text is now and whatever is drawn from it.
rm -rf former/text
tar -xJf "$sources/tests/golden/stores_0_1/stores.tar.xz" -C former text
python3 - former/text/texts/data-* <<'PY'
import json, os, sys
card = json.load(open(sys.argv[1]))
card["splits"]["train"]["sha256"] = card["tokens_sha256"] = "0" * 64
os.chmod(sys.argv[1], 0o644)
json.dump(card, open(sys.argv[1], "w"))
PY
mv posts.jsonl moved.jsonl
for set in data.seq_len=16 data.seq_len=8 data.sampler=epoch data.cache=tokens; do
  expect 65 "$depthgrid" run -q text.yaml --store former/text --set data.path=moved.jsonl --set "$set" --set seeds=3
  says err "are not those that the cells"
done
# What was trained stays, and is marked.
expect 0 "$depthgrid" results former/text
says out "trained on tokens by text rules 1 of an earlier release"
expect 0 "$depthgrid" results former/text --json
equal_cells text.json out || fail "a refusal has changed what was finished"
mv moved.jsonl posts.jsonl

# 5. A later format is refused with a sentence, as 0.1 refuses this one.
sed -i 's/"version": 2/"version": 3/' text/STORE.json
expect 65 "$depthgrid" results text
says err "use a newer release"
