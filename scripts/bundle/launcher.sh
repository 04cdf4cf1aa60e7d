#!/bin/sh
# Starts the bundled program of this name (depthgrid or mpirun) with the paths of its libraries, its
# Open MPI and an installed torch 2.11.0. TORCH_LIB=FOLDER names torch's lib folder; otherwise
# the python3 in PATH, or $PYTHON, is asked for it.
here=$(dirname "$(readlink -f "$0")")
name=$(basename "$0")

if [ -z "$TORCH_LIB" ]; then
  # The place where `import torch` would find it; importing it would take seconds.
  TORCH_LIB=$("${PYTHON:-python3}" -c '
import importlib.util
spec = importlib.util.find_spec("torch")
print(spec.submodule_search_locations[0] + "/lib" if spec else "")' 2>/dev/null)
fi
libraries=
if [ -n "$TORCH_LIB" ] && [ -e "$TORCH_LIB/libtorch_cpu.so" ]; then
  version=$(sed -n "s/^__version__ = '\([^']*\)'.*/\1/p" "$TORCH_LIB/../version.py" 2>/dev/null)
  case ${version:-2.11.0} in
    2.11.0*) ;;
    *) echo "depthgrid: torch in $TORCH_LIB is $version; this bundle was built with 2.11.0: install that" \
        "one beside it (python3 -m venv) and name its Python (PYTHON=...)" >&2
      exit 78 ;;
  esac
  site=$(readlink -f "$TORCH_LIB/../..")
  libraries=$TORCH_LIB
  for folder in "$site"/nvidia/*/lib; do
    if [ -d "$folder" ]; then libraries=$libraries:$folder; fi
  done
else
  # The other verbs work without torch; plan then shows no costs.
  case $name:$1 in
    mpirun:* | depthgrid:run | depthgrid:audit | depthgrid:eval | depthgrid:generate | depthgrid:export | \
      depthgrid:check | depthgrid:bench)
      echo "depthgrid: no torch 2.11.0 found: pip install torch==2.11.0, name a Python that has it" \
        "(PYTHON=...) or its lib folder (TORCH_LIB=...)" >&2
      exit 78 ;;
  esac
fi
export TORCH_LIB
LD_LIBRARY_PATH=${libraries:+$libraries:}$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH

# The bundled programs load the bundled Open MPI, so its data files must be the bundled ones too.
OPAL_PREFIX=$here/openmpi
OPAL_BINDIR=$here/bin
OPAL_LIBDIR=$here/lib
OPAL_PKGLIBDIR=$here/openmpi/plugins
OPAL_PKGDATADIR=$here/openmpi/share
OPAL_SYSCONFDIR=$here/openmpi/etc
PMIX_PKGLIBDIR=$here/openmpi/pmix
export OPAL_PREFIX OPAL_BINDIR OPAL_LIBDIR OPAL_PKGLIBDIR OPAL_PKGDATADIR OPAL_SYSCONFDIR PMIX_PKGLIBDIR
# On one machine Open MPI needs no remote shell, but refuses to start where there is none.
if ! command -v ssh >/dev/null && ! command -v rsh >/dev/null; then
  export OMPI_MCA_plm_rsh_agent=false
fi
PATH=$here/bin:$PATH
export PATH
exec "$here/bin/$name" "$@"
