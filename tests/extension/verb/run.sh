# The verb answers, in both forms, and the usage shows it.
expect 0 "$depthgrid" leaves --json
check 'j["leaves"] > 150'
expect 0 "$depthgrid" help
says out '  leaves '
expect 0 "$depthgrid" help leaves
says out 'usage: depthgrid leaves'
