#!/usr/bin/env bash
# The live display, by what a terminal shows: at 40 to 200 columns, for 1, 2 and 4 ranks, while the window changes its
# size, after Ctrl-Z and Ctrl-C, in the background, and into a pipe.
source "$(dirname "${BASH_SOURCE[0]}")/training_common.sh" "$@"
command -v tmux >/dev/null || {
  echo "display: skipped: tmux is not installed (scripts/setup.sh installs it)"
  exit 77
}
cat >sweep.yaml <<'YAML'
name: shown
model: {family: standard, d_model: 16, n_layers: 2, n_heads: 2}
data: {corpus: "synthetic:markov", synthetic: {vocab_size: 16, tokens: 20000}, seq_len: 16}
train: {steps: 1500, batch_size: 4}
eval: {every: 500, windows: 16, final_windows: 64}
packing: {fuse: 1}
parameters:
  train.lr: [1e-3, 2e-3, 3e-3, 4e-3]
YAML
run=("$depthgrid" run sweep.yaml)

terminal() { tmux -L "display-$$" -f /dev/null "$@"; }
trap 'terminal kill-server 2>/dev/null || true; rm -rf "$scratch"' EXIT

# open_window COLUMNS COMMAND: a terminal of this width that runs the command and then says so.
open_window() {
  terminal new-session -d -s w -x "$1" -y 24 "bash --norc -c '$2; code=\$?; echo; echo it-ended-with \$code; sleep 1000'"
}

