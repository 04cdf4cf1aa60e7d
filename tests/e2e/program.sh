#!/usr/bin/env bash
# The program itself: start-up, libraries, help, wrong command lines.
. "$(dirname "$0")/common.sh"

expect 0 "$depthgrid" --version
says out "depthgrid 0."

ldd "$depthgrid" >"$scratch/libraries"
if grep -E 'libtorch|libc10|libmpi|libcuda|libnccl' "$scratch/libraries"; then
  fail "depthgrid is linked to what only the worker may need"
fi

best=$(python3 - "$depthgrid" <<'PY'
import subprocess, sys, time
times = []
for _ in range(10):
    start = time.perf_counter()
    subprocess.run([sys.argv[1], "--version"], stdout=subprocess.DEVNULL, check=True)
    times.append(time.perf_counter() - start)
print(round(min(times) * 1000))
PY
)
echo "start-up: $best ms (smallest of 10)"
[ "$best" -lt 200 ] || fail "start-up takes $best ms"

expect 0 "$depthgrid" help
for verb in validate plan run status results show diff logs pack schema completion bench; do
  says out "  $verb "
done
for verb in validate plan run status results show diff logs pack schema completion bench; do
  expect 0 "$depthgrid" help "$verb"
  says out "usage: depthgrid $verb"
  expect 0 "$depthgrid" "$verb" --help
done

expect 0 "$depthgrid" help
says out "bench      step|decode|…"
expect 2 "$depthgrid"
silent out
says err "usage: depthgrid VERB"
expect 2 "$depthgrid" valdate
says err "did you mean 'validate'?"
expect 2 "$depthgrid" validate
says err "FILE is missing"
expect 2 "$depthgrid" validate a.yaml b.yaml
says err "too many arguments"
expect 2 "$depthgrid" validate --nonsense a.yaml
says err "nonsense"
expect 2 "$depthgrid" validate --js a.yaml
expect 2 "$depthgrid" plan --teams 0 a.yaml
expect 2 "$depthgrid" schema --json --markdown
expect 66 "$depthgrid" validate absent.yaml
says err "absent.yaml"

alone
expect 78 alone/depthgrid run "$sources/configs/tiny.yaml"
says err "depthgrid-worker"
[ ! -e results ] || fail "a run that could not start has left a store"
expect 78 alone/depthgrid bench step

if [ -w /dev/full ]; then
  code=0
  "$depthgrid" schema >/dev/full 2>"$scratch/err" || code=$?
  [ "$code" -eq 73 ] || fail "a full disk gives $code, not 73"
fi
echo "program: ok"
