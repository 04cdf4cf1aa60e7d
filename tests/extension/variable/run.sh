# The variable is in the files of the cells and of the sweep, with its unit and a number per step.
train variable share.yaml
for file in variable/sweep.h5 variable/cells/*/*/result.h5; do
  h5dump -a /train_update_share/units "$file" >out 2>err || fail "$file lacks train_update_share"
  says out '"1"'
done
h5dump -d /train_update_share variable/sweep.h5 >out 2>err || fail "sweep.h5 cannot be read"
if grep -E '^ *\([0-9]+,' out | grep -qi nan; then fail "a step of train_update_share is absent"; fi
says out '( 2, 10 )'
