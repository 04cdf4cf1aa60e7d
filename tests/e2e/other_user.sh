#!/usr/bin/env bash
# Two users and one store: one that is closed says so with owner, mode and the mend (73); a shared one is trained by both.
. "$(dirname "$0")/common.sh"
if [ "$(id -u)" != 0 ] || ! command -v setpriv >/dev/null; then
  echo "skipped: two users need root and setpriv"
  exit 77
fi
chmod 755 "$scratch"
export HOME=$scratch
# other GROUP COMMAND...: as another user, of that group.
other() {
  local group=$1
  shift
  env XDG_CACHE_HOME="$scratch/others" setpriv --reuid=65534 --regid="$group" --clear-groups "$@"
}
mkdir others && chown 65534 others
if ! other 65534 "$depthgrid" --version >/dev/null 2>&1; then
  echo "skipped: the build cannot be reached by another user"
  exit 77
fi
mode() { stat -c %a "$1"; }
tiny=$sources/configs/tiny.yaml
cp "$tiny" sweep.yaml && chmod 644 sweep.yaml

# A store of another user is closed, not absent.
mkdir closed && chmod 750 closed
printf '{"format": "depthgrid-store", "version": 2, "uuid": "u", "created": "c"}\n' >closed/STORE.json
for verb in "status closed" "results closed" "pack closed" "gc closed" "run sweep.yaml --store closed"; do
  # shellcheck disable=SC2086 # words
  expect 73 other 65534 "$depthgrid" $verb
  says err "closed belongs to root (uid 0), mode 0750"
  ! grep -q "filesystem error\|no store here" err || fail "$verb: a text of a library, or 'absent'"
done
expect 66 other 65534 "$depthgrid" status nowhere
expect 1 other 65534 "$depthgrid" doctor closed
says out "belongs to root (uid 0), mode 0750"

[ -x "$build/depthgrid-worker" ] || exit 0
# One that its group may read can be read by it, and not be written.
expect 0 "$depthgrid" run sweep.yaml --store own -q
[ "$(mode own)" = 750 ] && [ "$(mode own/STORE.json)" = 640 ] || fail "a store of one user is $(mode own)"
expect 0 other 0 "$depthgrid" status own
expect 73 other 0 "$depthgrid" run sweep.yaml --store own --set seeds=3 -q
says err "belongs to root (uid 0)"

# A shared one is worked in by both users, whatever their umasks.
umask 077
expect 0 "$depthgrid" run sweep.yaml --store shared --shared-group -q
[ "$(mode shared)" = 2770 ] && [ "$(mode shared/STORE.json)" = 660 ] || fail "a shared store is $(mode shared)"
expect 0 other 0 "$depthgrid" run sweep.yaml --store shared --set seeds=3 -q
[ -n "$(find shared/cells -name result.h5 -user 65534)" ] || fail "the other user has trained nothing"
expect 0 "$depthgrid" run sweep.yaml --store shared --set seeds=4 -q
expect 0 other 0 "$depthgrid" run sweep.yaml --store shared --set seeds=5 -q -j 2
expect 0 other 0 "$depthgrid" pack shared
[ -z "$(find shared/cells -type d ! -perm -2770)" ] || fail "a folder of a cell is not the group's"
[ -z "$(find shared/cells -type f ! -perm -660)" ] || fail "a file of a cell is not the group's"
expect 73 other 65534 "$depthgrid" status shared # not of the group

# A store of one user becomes shared.
umask 022
expect 0 "$depthgrid" run sweep.yaml --store own --shared-group -q
expect 0 other 0 "$depthgrid" run sweep.yaml --store own --set seeds=3 -q
