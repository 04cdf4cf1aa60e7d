#!/usr/bin/env bash
# The program itself: libraries, help, wrong command lines.
. "$(dirname "$0")/common.sh"

expect 0 "$depthgrid" --version
says out "depthgrid 0."
# One release everywhere, and the pages that every user looks for are named on the first one.
release=$(sed -n 's/^depthgrid \([0-9.]*\).*/\1/p' out)
grep -qx "version: $release" "$sources/CITATION.cff" || fail "CITATION.cff is not of release $release"
[ "$(sed -n 's/^## //p' "$sources/CHANGELOG.md" | grep -vx Unreleased | head -1)" = "$release" ] || fail "CHANGELOG.md does not begin with $release"
for page in LICENSE CITATION.cff CHANGELOG.md AGENTS.md; do
  [ -s "$sources/$page" ] && grep -q "$page" "$sources/README.md" || fail "README.md does not name $page"
done
# AGENTS.md has every exit code.
for code in $(sed -n 's/^ *[A-Za-z]* = \([0-9]*\),\?\( .*\)\?$/\1/p' "$sources/core/base/exit_code.hpp"); do
  grep -Eq "^\| ([0-9]+, )*$code(, [0-9]+)* \|" "$sources/AGENTS.md" || fail "AGENTS.md does not explain exit code $code"
done

ldd "$depthgrid" >"$scratch/libraries"
if grep -E 'libtorch|libc10|libmpi|libcuda|libnccl' "$scratch/libraries"; then
  fail "depthgrid is linked to what only the worker may need"
fi

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

DEPTHGRID_ISA=avx1024 expect 78 "$depthgrid" bench kernels --only "gated weights"
says err "avx1024"
says err "base"
expect 78 "$depthgrid" bench kernels --isa avx1024
says err "avx1024"
expect 0 "$depthgrid" bench kernels --only "gated weights" --isa base --json
check 'j["instruction_sets"].startswith("base") and all(r["base"] > 0 and r["library"] > 0 for r in j["rows"])'
expect 2 "$depthgrid" bench kernels --only "no such kernel"
DEPTHGRID_ISA=avx1024 expect 78 "$depthgrid" plan "$sources/configs/tiny.yaml"
says err "avx1024"

# A GPU that is meant and cannot be used is no reason to train on the CPU in silence.
if [ ! -e /dev/nvidia0 ]; then
  CUDA_VISIBLE_DEVICES=0 expect 78 "$depthgrid" run "$sources/configs/tiny.yaml" --store meant
  says err "a GPU is meant for this run"
  says err "--set resources.device=cpu"
  expect 78 "$depthgrid" bench step --device cuda --steps 1
  says err "no GPU can be used"
fi
expect 2 "$depthgrid" bench step --device tpu
expect 2 "$depthgrid" bench optimiser --launches
expect 0 "$depthgrid" bench forward --family hybrid_ode --steps 3 --json --set model.d_model=16 --set data.seq_len=8
check '[c["component"] for c in j["components"]] == ["embedding", "layers", "flow", "readout", "pass"]'
check 'j["components"][4]["flops_per_token"] == sum(c["flops_per_token"] for c in j["components"][:4])'
expect 0 "$depthgrid" bench step --steps 2 --device cpu --json --set model.d_model=16 --set data.seq_len=8
check 'j["device"] == "cpu" and j["cells"] == 1 and j["peak_bytes"] > 0 and "launches" not in j'

if [ -w /dev/full ]; then
  code=0
  "$depthgrid" schema >/dev/full 2>"$scratch/err" || code=$?
  [ "$code" -eq 73 ] || fail "a full disk gives $code, not 73"
  # Messages that cannot be written do not change the outcome.
  code=0
  "$depthgrid" validate absent.yaml 2>/dev/full || code=$?
  [ "$code" -eq 66 ] || fail "a full stderr gives $code, not 66"
fi
code=0
"$depthgrid" validate absent.yaml 2>&- || code=$?
[ "$code" -eq 66 ] || fail "a closed stderr gives $code, not 66"

# What is in a file never acts on the terminal, and what is not UTF-8 is the user's error.
printf 'name: odd\n"\\e[31mred\\e]0;title\\a\\x9b": 1\n' >odd.yaml
expect 2 "$depthgrid" validate odd.yaml
says err "unknown key '\\x1b[31mred\\x1b]0;title\\x07\\x9b'"
printf 'name: odd\nmodel: {family: "\xe9"}\n' >latin.yaml
expect 2 "$depthgrid" validate latin.yaml
says err "latin.yaml:2:18: not UTF-8 text"
expect 2 "$depthgrid" validate --json latin.yaml
check 'j["errors"][0]["line"] == 2 and "xe9" in j["errors"][0]["source_line"]'
cp "$sources/configs/tiny.yaml" $'caf\xe9.yaml'
expect 2 "$depthgrid" validate --json $'caf\xe9.yaml'
says err "'caf\\xe9.yaml' on the command line is not UTF-8"
echo "program: ok"