# watch FRAMES [AFTER COMMAND]: keeps what the screen shows ten times a second until the command has ended; after that
# many frames with a bar it runs COMMAND.
watch() {
  local frames=$1 shown=0 i
  mkdir -p "$frames"
  for i in $(seq -w 2000); do
    terminal capture-pane -p -t w >"$frames/$i"
    ! grep -q '^\[[#.]*\] ' "$frames/$i" || shown=$((shown + 1))
    if [ $# -gt 1 ] && [ "$shown" -eq "$2" ]; then
      "${@:3}"
      shown=$((shown + 1))
    fi
    grep -q 'it-ended-with' "$frames/$i" && break
    sleep 0.1
  done
  terminal kill-session -t w
}

# judge FRAMES COLUMNS JOBS: the display is whole in every frame and gone in the last; at some time it shows so many jobs.
judge() {
  python3 - "$@" <<'PY' || fail "the screens of $1"
import pathlib, re, sys

folder, columns, jobs = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
frames = [f.read_text().rstrip("\n").split("\n") for f in sorted(folder.iterdir())]
bar = re.compile(r"^\[[#.]+\] +(\d+) %$")
percents, most, with_bar, known = [], 0, 0, 0
for number, lines in enumerate(frames):
    at = [i for i, line in enumerate(lines) if "%" in line and line.startswith("[")]
    if not at:
        continue
    where = f"frame {number}:\n" + "\n".join(lines)
    assert len(at) == 1, "more than one bar in " + where
    region = lines[at[0]:]
    assert bar.match(region[0]), "a broken bar in " + where
    if len(region) == 1:
        continue  # the screen was read in the middle of a redraw
    if columns == 0 and not ("elapsed" in region[1] and all(line.startswith("  ") for line in region[2:])):
        continue  # the window has just got another size
    with_bar += 1
    percents.append(int(bar.match(region[0])[1]))
    assert re.search(r"\d+(/| of )4\b", region[1]), "no count in " + where
    if columns >= 40:
        assert "elapsed" in region[1] and "remaining" in region[1], "no times in " + where
    known += "?" not in region[1]
    for line in region:
        assert columns == 0 or len(line) < columns, f"a line of {len(line)} columns in " + where
    mine = [line for line in region[2:] if line.startswith("  ")]
    assert len(mine) == len(region) - 2, "something else in the region of " + where
    assert all(re.search(r"\d", line) for line in mine)
    most = max(most, sum("lr=" in line or "/1500" in line for line in mine))
last = "\n".join(frames[-1])
assert with_bar > 5, f"only {with_bar} screens with a bar; the last one:\n{last}"
assert percents == sorted(percents), f"percents go back: {percents}"
assert percents[-1] >= 60, f"the last percent is {percents[-1]}"
assert known > with_bar / 2, f"the remaining time is known on {known} of {with_bar} screens"
assert most == jobs, f"{most} jobs at a time, not {jobs}"
assert "it-ended-with 0" in last and "completed" in last.replace("\n", ""), last
assert not re.search(r"\] +\d+ %|cell-steps/s|elapsed", last), "left on the screen:\n" + last
PY
}

# --- widths and ranks ------------------------------------------------------------------------------
for case in "40 1" "60 2" "80 4" "200 1"; do
  read -r columns ranks <<<"$case"
  launcher=""
  [ "$ranks" -eq 1 ] || launcher="mpirun -np $ranks"
  open_window "$columns" "$launcher ${run[*]} --store $columns"
  watch "frames-$columns"
  judge "frames-$columns" "$columns" "$ranks"
  rmdir "$columns/live" || fail "the run at $columns columns has left its news"
done

# --- a window whose size changes --------------------------------------------------------------------
resize() {
  terminal resize-window -t w -x 45 -y 12
  sleep 0.5
  terminal resize-window -t w -x 100 -y 24
}
open_window 80 "mpirun -np 2 ${run[*]} --store resized"
watch frames-resized 8 resize
judge frames-resized 0 2

# --- Ctrl-Z stops both processes, fg continues both, Ctrl-C ends with a checkpoint -------------------
store=stopped-$$
terminal new-session -d -s w -x 80 -y 24 "bash --norc -i"
terminal send-keys -t w "PS1=:; ${run[*]} --set train.steps=20000 --store $store" Enter
until_shown() {
  for _ in $(seq 300); do
    terminal capture-pane -p -t w >screen
    ! grep -q -- "$1" screen || return 0
    sleep 0.1
  done
  cat screen >&2
  fail "the screen never shows: $1"
}
until_shown '^\[[#.]*\] .* %'
worker=$(pgrep -f "depthgrid-worker run .*\"$store\"" | head -n 1)
terminal send-keys -t w C-z
until_shown 'Stopped'
for _ in $(seq 50); do
  grep -q '^State:.*T' "/proc/$worker/status" && break
  sleep 0.1
done
grep -q '^State:.*T' "/proc/$worker/status" || fail "the worker runs on while its parent is stopped"
! grep -q '^\[[#.]*\] .* %' screen || fail "the display stays on a stopped program's screen"
terminal send-keys -t w "clear; fg" Enter
until_shown '^\[[#.]*\] .* %'
terminal send-keys -t w C-c
until_shown 'failed, stopped: the'
! grep -q '^State:.*T' "/proc/$worker/status" 2>/dev/null || fail "the worker is still stopped"

# --- in the background: lines, and no display over what the user types ---------------------------------
terminal send-keys -t w "clear; ${run[*]} --set train.steps=300 --store aside &" Enter
for _ in $(seq 300); do
  terminal capture-pane -p -t w >pane
  ! grep -q '^\[[#.]*\] ' pane || fail "a run in the background draws"
  [ "$(find aside -name result.h5 2>/dev/null | wc -l)" -eq 4 ] && break
  sleep 0.1
done
[ "$(find aside -name result.h5 | wc -l)" -eq 4 ] || fail "a run in the background does not end"

# --- the same where the terminal lets only its foreground job write -------------------------------------
terminal send-keys -t w "stty tostop" Enter
for jobs in "" "-j 2"; do
  store=behind${jobs#-j }
  terminal send-keys -t w "clear; ${run[*]} $jobs --set train.steps=300 --store $store &" Enter
  for _ in $(seq 300); do
    [ "$(find "$store" -name result.h5 2>/dev/null | wc -l)" -eq 4 ] && break
    sleep 0.1
  done
  [ "$(find "$store" -name result.h5 | wc -l)" -eq 4 ] || fail "a run $jobs in the background hangs under stty tostop"
done
terminal kill-session -t w

# --- a signal to one of two independent ranks stops the run ---------------------------------------------
mpirun -np 2 "${run[@]}" --set train.steps=20000 --store signalled 2>err &
launcher=$!
for _ in $(seq 300); do
  [ "$(find signalled -name 'journal-*' 2>/dev/null | wc -l)" -ge 2 ] && break
  sleep 0.1
done
sleep 1
kill -INT "$(pgrep -P "$launcher" | tail -n 1)"
for _ in $(seq 300); do
  kill -0 "$launcher" 2>/dev/null || break
  sleep 0.1
done
! kill -0 "$launcher" 2>/dev/null || fail "one rank was asked to stop, and the other goes on"
code=0
wait "$launcher" || code=$?
[ "$code" -eq 75 ] || fail "a stopped run ends with $code"
says err "stopped: the same command resumes it"

# --- into a pipe: few lines, the same content ---------------------------------------------------------------
expect 0 mpirun -np 2 "${run[@]}" --set train.steps=300 --store piped
says err "more: depthgrid compare piped"
says err "depthgrid: 100 % (4 of 4 cells), elapsed"
says err "4 of 4 cells completed"
[ "$(grep -c '% (' err)" -le 4 ] || fail "too many lines of progress"
! grep -q $'\033' err || fail "escapes in a file"
expect 0 mpirun -np 2 "${run[@]}" --set train.steps=300 --store records --json-progress
python3 - <<'PY' || fail "cells_done runs back"
import json
records = [json.loads(line) for line in open("err") if line.startswith("{")]
done = [r["cells_done"] for r in records if "cells_done" in r]
assert done == sorted(done) and done[-1] == 4, done
assert {r["rank"] for r in records if r["event"] == "job_end"} == {0, 1}
assert sum(r["event"] == "job_start" for r in records) == 4 == sum(r["event"] == "job_end" for r in records)
PY
echo "display: ok"
