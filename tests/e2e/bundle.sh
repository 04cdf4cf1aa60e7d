#!/usr/bin/env bash
# The bundle stands on its own feet: unpacked in another place, with an empty environment, every
# library comes from the bundle, from torch or from glibc; and it trains, alone and on two ranks.
. "$(dirname "$0")/common.sh"
torch=$(sed -n 's/^TORCH_CPU_LIBRARY:[A-Z]*=\(.*\)\/libtorch_cpu\.so$/\1/p' "$build/CMakeCache.txt")
"$sources/scripts/bundle.sh" --build "$build" "$scratch/packed.tar.gz" >out 2>err || fail "scripts/bundle.sh"
mkdir "another place"
tar -C "another place" -xzf packed.tar.gz
bundle=$(echo "$scratch/another place"/depthgrid-*)
cd "$bundle"

# bare COMMAND...: as on a machine that has torch, and nothing of ours.
bare() {
  env -i HOME="$scratch" PATH=/usr/bin:/bin TORCH_LIB="$torch" OMP_NUM_THREADS=1 \
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 \
    OMPI_MCA_orte_tmpdir_base="$scratch" "$@"
}

# --- libraries -----------------------------------------------------------------------------------
nvidia=$(printf '%s:' "$(readlink -f "$torch/../..")"/nvidia/*/lib)
files=0
while IFS= read -r -d '' file; do
  [ "$(head -c 4 "$file")" = $'\x7fELF' ] || continue
  files=$((files + 1))
  expect 0 bare env LD_LIBRARY_PATH="$torch:$nvidia$bundle/lib" ldd "$file"
  while read -r line; do
    case $line in
      *"=> $bundle/"* | *"=> $torch/"* | *"=> "*/site-packages/nvidia/* | linux-vdso* | */ld-linux* | statically*) continue ;;
      lib[cm].so* | libdl.so* | librt.so* | libpthread.so* | libresolv.so* | libutil.so* | libanl.so*) continue ;;
      libcuda.so*) [[ $file == */libdepthgrid_cuda.so ]] && continue ;; # the driver's
    esac
    fail "${file#./} needs what is not in the bundle: $line"
  done <"$scratch/out"
done < <(find . -type f -print0)
[ "$files" -gt 60 ] || fail "only $files programs and libraries were looked at"

# --- programs ------------------------------------------------------------------------------------
expect 0 bare ./depthgrid --version
expect 0 bare ./depthgrid validate configs/quickstart.yaml
says out '10 cells'
expect 0 bare ./depthgrid plan configs/tiny.yaml --json
check 'all(job["parameters_per_cell"] > 0 for job in j["jobs"])'
expect 0 bare ./depthgrid run configs/tiny.yaml --store "$scratch/tiny" -q
expect 0 bare ./mpirun -np 2 ./depthgrid run configs/tiny.yaml --store "$scratch/ranks" -q
expect 0 bare ./mpirun -np 2 ./depthgrid run configs/tiny.yaml --store "$scratch/team" -q \
  --set resources.ranks_per_job=2
for store in tiny ranks team; do
  expect 0 bare ./depthgrid results "$scratch/$store" --json
  check 'len(j["cells"]) == 4 and all(c["status"] == "completed" for c in j["cells"])'
done
[ "$(sha256sum <share/depthgrid/self.txt)" != "$(sha256sum </dev/null)" ] || fail "the corpus self is empty"

# A link to the launcher, and another working directory.
ln -s "$bundle/depthgrid" "$scratch/depthgrid"
cd "$scratch"
expect 0 bare ./depthgrid results tiny

# --- no torch, or another one --------------------------------------------------------------------
expect 78 bare TORCH_LIB= PYTHON=/bin/false "$bundle/depthgrid" run "$bundle/configs/tiny.yaml"
says err 'pip install torch==2.11.0'
expect 0 bare HOME="$scratch/no cache" TORCH_LIB= PYTHON=/bin/false "$bundle/depthgrid" plan "$bundle/configs/tiny.yaml" --json
check 'any("costs are unknown" in note for note in j["notes"])'
expect 0 bare TORCH_LIB= PYTHON=/bin/false "$bundle/depthgrid" results tiny
mkdir -p other/torch/lib
touch other/torch/lib/libtorch_cpu.so
echo "__version__ = '2.10.0+cpu'" >other/torch/version.py
expect 78 bare TORCH_LIB="$scratch/other/torch/lib" "$bundle/depthgrid" run "$bundle/configs/tiny.yaml"
says err '2.10.0+cpu'
echo "bundle: ok, $files programs and libraries, $(stat -c %s packed.tar.gz) bytes packed"
