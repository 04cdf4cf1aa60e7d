#!/usr/bin/env bash
# status, results, logs and pack where nothing has been trained yet.
. "$(dirname "$0")/common.sh"
tiny=$sources/configs/tiny.yaml

expect 3 "$depthgrid" status "$tiny" --json
check 'j["schema"] == 1 and j["cells"] == 4 and j["counts"]["pending"] == 4 and j["problems"] == []'
check 'j["finished"] is False and sum(j["counts"].values()) == 4 and j["store"] == "results/" + j["sweep"]'
check 'set(j["counts"]) == {"pending", "running", "completed", "diverged", "failed", "cancelled", "oom"}'
expect 3 "$depthgrid" status "$tiny"
says out "pending"

expect 0 "$depthgrid" results "$tiny" --json
check 'j["schema"] == 1 and len(j["cells"]) == 4'
check 'all({"id", "alias", "seed", "overrides", "status", "step", "parameters", "metrics"} <= set(c) for c in j["cells"])'
check 'sorted({c["seed"] for c in j["cells"]}) == [0, 1]'
check '[c["overrides"]["model.modulation.hidden"] for c in j["cells"]].count(4) == 2'
expect 0 "$depthgrid" results "$tiny" --sort -seed --filter 'hidden = 8' --json
check '[c["seed"] for c in j["cells"]] == [1, 0]'
expect 0 "$depthgrid" results "$tiny" --csv
[ "$(wc -l <out)" -eq 5 ] || fail "four cells and a heading were expected"
says out "model.modulation.hidden"
expect 0 "$depthgrid" results "$tiny"
says out "* baseline"
expect 2 "$depthgrid" results "$tiny" --filter 'hiden = 8'
says err "unknown name 'hiden'"
says err "  ^"
expect 2 "$depthgrid" results "$tiny" --csv --json

# Configurations, without a store, and cells by any of their names.
expect 0 "$depthgrid" show hidden=4,s1 "$tiny" --json
check 'j["alias"] == "hidden=4,s1"'
check '{"factor"} == {l["origin"] for l in j["leaves"] if l["leaf"] == "model.modulation.hidden"}'
check 'all(l["line"] > 0 and l["file"].endswith("tiny.yaml") for l in j["leaves"] if l["origin"] in ("file", "factor"))'
expect 0 "$depthgrid" show 'hidden = 8 and seed = 0' "$tiny" --set train.lr=1e-3
says out '--set train.lr=1e-3'
expect 0 "$depthgrid" diff hidden=4,s0 hidden=8,s0 "$tiny" --json
check 'j["leaves"] == [{"leaf": "model.modulation.hidden", "a": 4, "b": 8, "read_by": "both"}]'
expect 2 "$depthgrid" show hidden=4 "$tiny"
says err "'hidden=4'"
expect 0 "$depthgrid" schema model.modulation.hidden --json
check 'len(j["leaves"]) == 1 and j["leaves"][0]["path"] == "model.modulation.hidden"'
expect 0 "$depthgrid" schema train.schedule
says out 'train.schedule.warmup_steps'
expect 2 "$depthgrid" schema train.lrr
says err "did you mean"

# Colours are for terminals, and for people who have not refused them.
on_a_terminal() {
  python3 - "$@" <<'PY' | tr -d '\r' >out
import os, pty, sys
pty.spawn(sys.argv[1:], lambda fd: os.read(fd, 65536))
PY
}
export TERM=xterm
on_a_terminal "$depthgrid" status "$tiny"
says out $'\x1b[1mstate'
NO_COLOR=1 on_a_terminal "$depthgrid" status "$tiny"
if grep -q $'\x1b' out; then fail "NO_COLOR is not honoured"; fi
expect 3 "$depthgrid" status "$tiny"
if grep -q $'\x1b' out; then fail "a file got colours"; fi
expect 2 "$depthgrid" status "$tiny" --log-level loud
says err "'loud'"

for verb in status results pack; do
  expect 2 "$depthgrid" "$verb" nowhere --set train.lr=1
  says err "--set and --yes"
  expect 66 "$depthgrid" "$verb" nowhere
  says err "nowhere"
  expect 2 "$depthgrid" "$verb"
done
expect 66 "$depthgrid" logs h4 "$tiny"
expect 66 "$depthgrid" pack "$tiny"
expect 2 "$depthgrid" logs

# What a run that was refused before it had a plan has left in its store.
if [ ! -e /dev/nvidia0 ]; then
  expect 78 "$depthgrid" run "$tiny" --store refused --set resources.device=cuda
  expect 0 "$depthgrid" status refused --events
  says out "ended as refused (exit code 78)"
  expect 66 "$depthgrid" status refused
fi
[ ! -e results ] || fail "reading has written a store"
echo "before_a_run: ok"
