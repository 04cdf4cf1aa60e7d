#!/usr/bin/env bash
# Installs what the build needs: system packages, .venv with the pinned Python packages (one of them
# contains LibTorch) and, if the machine has no CUDA 13.0 toolkit, nvcc in .venv/cuda.
# A second run skips what is installed and needs no network.
#   DEPTHGRID_CUDA=OFF     no nvcc, no GPU part
#   DEPTHGRID_CUDA_HOME=D  the toolkit in folder D
#   PYTHON=python3.12      the Python with which .venv is created
#   CHROMIUM=P             the browser for the test of pages, if none of the usual names is in the PATH
#   CMAKE_PREFIX_PATH=D    a LibTorch 2.11 of your own: the 4.7 GB of the wheel are not fetched
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

packages=(
  g++ cmake ninja-build ccache pkg-config python3 python3-venv git ca-certificates
  openmpi-bin libopenmpi-dev libhdf5-dev hdf5-tools netcdf-bin libyaml-cpp-dev libboost-program-options-dev
  libspdlog-dev libfmt-dev nlohmann-json3-dev libssl-dev libgtest-dev xz-utils tmux)
# A private Slurm for the tests of submissions (scripts/slurm/lab.sh); a machine that has one keeps it.
command -v sbatch >/dev/null || packages+=(slurm-wlm munge)

# --- System packages -----------------------------------------------------------------------------
apt_install() {  # apt_install AS... -- PACKAGES...
  local as=()
  while [[ $1 != -- ]]; do as+=("$1"); shift; done
  shift
  # An unreachable third-party source must not stop the script: the installation shows whether it mattered.
  "${as[@]}" apt-get -o Acquire::Retries=3 update || true
  "${as[@]}" env DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 \
    apt-get -o Acquire::Retries=3 install -y --no-install-recommends "$@"
}

as=()  # what makes a command the administrator's
be_root() {
  if ((EUID == 0)); then
    as=(env)
  elif command -v sudo >/dev/null && { sudo -n true 2>/dev/null || { [[ -t 0 ]] && sudo -v; }; }; then
    as=(sudo -n)
  else
    return 1
  fi
}

missing=()
if command -v dpkg-query >/dev/null; then
  for package in "${packages[@]}"; do
    [[ $(dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null) == ii* ]] || missing+=("$package")
  done
  apt_line="apt-get install -y --no-install-recommends ${missing[*]}"
else
  skip "system packages" "this is no Debian; needed are what these Debian packages hold: ${packages[*]}"
