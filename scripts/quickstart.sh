#!/usr/bin/env bash
# From a bare machine to an answer: sets up, builds, trains the ten cells of configs/quickstart.yaml
# on two ranks, shows the results and what they say, and makes a page of them. Further arguments go to `depthgrid run`, for example
#   scripts/quickstart.sh --set train.steps=50 --store /tmp/short
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
scripts/setup.sh
scripts/build.sh release depthgrid depthgrid-worker
mpi_environment

store=results/quickstart corpus=()
if folder=$(find_wikitext); then
  say "== text: WikiText-2 in $folder"
else
  store=results/quickstart-self corpus=(--set data.corpus=self)
  say "== text: WikiText-2 is neither in \$DEPTHGRID_DATA nor in data/, so the cells train on this"
  say "   repository's own documentation and sources (scripts/fetch_data.sh wikitext-2 gets it)"
fi
for ((i = 1; i <= $#; i++)); do
  if [[ ${!i} == --store ]]; then
    next=$((i + 1)) store=${!next}
  elif [[ ${!i} == --store=* ]]; then
    store=${!i}
    store=${store#--store=}
  fi
done

depthgrid=build/release/depthgrid
command=(mpirun -q -np 2 "$depthgrid" run configs/quickstart.yaml --store "$store" "${corpus[@]}" "$@")
say "== training: ${command[*]}"
start=$(now)
status=0
"${command[@]}" || status=$?
if ((status == 75)); then
  say "== stopped after $(elapsed "$start"); the same command resumes it" >&2
  exit "$status"
elif ((status != 0)); then
  say "FAILED after $(elapsed "$start") (exit code $status): ${command[*]}" >&2
  say "   likely cause: in the lines above; '$depthgrid status $store' and '$depthgrid logs CELL --store $store' say more" >&2
  exit "$status"
fi
say "   done in $(elapsed "$start")"
[[ -f $store/sweep.h5 ]] || step pack "packing the results into one file" "see the log" "$depthgrid" pack "$store"

say "== results ($depthgrid results $store)"
"$depthgrid" results "$store"
page=${store%/}.html
say "== what they say ($depthgrid compare $store)"
"$depthgrid" compare "$store" || (($? == 4))  # 4: what was trained tells no difference, as one seed does not
step page "making one page of pictures: $page" "see the log" "$depthgrid" report "$store" -o "$page"
cat <<TEXT
== to be read in a browser, and to be mailed: $page
== everything that was recorded: $store/sweep.h5; in .venv/bin/python:
     import xarray as xr
     sweep = xr.open_dataset("$store/sweep.h5", engine="h5netcdf")
     print(sweep[["final_loss", "n_parameters"]].sel(split="valid").to_dataframe())
== all in $(elapsed "$script_start")
TEXT
