#!/usr/bin/env bash
# A store grows: more seeds, an arm, a level, longer training; two people at once; kill -9 between a plan and its
# first cell; a start that trains nothing; the composed sweep file; a store of the format before.
source "$(dirname "${BASH_SOURCE[0]}")/training_common.sh" "$@"
options=()
cp "$sweep" tiny.yaml
sweep=$scratch/tiny.yaml

# counts STORE EXPRESSION: over `j`, the answer of status.
counts() {
  "$depthgrid" status "$1" --json >out 2>err || true
  check "$2"
}
journals() { find "$1/cells" -name 'journal-*' | wc -l; }

# More seeds: plan says what run does, and run trains no cell twice.
train s --set seeds=1
expect 0 "$depthgrid" plan "$sweep" --set seeds=3 --store s --json
check 'j["done"] == 2 and j["in_progress"] == 0 and j["new"] == 4 and j["not_in_file"] == 0'
expect 0 "$depthgrid" plan "$sweep" --set seeds=3 --store s
says out "2 cells done, 0 in progress, 4 new"
expect 0 "$depthgrid" run "$sweep" --set seeds=3 --store s
says err "plan 2 of the store: 2 cells done, 0 in progress, 4 new"
says err "6 of 6 cells completed"
[ -e s/plan-2.h5 ] || fail "there is no second plan"
[ "$(journals s)" = 6 ] || fail "a finished cell was trained again"
counts s 'j["cells"] == 6 and j["counts"]["completed"] == 6 and j["finished"] and sum(j["other_plans"].values()) == 0'
# The same command again: no plan, no training, no change.
before=$(sha256sum s/sweep.h5 s/sweep.yaml)
train s --set seeds=3
[ "$before" = "$(sha256sum s/sweep.h5 s/sweep.yaml)" ] && [ ! -e s/plan-3.h5 ] || fail "the same plan again changed the store"

# A level more, and then a seed less: what the newest plan lacks stays, and is not shown unless asked for.
train s --set seeds=3 --set model.modulation.hidden=4,8,6
counts s 'j["counts"]["completed"] == 9'
expect 0 "$depthgrid" run "$sweep" --set seeds=2 --set train.steps=20,40 --store s
says err "4 cells done, 0 in progress, 4 new; 5 cells of the store are not in this file (5 with a result)"
[ "$(journals s)" = 13 ] || fail "$(journals s) attempts instead of 13"
counts s 'j["cells"] == 8 and j["counts"]["completed"] == 8 and j["other_plans"]["completed"] == 5 and j["finished"]'
expect 0 "$depthgrid" results s
says out "5 cells of other plans (5 with a result) not shown; --all-plans shows them"
[ "$(grep -c completed out)" = 8 ] || fail "results shows cells of other plans"
expect 0 "$depthgrid" results s --all-plans --json
check 'len(j["cells"]) == 13 and [c["in_plan"] for c in j["cells"]] == [True] * 8 + [False] * 5 and j["not_shown"] == 0'
check 'len({c["alias"] for c in j["cells"]}) == 13'
expect 0 "$depthgrid" results s --csv
[ "$(wc -l <out)" = 9 ] || fail "csv shows cells of other plans"
says err "not shown"
"$sources/.venv/bin/python" - <<'PY' || fail "sweep.h5 does not say which cells are of the newest plan"
import h5py
file = h5py.File("s/sweep.h5")
flag, loss = file["in_newest_plan"][()], file["final_loss"][()]
assert list(flag) == [1] * 8 + [0] * 5, flag
assert (loss[:, 2] < 3).all() and file["plan_generation"][0] == 4 and set(file["plan_generation"][8:]) == {3}
assert file.attrs["n_cells_packed"] == 13
PY
# Other leaves of a probe make no other cells: plan and sweep.h5 say by which their figures are.
expect 0 "$depthgrid" plan "$sweep" --set seeds=1 --set probes.set.split=train --store s
says out "probes measured 2 finished cells by other leaves than the file's"
says out "probes.set.split was "
cp -r s probed
expect 0 "$depthgrid" run -q "$sweep" --set seeds=1 --set probes.set.split=train --store probed
"$sources/.venv/bin/python" - <<'PY' || fail "sweep.h5 does not say by which leaves probes looked"
import h5py, json
def told(store):
    file = h5py.File(store + "/sweep.h5")
    texts = file["look_settings"].asstr()[()] if "look_settings" in file else [""] * file["cell"].shape[0]
    return [(bool(flag), json.loads(text or "[]")) for flag, text in zip(file["in_newest_plan"][()], texts)]
