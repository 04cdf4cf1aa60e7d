# The optimiser trains, its loss falls, and a store that was made with it goes on from a checkpoint.
train optimizer momentum.yaml
expect 0 "$depthgrid" results optimizer --json
check 'all(c["status"] == "completed" for c in j["cells"])'
check 'all(c["metrics"]["final_loss.valid"] < 2.7 for c in j["cells"])' # ln 16 = 2.77: it learns
