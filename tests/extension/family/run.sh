# The family passes the audit, trains in a sweep of two cells and has as many parameters as its formula gives.
expect 0 "$depthgrid" audit "$extensions/family/loop.yaml"
train family loop.yaml
expect 0 "$depthgrid" results family --json
check 'len(j["cells"]) == 2 and all(c["status"] == "completed" for c in j["cells"])'
check 'all(c["metrics"]["final_loss.valid"] < 2.7 for c in j["cells"])' # ln 16 = 2.77: it learns
