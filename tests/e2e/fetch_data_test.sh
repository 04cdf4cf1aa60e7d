#!/usr/bin/env bash
# scripts/fetch_data.sh against a server on this machine: whole, interrupted and resumed, wrong
# digest, a server that cannot resume, and files that are there already.
# Usage: fetch_data_test.sh [BUILD_FOLDER SOURCE_FOLDER]
set -euo pipefail

source_dir=$(cd "${2:-$(dirname "$0")/../..}" && pwd)
fetch=$source_dir/scripts/fetch_data.sh
work=$(mktemp -d)
server_pid=
trap '[ -z "$server_pid" ] || kill "$server_pid" 2>/dev/null || true; rm -rf "$work"' EXIT
unset DEPTHGRID_DATA http_proxy https_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY all_proxy

fail() { echo "FAIL: $*" >&2; [ ! -f "$work/err" ] || cat "$work/err" >&2; exit 1; }

mkdir "$work/served" && cd "$work"
head -c 300000 /dev/urandom >served/a.txt
head -c 1000 /dev/urandom >served/b.txt

# Modes of the server, one word in the file `mode`: whole; cut (sends 100,000 bytes of each answer
# and hangs up); plain (ignores ranges); every request is a line of the file `requests`.
cat >server.py <<'PY'
import http.server, os, re
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        mode = open('mode').read().strip()
        requested = self.headers.get('Range', '-')
        with open('requests', 'a') as log:
            log.write(f'{self.path} {requested}\n')
        path = 'served' + self.path
        if not os.path.isfile(path):
            return self.send_error(404)
        data = open(path, 'rb').read()
        match = re.fullmatch(r'bytes=(\d+)-', requested)
        begin = int(match.group(1)) if match and mode != 'plain' else 0
        if begin >= len(data):
            return self.send_error(416)
        self.send_response(206 if begin else 200)
        self.send_header('Content-Length', str(len(data) - begin))
        if begin:
            self.send_header('Content-Range', f'bytes {begin}-{len(data) - 1}/{len(data)}')
        self.end_headers()
        end = min(len(data), begin + 100000) if mode == 'cut' else len(data)
        self.wfile.write(data[begin:end])
        self.close_connection = True
    def log_message(self, *_):
        pass
server = http.server.HTTPServer(('127.0.0.1', 0), Handler)
open('port.tmp', 'w').write(str(server.server_port))
os.rename('port.tmp', 'port')
server.serve_forever()
PY
echo whole >mode
python3 server.py & server_pid=$!
for _ in $(seq 100); do [ -f port ] && break; sleep 0.1; done
[ -f port ] || fail "the server did not start"
url=http://127.0.0.1:$(cat port)

sha() { sha256sum <"$1" | cut -d' ' -f1; }
blob() { { printf 'blob %s\0' "$(stat -c %s "$1")"; cat "$1"; } | sha1sum | cut -d' ' -f1; }
cat >table <<T
pair a.txt http://127.0.0.1:9/never/a.txt sha256 $(sha served/a.txt)
pair b.txt http://127.0.0.1:9/never/b.txt blob $(blob served/b.txt)
broken a.txt $url/a.txt sha256 $(sha served/b.txt)
T
run() { "$fetch" "$@" --table table 2>err; }
expect() {  # code, arguments
  local code=0 wanted=$1
  shift
  run "$@" || code=$?
  [ "$code" = "$wanted" ] || fail "fetch_data $*: exit $code, expected $wanted"
}
requests() { cat requests 2>/dev/null || true; }

echo "whole files from a mirror, checked by both kinds of digest"
expect 0 pair --to out --from "$url/"
cmp served/a.txt out/pair/a.txt && cmp served/b.txt out/pair/b.txt
[ "$(ls -A out/pair | paste -sd' ')" = "a.txt b.txt" ] || fail "left over: $(ls -A out/pair)"

echo "what is there is not fetched again, and needs no server"
rm -f requests
expect 0 pair --to out --from http://127.0.0.1:9
[ -z "$(requests)" ] || fail "asked again"

echo "an interrupted download keeps its part under another name, and is resumed"
echo cut >mode
expect 66 pair --to cut --from "$url"
[ ! -e cut/pair/a.txt ] || fail "a part got the file's name"
[ "$(stat -c %s cut/pair/a.txt.part)" = 100000 ] || fail "the part is not what was sent"
rm -f requests
echo whole >mode
expect 0 pair --to cut --from "$url"
grep -q '^/a.txt bytes=100000-$' requests || fail "not resumed: $(requests)"
cmp served/a.txt cut/pair/a.txt || fail "the resumed file differs"

echo "a part that is complete is published without a request"
mkdir -p done/pair && cp served/a.txt done/pair/a.txt.part && cp served/b.txt done/pair/b.txt.part
rm -f requests
expect 0 pair --to done --from "$url"
[ -z "$(requests)" ] || fail "asked for a complete part"
cmp served/a.txt done/pair/a.txt

echo "a server that cannot resume, or a part that is too long: afresh"
mkdir -p plain/pair && head -c 5000 served/a.txt >plain/pair/a.txt.part
echo plain >mode
expect 0 pair --to plain --from "$url"
cmp served/a.txt plain/pair/a.txt
echo whole >mode
mkdir -p long/pair && head -c 400000 /dev/urandom >long/pair/a.txt.part
expect 0 pair --to long --from "$url"
cmp served/a.txt long/pair/a.txt

echo "a wrong digest is refused, nothing is kept, the next try starts afresh"
expect 65 broken --to bad
grep -q "expected $(sha served/b.txt)" err || fail "the digests are not named"
[ -z "$(ls bad/broken)" ] || fail "kept: $(ls bad/broken)"

echo "a damaged part is found out and fetched afresh"
mkdir -p damaged/pair && head -c 5000 /dev/zero >damaged/pair/a.txt.part
expect 0 pair --to damaged --from "$url"
cmp served/a.txt damaged/pair/a.txt

echo "a user's own file is never overwritten"
mkdir -p own/pair && echo mine >own/pair/a.txt
expect 65 pair --to own --from "$url"
[ "$(cat own/pair/a.txt)" = mine ] || fail "overwritten"

echo "a missing file and wrong command lines"
expect 66 pair --to none --from "$url/nowhere"
expect 2 nothing
grep -q 'known: broken pair' err || fail "the known names are not listed"
expect 2 pair --form x
expect 2
expect 2 pair --to

echo "where the program looks is where it goes by default"
DEPTHGRID_DATA=$work/root expect 0 pair --from "$url"
cmp served/a.txt root/pair/a.txt
expect 0 pair --from "$url"
cmp served/a.txt data/pair/a.txt

echo "two at a time end with whole files"
run pair --to two --from "$url" & first=$!
"$fetch" pair --to two --from "$url" --table table 2>err2 || fail "the second failed: $(cat err2)"
wait $first || fail "the first failed"
cmp served/a.txt two/pair/a.txt

[ "$("$fetch" --list | paste -sd' ')" = "gpt2-bpe tiny-shakespeare wikitext-2" ] || fail "--list"
echo "ok"