assert not any(looks for _, looks in told("s")), told("s")
for ours, looks in told("probed"):
    assert bool(looks) == ours, (ours, looks)
    assert not ours or looks[0]["file"] == "result.h5" and list(looks[0]["set"]) == ["probes.set.split"], looks
PY
# A file shows its own cells, wherever they were planned; ids and aliases of the others work as before.
expect 0 "$depthgrid" status "$sweep" --set seeds=1 --store s --json
check 'j["cells"] == 2 and j["counts"]["completed"] == 2 and j["other_plans"]["completed"] == 11'
other=$("$depthgrid" results s --all-plans --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["cells"][-1]["id"])')
expect 0 "$depthgrid" logs "$other" s
expect 0 "$depthgrid" eval s --cell "$other"
expect 0 "$depthgrid" pack s --json
check 'j["written"] is False and j["finished"] == 13'

# The same name, another length: longer arms are other cells, and no arm holds both.
train longer --set seeds=1
train longer --set seeds=1 --set train.steps=40
expect 0 "$depthgrid" results longer --all-plans --json
check 'sorted(c["alias"] for c in j["cells"]) == ["hidden=4,s0", "hidden=4@1,s0", "hidden=8,s0", "hidden=8@1,s0"]'
check '[c["step"] for c in j["cells"]] == [40, 40, 20, 20]'

# Two people extend one store at the same time, one with seeds, one with an arm: both plans are kept, all cells trained.
train both --set seeds=1
"$depthgrid" run "$sweep" --set seeds=3 --store both -q 2>first &
train both --set seeds=1 --set model.modulation.hidden=4,8,6
wait $! || fail "the first of two runs failed: $(cat first)"
[ -e both/plan-3.h5 ] && [ ! -e both/plan-4.h5 ] || fail "two runs should have published two plans"
expect 0 "$depthgrid" results both --all-plans --json
check 'len(j["cells"]) == 7 and all(c["status"] == "completed" for c in j["cells"])'
[ "$(journals both)" = 7 ] || fail "a cell was trained twice"

# kill -9 as soon as the second plan is there, before its first cell.
train killed --set seeds=1
for delay in 0 0.1; do # at once, and then before or in the first steps
  "$depthgrid" run "$sweep" --set seeds=2 --set train.lr=3e-3,1e-3 --store killed -q 2>/dev/null &
  run=$!
  for _ in $(seq 2000); do
    worker=$(pgrep -P "$run" -f depthgrid-worker || true)
    [ -n "$worker" ] && [ -e killed/plan-2.h5 ] && break
    sleep 0.005
  done
  sleep "$delay"
  kill -9 "$run" $worker 2>/dev/null || true
  wait "$run" 2>/dev/null || true
done
expect 0 "$depthgrid" plan "$sweep" --set seeds=2 --set train.lr=3e-3,1e-3 --store killed --json
check 'j["done"] >= 2 and len(j["cells"]) == 8'
train killed --set seeds=2 --set train.lr=3e-3,1e-3
counts killed 'j["counts"]["completed"] == 8'
[ ! -e killed/plan-3.h5 ] || fail "a killed start left a plan that its repetition does not use"

