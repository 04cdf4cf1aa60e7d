# Both variables are in the files of the cells and of the sweep; the numbers are the same fused and
# alone; the weights are the same with the probe and without.
train edges edges.yaml
says_numbers() { # says_numbers FILE LINE...: h5dump of the two variables of a file
  h5dump -d /edge_matrix -d /edge_mean -d /edge_class "$1" >out 2>err || fail "$1 lacks what the probe has seen"
  if grep -qiE '^ *\([0-9]+,.*nan' out; then fail "$1: a look is absent"; fi
  says out '"all' && says out '"rare'
}
for file in edges/sweep.h5 edges/cells/*/*/result.h5; do says_numbers "$file"; done
h5dump -d /edge_matrix edges/sweep.h5 | grep -qF "( 2, 3, 3, 3 )" || fail "two cells, steps 0, 5 and 10, three edges by three"
h5dump -a /edge_mean/units edges/sweep.h5 | grep -qF '"nat"' || fail "edge_mean has no unit"

# weights STORE: the digest of each cell's weights, in cell order.
weights() { h5dump -d /weights_sha256 "$1/sweep.h5" | grep -oE '"[0-9a-f]{64}"'; }
expect 0 "$depthgrid" run "$extensions/probe/edges.yaml" --store blind --set probes.edges.schedule=off -q
if h5dump -d /edge_matrix blind/sweep.h5 >out 2>&1; then fail "a probe looked that is off"; fi
[ "$(weights edges)" = "$(weights blind)" ] || fail "the probe has changed a weight"

expect 0 "$depthgrid" run "$extensions/probe/edges.yaml" --store alone --set packing.fuse=off -q
h5diff edges/sweep.h5 alone/sweep.h5 /edge_matrix || fail "edge_matrix differs, fused and alone"
h5diff edges/sweep.h5 alone/sweep.h5 /edge_mean || fail "edge_mean differs, fused and alone"

# While a cell trains, what the probe has seen so far is in its metrics.h5 (published every 30 s).
"$depthgrid" run "$extensions/probe/edges.yaml" --store training --set train.steps=10000000 --set eval.every=null \
  --set 'probes.edges.schedule={every: 1000}' -q >/dev/null 2>&1 &
training=$!
for _ in $(seq 120); do
  metrics=$(find training -name metrics.h5 2>/dev/null | head -n 1 || true)
  [ -z "$metrics" ] || break
  sleep 1
done
if [ -n "$metrics" ]; then cp "$metrics" seen.h5; fi
kill -TERM $training
wait $training || [ $? -eq 75 ] || fail "the run that was stopped did not end with 75"
[ -n "$metrics" ] || fail "no metrics.h5 after two minutes of training"
says_numbers seen.h5
