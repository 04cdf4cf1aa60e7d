#!/usr/bin/env bash
# bash completes depthgrid by the script that depthgrid installs.
. "$(dirname "$0")/common.sh"
export XDG_DATA_HOME=$scratch/data
unset BASH_COMPLETION_USER_DIR
expect 0 "$depthgrid" completion bash --install
says out "$scratch/data/bash-completion/completions/depthgrid"
script=$scratch/data/bash-completion/completions/depthgrid
expect 0 "$depthgrid" completion bash
cmp -s out "$script" || fail "what is printed and what is installed differ"

# completes LINE: what a shell that has read the script offers for the line, sorted.
completes() {
  expect 0 bash --norc --noprofile -c '
    source "$1"
    function=$(complete -p depthgrid | sed -n "s/.*-F \([^ ]*\) .*/\1/p")
    COMP_LINE=$2 COMP_POINT=${#2}
    "$function" "$3" "" ""
    printf "%s\n" "${COMPREPLY[@]}" | sort' bash "$script" "$1" "$depthgrid"
}
completes "depthgrid resu"
[ "$(cat out)" = results ] || fail "a verb"
completes "depthgrid results store --b"
[ "$(cat out)" = "--baseline
--by" ] || fail "options"
completes "depthgrid run file --set train.optim"
[ "$(cat out)" = "train.optimizer=" ] || fail "a leaf"
completes "depthgrid run file --set train.optimizer=adam"
grep -qx adamw out || fail "a word of a leaf: only what follows the = is replaced"
completes "depthgrid run conf"
[ -z "$(cat out)" ] || fail "files are the shell's own"

expect 0 "$depthgrid" completion zsh --install
says out "fpath="
head -1 "$scratch/data/zsh/site-functions/_depthgrid" | grep -qx '#compdef depthgrid' || fail "zsh"
if command -v zsh >/dev/null; then zsh -n "$scratch/data/zsh/site-functions/_depthgrid"; fi
expect 2 "$depthgrid" completion fish
echo "completion: ok"