# A start that trains nothing leaves no plan, and no advice to read what is not there.
printf 'name: own\ndata: {corpus: wikitext-2, seq_len: 16}\nmodel: {d_model: 16, n_layers: 2, n_heads: 2}\ntrain: {steps: 5, batch_size: 2}\neval: {windows: 4, final_windows: 4}\n' >own.yaml
expect 66 "$depthgrid" run own.yaml --store own
if grep -q 'read them with' err; then fail "advice to read results that are not there"; fi
[ ! -e own/plan.h5 ] || fail "a start without its corpus left a plan"
mkdir -p texts other
seq 1 4000 >texts/numbers.txt
printf 'data: {corpus: file, tokenizer: byte, path: texts/numbers.txt}\n' >corpus.yaml
sed -i 's/^data: .*/base: corpus.yaml\ndata: {seq_len: 16}/' own.yaml
expect 0 "$depthgrid" run own.yaml --store own -q --set train.steps=7

# The composed file repeats the run from anywhere: the same cells, in this store or another.
grep -qF "depthgrid run own.yaml --set train.steps=7" own/sweep.yaml || fail "no command line in sweep.yaml"
for folder in / "$scratch/other" "$scratch/own"; do
  (cd "$folder" && "$depthgrid" run "$scratch/own/sweep.yaml" -q) || fail "sweep.yaml does not run from $folder"
done
[ ! -e own/plan-2.h5 ] && [ "$(journals own)" = 1 ] || fail "sweep.yaml did not continue its store"
(cd other && "$depthgrid" run ../own/sweep.yaml --store copy -q) || fail "sweep.yaml does not run into another store"
[ "$(ls own/cells/*/)" = "$(ls other/copy/cells/*/)" ] || fail "sweep.yaml gave other cells"
same own other/copy
# The text has changed: refused, and the store as it was.
seq 5 4004 >texts/numbers.txt
expect 0 "$depthgrid" plan own.yaml --store own --set train.steps=7
says out "note: depthgrid run will refuse to begin: corpus 'file' has changed"
expect 65 "$depthgrid" run own.yaml --store own -q --set train.steps=7
says err "has changed"
[ ! -e own/plan-2.h5 ] || fail "a refused run left a plan"
# The text is as it was, and what the store remembers of it is not: the message names the file. Cells with results are
# no reason to say how they are read.
seq 1 4000 >texts/numbers.txt
sed -i 's/"sha256": "0/"sha256": "1/; t; s/"sha256": "./"sha256": "0/' own/corpora/file.json
expect 65 "$depthgrid" run own.yaml --store own --set train.steps=7 --set seeds=2
says err "own/corpora/file.json that is damaged: move it away"
if grep -q 'read them with' err; then fail "advice to read results after a refused start"; fi
rm own/corpora/file.json
expect 0 "$depthgrid" run own.yaml --store own -q --set train.steps=7 --set seeds=2

# A damaged result is not done, though sweep.h5 has its numbers; one that only an earlier plan has is mended by that plan.
damaged=$(find own/cells -name result.h5 | sort | tail -n 1)
printf '?' >"$damaged"
expect 0 "$depthgrid" plan own.yaml --store own --set train.steps=7 --set seeds=2
says out "own: 2 cells, 1 done, 1 jobs"
says out "1 cell done, 1 in progress, 0 new"
expect 0 "$depthgrid" run own.yaml --store own --set train.steps=8
says err "depthgrid run own/sweep-2.yaml trains the cell again"
expect 0 "$depthgrid" status own
says out "depthgrid run own/sweep-2.yaml trains the cell again"
expect 0 "$depthgrid" run own/sweep-2.yaml -q
expect 0 "$depthgrid" plan own/sweep-2.yaml
says out "2 cells done, 0 in progress, 0 new"

# A store of the format before: one plan, the file as it was read, no columns about plans.
train before --set seeds=1
cp "$sweep" before/sweep.yaml
rm before/sweep.h5
counts before 'j["cells"] == 2 and j["counts"]["completed"] == 2'
train before --set seeds=2
counts before 'j["cells"] == 4 and j["counts"]["completed"] == 4'
cmp -s before/sweep-1.yaml before/sweep.yaml && fail "the second plan has the first one's text"
echo "grow: ok"
