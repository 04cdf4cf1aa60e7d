#!/usr/bin/env bash
# Packs a build for other machines: compute nodes of a cluster, or a machine without compiler or
# package registry. scripts/bundle.sh [--tests] [--build FOLDER] [ARCHIVE.tar.gz | ARCHIVE.tar.xz]
#   --tests          also packs test programs, benchmarks and gpu_check.sh, for a quarter of an hour on a GPU
#   --build FOLDER   packs the existing build in FOLDER, and builds nothing
# The target needs x86-64, a glibc at least as new as here, and an installed torch 2.11.0, which is
# not packed:
#   tar xf depthgrid-*.tar.gz && cd depthgrid-*/ && ./depthgrid run configs/tiny.yaml
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
limit_mb=40
build=
tests=()
if [[ ${1:-} == --tests ]]; then
  tests=(gpu_test)
  limit_mb=50  # what machines with a lent GPU take
  shift
fi
if [[ ${1:-} == --build ]]; then
  build=$(realpath -e "${2:?--build wants a folder}")
  shift 2
fi
version=$(sed -n 's/^project(depthgrid VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
bundle=depthgrid-$version-linux-$(uname -m)
archive=$(realpath -m "${1:-build/$bundle.tar.gz}")  # gzip: a minimal system has no xz
if [[ -z $build ]]; then
  build=$root/build/release
  scripts/build.sh release depthgrid-worker depthgrid "${tests[@]}"
fi
stage=$build/bundle/$bundle
rm -rf "$stage"
mkdir -p "$stage"/{bin,lib,share/depthgrid,openmpi/{plugins,etc,share}}

# Libraries expected on the target: LibTorch's, CUDA's, glibc's.
readonly not_ours='/(libtorch|libc10|libgomp|libcu(da|dart|blas|dnn|fft|rand|solver|sparse|pti|file)|libnv|libnccl|libcaffe2|libshm)|/(libc|libm|libdl|librt|libpthread|libresolv|libutil|libanl|ld-linux[^/]*)\.so'
# Plug-ins for hardware that users of Open MPI configure on their own machines, and their libraries.
readonly fabrics='libfabric|libuc[mpst]\.|libpsm|libinfinipath|libibverbs|librdmacm|libefa|liboshmem|libmca_common_(ucx|ofi|verbs)'

needed() {  # needed FILE...: the libraries that they load, except those expected on the target
  ldd "$@" 2>/dev/null | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u | grep -vE "$not_ours" || true
}

collect() {
  local program plugins plugin library runtime
  for program in depthgrid depthgrid-worker libdepthgrid_cuda.so "${tests[@]}"; do
    [[ -f $build/$program ]] || continue
    strip -o "$stage/bin/$program" "$build/$program"
    chmod 755 "$stage/bin/$program"
    # The launcher says where torch is; the bundle must not contain paths of this machine.
    printf 'file(RPATH_REMOVE FILE "%s")\n' "$stage/bin/$program" >"$stage/../rpath.cmake"
    cmake -P "$stage/../rpath.cmake"
  done
  for program in orterun orted; do cp -L "$(command -v $program)" "$stage/bin/"; done
  ln -s orterun "$stage/bin/mpirun"

  plugins=$(ompi_info --parsable --path pkglibdir | sed -n 's/^path:pkglibdir://p')
  for plugin in "$plugins"/mca_*.so; do
    if [[ $plugin == */mca_*_monitoring.so || -n $(ldd "$plugin" | grep -E "$fabrics" || true) ]]; then
      continue
    fi
    cp -L "$plugin" "$stage/openmpi/plugins/"
  done
  cp -rL "$(ompi_info --parsable --path pkgdatadir | sed -n 's/^path:pkgdatadir://p')"/*.txt "$stage/openmpi/share/"
  printf 'btl_base_warn_component_unused = 0\n' >"$stage/openmpi/etc/openmpi-mca-params.conf"

  needed "$build/depthgrid-worker" "$build/depthgrid" "$stage"/bin/orte* "$stage"/openmpi/plugins/*.so >"$stage/../libraries"
  while read -r library; do cp -L "$library" "$stage/lib/"; done <"$stage/../libraries"
  # PMIx loads its own plug-ins.
  runtime=$(dirname "$(readlink -f "$(grep -m1 '/libpmix\.so' "$stage/../libraries")")")
  cp -rL "$runtime/pmix" "$stage/openmpi/pmix"
  strip --strip-unneeded "$stage"/lib/*.so* "$stage"/openmpi/plugins/*.so "$stage"/openmpi/pmix/*.so \
    "$stage"/bin/orte* 2>/dev/null || true
  cp -r configs "$stage/"
  cp README.md "$stage/share/depthgrid/"
  cp LICENSE "$stage/"
  cp scripts/bundle/launcher.sh "$stage/depthgrid"
  chmod 755 "$stage/depthgrid"
  ln -s depthgrid "$stage/mpirun"
  if ((${#tests[@]})); then collect_tests; fi
}

# Test programs start like depthgrid.
collect_tests() {
  local program
  for program in "${tests[@]}"; do ln -s depthgrid "$stage/$program"; done
  mkdir -p "$stage"/{gpu_check,bench/baselines}
  cp scripts/gpu_check.sh "$stage/"
  cp scripts/gpu_check/*.{py,yaml} "$stage/gpu_check/"
  cp bench/*.py "$stage/bench/"
  cp bench/baselines/*.py "$stage/bench/baselines/"
}

# The corpus `self` exactly as the programs read it: a short run freezes it in its store.
freeze_self() {
  local store=$stage/../self
  rm -rf "$store"
  "$build/depthgrid" run configs/quickstart.yaml --store "$store" -q --set data.corpus=self --set train.steps=1 \
    --set seeds=1 --set eval.windows=1 --set eval.final_windows=1 --set resources.device=cpu
  cp "$store/texts/self" "$stage/share/depthgrid/self.txt"
}

compress() {
  mkdir -p "$(dirname "$archive")"
  case $archive in
    *.tar.gz) tar -C "$stage/.." -czf "$archive" --owner=0 --group=0 --sort=name "$bundle" ;;
    *) tar -C "$stage/.." -cJf "$archive" --owner=0 --group=0 --sort=name "$bundle" ;;
  esac
  local size=$((($(stat -c %s "$archive") + 999999) / 1000000))
  ((size <= limit_mb)) || { echo "$archive has $size MB, more than $limit_mb" >&2; return 1; }
}

step bundle-collect "collecting programs, libraries, Open MPI and configurations" \
  "a part of Open MPI is not where its packages put it" collect
step bundle-self "freezing this repository's text, the corpus of the quickstart" \
  "the worker does not run here: try scripts/quickstart.sh" freeze_self
step bundle-pack "packing $archive" "the bundle has grown over $limit_mb MB: see build/bundle" compress
du -h "$archive" | awk '{ print "== bundle: " $2 ", " $1 }'
say "== done in $(elapsed "$script_start")"
