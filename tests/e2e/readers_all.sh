#!/usr/bin/env bash
# readers.sh, then the same files with other builds of the netCDF library, each in an environment of its own. Without
# a network there are none: skipped.
source "$(dirname "${BASH_SOURCE[0]}")/readers.sh" "$@"
expect 0 "$depthgrid" run models.yaml --store again -q
tried=0
unset PYTHONPATH # it would go before the packages of the environments
for version in 1.7.2 1.7.4; do # libnetcdf 4.9.4-development and 4.9.3
  python3 -m venv "venv-$version"
  "venv-$version/bin/python" -m pip --quiet install "netCDF4==$version" xarray >out 2>err || { cat err && continue; }
  netcdf --python "venv-$version/bin/python" again/sweep.h5 again/plan.h5 again/cells/*/*/{result,states-*}.h5 rates/sweep.h5 ||
    fail "netCDF4 $version"
  tried=$((tried + 1))
done
[ "$tried" -gt 0 ] || exit 77
echo "readers_all: ok"
