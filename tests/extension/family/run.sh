# The family passes the audit, trains in a sweep of two cells and has as many parameters as its formula gives.
expect 0 "$depthgrid" audit "$extensions/family/loop.yaml"
train family loop.yaml
expect 0 "$depthgrid" results family --json
check 'len(j["cells"]) == 2 and all(c["status"] == "completed" for c in j["cells"])'
check 'all(c["metrics"]["final_loss.valid"] < 2.7 for c in j["cells"])' # ln 16 = 2.77: it learns
# Its row in the table of model cases puts it through what every model must pass: fused = alone, causality,
# the closed form of its parameters.
CCACHE_DIR=$cache DEPTHGRID_CUDA=OFF expect 0 "$copy/scripts/build.sh" release models_test
expect 0 "$copy/build/release/models_test" --gtest_filter='EveryOption/*/loop_*:Families.*'
says out "EveryOption/Fusion"
says out "EveryOption/Causality"
says out "EveryOption/ClosedForm"
