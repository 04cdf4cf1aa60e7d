#!/usr/bin/env bash
# Fetches a corpus, or GPT-2's vocabulary, for a machine with a network.
#
#   scripts/fetch_data.sh NAME [--to DIR] [--from URL] [--table FILE]
#
# NAME    wikitext-2, tiny-shakespeare or gpt2-bpe; --list prints them
# --to    the files go to DIR/NAME (default: $DEPTHGRID_DATA, else ./data: where the program looks)
# --from  take URL/FILE instead of the published addresses (a mirror with the same file names)
# --table another table of the same form as the one below
#
# An interrupted download is resumed by the same command. A file gets its name only after its digest
# was checked. Exit codes: 0 done, 2 wrong command line, 65 wrong digest, 66 not to be had,
# 73 cannot write.
set -euo pipefail

github=https://raw.githubusercontent.com
wikitext=$github/pytorch/examples/77f55b912142e11fcfdf5b530231fb9c52f181e8/word_language_model/data/wikitext-2
shakespeare=$github/karpathy/char-rnn/6f9487a6fe5b420b7ca9afb0d7c078e37c1d1b4e/data/tinyshakespeare
gpt2=https://openaipublic.blob.core.windows.net/gpt-2/encodings/main

# NAME FILE ADDRESS KIND DIGEST; kind: sha256, or blob (the id that git gives a file)
table="
wikitext-2 train.txt $wikitext/train.txt blob 2d84b35af79e411d73ea7cae83c73964c6ac83b4
wikitext-2 valid.txt $wikitext/valid.txt blob eec944eb2d9e46061cd34a6913528797db6842fc
wikitext-2 test.txt $wikitext/test.txt blob 6f3fc88e4cd88456ea892971f9f12243e8428624
tiny-shakespeare input.txt $shakespeare/input.txt sha256 86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed
gpt2-bpe encoder.json $gpt2/encoder.json sha256 196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783
gpt2-bpe vocab.bpe $gpt2/vocab.bpe sha256 1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5
"

fail() {  # code, message
  echo "fetch_data: $2" >&2
  exit "$1"
}

usage() {
  sed -n '2,/^set -/{/^#/{s/^# \{0,1\}//;p}}' "$0" >&2
  exit 2
}

name='' to=${DEPTHGRID_DATA:-data} from='' list=''
while [ $# -gt 0 ]; do
  case $1 in
    --to|--from|--table) [[ $# -ge 2 && -n $2 ]] || fail 2 "$1 needs a value" ;;&
    --to) to=$2; shift ;;
    --from) from=${2%/}; shift ;;
    --table) table=$(cat "$2") || fail 66 "cannot read the table $2"; shift ;;
    --list) list=yes ;;
    -h|--help) usage ;;
    -*) fail 2 "unknown option $1 (known: --to, --from, --table, --list)" ;;
    *) [ -z "$name" ] || fail 2 "one name at a time: $name, $1"; name=$1 ;;
  esac
  shift
done

names=$(awk 'NF == 5 {print $1}' <<<"$table" | sort -u | paste -sd' ')
if [ -n "$list" ]; then
  tr ' ' '\n' <<<"$names"
  exit 0
fi
[ -n "$name" ] || usage
rows=$(awk -v name="$name" 'NF == 5 && $1 == name' <<<"$table")
[ -n "$rows" ] || fail 2 "unknown name '$name'; known: $names"
command -v curl >/dev/null || fail 66 "curl is needed (apt-get install curl)"

digest() {  # kind, file
  case $1 in
    sha256) sha256sum <"$2" | cut -d' ' -f1 ;;
    blob) { printf 'blob %s\0' "$(stat -c %s "$2")"; cat "$2"; } | sha1sum | cut -d' ' -f1 ;;
    *) fail 2 "the table has an unknown kind of digest: $1" ;;
  esac
}

download() {  # address, part: resumes where part ends
  curl --fail --location --show-error --no-progress-meter --connect-timeout 30 \
    --speed-limit 1 --speed-time 60 --continue-at - --output "$2" "$1"
}

folder=$to/$name
mkdir -p "$folder" || fail 73 "cannot make $folder"
# Two downloads into one folder run one after the other; the second finds everything present.
exec 9>"$folder/.fetch.lock" || fail 73 "cannot write in $folder"
flock 9

while read -r _ file address kind expected; do
  target=$folder/$file
  part=$target.part
  [ -z "$from" ] || address=$from/$file
  if [ -f "$target" ]; then
    found=$(digest "$kind" "$target")
    if [ "$found" = "$expected" ]; then
      echo "fetch_data: $target is there" >&2
      continue
    fi
    # This may be the user's own text: never overwrite it.
    fail 65 "$target has the $kind digest $found, expected $expected; move it away to fetch the published file"
  fi
  resumed=
  if [ -s "$part" ]; then
    resumed=yes
    echo "fetch_data: $part has $(stat -c %s "$part") bytes: going on from there" >&2
  fi
  if [ -z "$resumed" ] || [ "$(digest "$kind" "$part")" != "$expected" ]; then
    code=0
    download "$address" "$part" || code=$?
    # The server cannot resume (33), the part is longer than the file (22), or it was damaged.
    if [ -n "$resumed" ] && { [ $code = 33 ] || [ $code = 22 ] ||
         { [ $code = 0 ] && [ "$(digest "$kind" "$part")" != "$expected" ]; }; }; then
      echo "fetch_data: that part is of no use: fetching $file from its start" >&2
      rm -f "$part"
      code=0
      download "$address" "$part" || code=$?
    fi
    [ $code = 0 ] || fail 66 "$address: download failed (curl $code); the same command continues from here"
  fi
  found=$(digest "$kind" "$part")
  if [ "$found" != "$expected" ]; then
    rm -f "$part"
    fail 65 "$address: $kind digest $found, expected $expected; nothing was kept: try again, or another --from"
  fi
  chmod 644 "$part"
  sync "$part" 2>/dev/null || true
  mv "$part" "$target" || fail 73 "cannot write $target"
  echo "fetch_data: $target ($(stat -c %s "$target") bytes)" >&2
done <<<"$rows"
rm -f "$folder/.fetch.lock"