fi
if ((${#missing[@]} == 0)); then
  command -v dpkg-query >/dev/null && skip "system packages" "all ${#packages[@]} are here"
elif be_root; then
  by=""
  [[ ${as[0]} == sudo ]] && by=" by sudo"
  step apt "installing ${#missing[@]} system packages$by: ${missing[*]}" "see the log" \
    apt_install "${as[@]}" -- "${missing[@]}"
else
  say "== system packages missing: ${#missing[@]}; neither root nor sudo is at hand."
  say "   Ask an administrator for this one line; meanwhile we go on with what is here:"
  say "     $apt_line"
fi

# A browser for one test, e2e.page, which is skipped without. It is a step of its own that may fail: Ubuntu has it as a
# snap only.
browser=""
for name in "${CHROMIUM:-chromium}" google-chrome google-chrome-stable chrome; do
  [[ -n $browser ]] || browser=$(command -v "$name") || true
done
if [[ -n $browser ]]; then
  skip "Chromium" "$browser"
elif command -v dpkg-query >/dev/null && be_root; then
  MAY_FAIL=1
  step apt-chromium "installing Chromium for the test of pages (190 MB to fetch, 0.7 GB on disk)" "no such package here" \
    apt_install "${as[@]}" -- chromium
  MAY_FAIL=0
  ((step_status == 0)) || say "   going on without: the test e2e.page will be skipped"
else
  skip "Chromium" "none here; the test e2e.page will be skipped (Debian: apt-get install chromium; CHROMIUM=PATH names one)"
fi

# --- Python packages: LibTorch, formatter, linter, analysis --------------------------------------
python=${PYTHON:-python3}
if ! "$venv/bin/python" -c 'import pip' 2>/dev/null; then
  step venv "making .venv with $(command -v "$python" || echo "$python")" \
    "python3-venv is missing${missing[*]:+ (it may be among the packages listed above)}" \
    "$python" -m venv --clear "$venv"
fi

own_torch=""
IFS=':;' read -ra prefixes <<<"${CMAKE_PREFIX_PATH:-}"
for prefix in "${prefixes[@]}"; do
  [[ -e $prefix/lib/libtorch_cpu.so ]] && own_torch=$prefix
done

pip=("$venv/bin/python" -m pip --no-input --disable-pip-version-check install --retries 5)
install() {  # install NAME "what" "cause" FILE [OPTION of pip...]: skipped when FILE's digest is the stamp's
  local stamp=$venv/.depthgrid-$1 digest
  digest=$(sha256sum <"$4")
  if [[ -f $stamp && $(<"$stamp") == "$digest" ]]; then
    skip "$2" "here already"
    return
  fi
  step "pip-$1" "$2" "$3" "${pip[@]}" "${@:5}" -r "$4"
  printf '%s\n' "$digest" >"$stamp"
}
if [[ -n $own_torch ]]; then
  skip "LibTorch" "the one in $own_torch (CMAKE_PREFIX_PATH)"
else
  install torch "LibTorch 2.11.0 with CUDA 13.0 libraries (4.7 GB on disk)" \
    "no network to the package index, or less than 8 GB of free disk" requirements.txt
fi
install dev "clang-format, clang-tidy, shellcheck and netCDF4" "no network to the package index" requirements-dev.txt
install page "axe-core for the test of pages" "no network to the package index" requirements-page.txt --no-deps
install analysis "packages for reading results in Python" "no network to the package index" \
  requirements-analysis.txt

# --- nvcc ----------------------------------------------------------------------------------------
# nvcc from wheels needs the classic folder layout. Links are relative, so that the checkout may
# move; the linker needs libX.so beside each libX.so.N.
make_cuda_folder() {
  local site source made=$venv/cuda.new library name
  site=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  source=$site/nvidia/cu13
  rm -rf "$made"
  # bin is a folder of links, not a link: nvcc finds the rest through bin/.., which must be this layout.
  mkdir -p "$made/bin" "$made/lib64/stubs"
  for name in "$source"/bin/*; do ln -s "../../${name#"$venv/"}" "$made/bin/${name##*/}"; done
  for name in include nvvm; do ln -s "../${source#"$venv/"}/$name" "$made/$name"; done
  ln -s lib64 "$made/lib"
  for library in "$source"/lib/*; do
    name=${library##*/}
    [[ -d $library ]] && continue
    ln -sf "../../${library#"$venv/"}" "$made/lib64/$name"
    [[ $name == *.so.* ]] && ln -sf "$name" "$made/lib64/${name%%.so.*}.so"
  done
  rm -rf "$venv/cuda"
  mv "$made" "$venv/cuda"
  "$venv/cuda/bin/nvcc" --version
}
if [[ ${DEPTHGRID_CUDA:-AUTO} == OFF ]]; then
  skip "nvcc" "not wanted (DEPTHGRID_CUDA=OFF)"
elif home=$(find_cuda); then
  skip "nvcc 13.0" "$home"
elif [[ -n ${DEPTHGRID_CUDA_HOME:-} && $DEPTHGRID_CUDA_HOME != "$venv/cuda" ]]; then
  say "FAILED: DEPTHGRID_CUDA_HOME=$DEPTHGRID_CUDA_HOME has no nvcc of CUDA 13.0; unset it to have one made in .venv/cuda" >&2
  exit 1
else
  # Without the nvvm extra pip installs a newer one, whose code the 13.0 assembler rejects.
  [[ ${DEPTHGRID_CUDA:-AUTO} == ON ]] || MAY_FAIL=1
  step pip-nvcc "nvcc 13.0 from Python packages (0.3 GB)" "no network to the package index" \
    "${pip[@]}" "cuda-toolkit[nvcc,nvvm,cccl,crt]==13.0.2"
  if ((step_status == 0)); then
    step cuda-folder "a CUDA toolkit folder in .venv/cuda" "see the log" make_cuda_folder
  fi
  if ((step_status != 0)); then
    say "   going on without the GPU part (DEPTHGRID_CUDA=ON makes this an error, OFF leaves it out)"
  fi
  MAY_FAIL=0
fi
say "== set-up done in $(elapsed "$script_start")"
