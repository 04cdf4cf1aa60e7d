#!/usr/bin/env bash
# run and bench hand their order to the program beside them: as a child alone, by exec under a launcher.
. "$(dirname "$0")/common.sh"
tiny=$sources/configs/tiny.yaml
unset OMPI_COMM_WORLD_SIZE PMIX_RANK PMI_RANK SLURM_STEP_ID
alone
cat >alone/depthgrid-worker <<'W'
#!/usr/bin/env bash
# Stands in for the worker: says what it was told, ends as it was told.
printf '%s\n' "$@" >"$SAID"
echo "$PPID $$" >"$SAID.processes"
if [ -n "${WAIT_FOR:-}" ]; then
  trap 'echo got TERM >>"$SAID.signal"; exit 75' TERM
  trap 'echo got USR1 >>"$SAID.signal"' USR1
  : >"$SAID.ready"
  for _ in $(seq 300); do sleep 0.1; done
fi
exit "${END_WITH:-0}"
W
chmod +x alone/depthgrid-worker
export SAID=$scratch/said

END_WITH=65 expect 65 alone/depthgrid run "$tiny" --store s --set train.steps=3 --set seeds=1 -q
[ "$(sed -n 1p said)" = run ] || fail "the worker was not told to run"
sed -n 2p said >out
check 'j["schema"] == 1 and j["file"].endswith("tiny.yaml") and j["store"] == "s"'
check 'j["set"] == ["train.steps=3", "seeds=1"] and j["yes"] is False and j["progress"] == "quiet"'
END_WITH=75 expect 75 alone/depthgrid run "$tiny" --store s --set train.steps=3 --allow-inexact -q
sed -n 2p said >out
check 'j["set"] == ["train.steps=3", "resources.allow_inexact=true"]'
END_WITH=75 expect 75 alone/depthgrid run "$tiny" --json-progress
sed -n 2p said >out
check 'j["store"] == "results/tiny" and j["progress"] == "json"'
END_WITH=4 expect 4 alone/depthgrid run "$tiny" --yes
sed -n 2p said >out
check 'j["yes"] is True and j["progress"] == "auto"'

# Under a launcher the worker takes the place of the rank: same process, same exit code.
END_WITH=9 OMPI_COMM_WORLD_SIZE=2 bash -c 'echo $$ >shell; exec alone/depthgrid run "$1"' - "$tiny" >out 2>err && fail "9 was expected"
[ "$(cat shell)" = "$(cut -d' ' -f2 said.processes)" ] || fail "the worker is not the rank itself"

# Without one, signals to depthgrid reach the worker, and its exit code comes back.
WAIT_FOR=signal alone/depthgrid run "$tiny" >out 2>err &
child=$!
for _ in $(seq 100); do [ -e said.ready ] && break || sleep 0.1; done
[ -e said.ready ] || fail "the worker did not start"
kill -USR1 "$child"
for _ in $(seq 100); do grep -qs USR1 said.signal && break || sleep 0.1; done
kill -TERM "$child"  # a script's background children ignore INT
code=0
wait "$child" || code=$?
[ "$code" -eq 75 ] || fail "stopped by TERM it returned $code, not 75"
grep -q 'got TERM' said.signal || fail "TERM did not reach the worker"

END_WITH=0 expect 0 alone/depthgrid bench step --family standard --cells 4 --steps 7 --dump d --set model.d_model=64 --json
[ "$(sed -n 1p said)" = bench ] || fail "the worker was not told to bench"
sed -n 2p said >out
check 'j["what"] == "step" and j["family"] == "standard" and j["cells"] == 4 and j["steps"] == 7'
check 'j["dump"] == "d" and j["set"] == ["model.d_model=64"] and j["json"] is True'
expect 2 alone/depthgrid bench leap
says err "is unknown"

# A sweep file with errors never reaches the worker.
rm said
printf 'train: {steps: -1}\n' >bad.yaml
expect 2 alone/depthgrid run bad.yaml
[ ! -e said ] || fail "an invalid sweep reached the worker"
echo "hand_over: ok"
