"""Tries readers of netCDF on HDF5 files, each in a process of its own, as they may die, and compares what each has
found with what h5py finds: names, axes, types, every number, every text, attributes.

Usage: netcdf.py [--python PYTHON] [--need READER,...] FILE...
  --python  the interpreter whose netCDF4 and xarray are tried; default: this one
  --need    readers that must be there, of: ncdump netCDF4 xarray R octave; the others are tried where they are
Prints a line for each reader. Exit code 1 if one has failed or is missing.
"""

import argparse
import base64
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import h5py
import numpy as np

LIMIT = 120  # s that a reader may take for a file
HIDDEN = {"DIMENSION_LIST", "REFERENCE_LIST", "CLASS", "NAME"}  # of HDF5's dimension scales
CDL = {"i1": "byte", "i4": "int", "i8": "int64", "f4": "float", "f8": "double", "O": "string"}

COMMON = """
import base64, json, sys
import numpy as np
def told(value):
    if isinstance(value, str):
        return value
    array = np.asarray(value)
    if array.dtype.kind in "OUST":
        return [str(text) for text in array.flat]
    return [array.dtype.str, base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()]
"""
NETCDF4 = COMMON + """
import netCDF4
data = netCDF4.Dataset(sys.argv[1])
data.set_auto_maskandscale(False)
def attributes(of):
    return {name: told(of.getncattr(name)) for name in of.ncattrs()}
out = {name: [list(v.dimensions), told(v[...]), attributes(v)] for name, v in data.variables.items()}
print(json.dumps({"attributes": attributes(data), "variables": out}))
"""
XARRAY = COMMON + """
import xarray as xr
xr.open_dataset(sys.argv[1], engine="netcdf4").load()
data = xr.open_dataset(sys.argv[1], engine="netcdf4", decode_times=False, mask_and_scale=False)
print(json.dumps({"variables": {name: [list(v.dims), told(v.values), None] for name, v in data.variables.items()}}))
"""
R = r"""
library(ncdf4)
file <- nc_open(commandArgs(TRUE)[1])
invisible(ncatt_get(file, 0))
for (name in c(names(file$var), names(file$dim))) {
  invisible(ncatt_get(file, name))
  x <- ncvar_get(file, name)
  if (is.character(x)) {
    cat("T", name, length(x), gsub("[\n\t]", " ", paste(x, collapse = "\036")), sep = "\t")
  } else {
    cat("N", name, length(x), sprintf("%.17g", sum(as.numeric(x[is.finite(x)]))), sep = "\t")
  }
  cat("\n")
}
"""
OCTAVE = r"""
pkg load netcdf
path = argv(){1};
id = netcdf_open(path, "NC_NOWRITE");
[~, count, globals] = netcdf_inq(id);
for a = 0 : globals - 1
  netcdf_getAtt(id, netcdf_getConstant("NC_GLOBAL"), netcdf_inqAttName(id, netcdf_getConstant("NC_GLOBAL"), a));
end
for k = 0 : count - 1
  [name, kind, ~, own] = netcdf_inqVar(id, k);
  for a = 0 : own - 1
    netcdf_getAtt(id, k, netcdf_inqAttName(id, k, a));
  end
  if kind == 12
    printf("T\t%s\n", name);  % octave-netcdf knows no NC_STRING
  else
    x = double(ncread(path, name))(:);
    printf("N\t%s\t%d\t%.17g\n", name, numel(x), sum(x(isfinite(x))));
  end
end
"""


class Failure(Exception):
    pass


def call(*command):
    """What it prints. @raises Failure if it fails, or dies."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        how = f"died of signal {-done.returncode}" if done.returncode < 0 else f"returned {done.returncode}"
        raise Failure(f"{how}: {' '.join(done.stderr.split())[:200]}")
    return done.stdout


def call_script(program, script, path):
    with tempfile.NamedTemporaryFile("w", suffix=".R") as file:
        file.write(script)
        file.flush()
        return call(*program, file.name, path)


def told(value):
    """As the other readers tell it (COMMON)."""
    if isinstance(value, (bytes, str)):
        return value.decode() if isinstance(value, bytes) else value
    array = np.asarray(value)
    if array.dtype.kind in "SO":
        return [text.decode() for text in array.flat]
    return [array.dtype.str, base64.b64encode(array.tobytes()).decode()]


class Truth:
    """A file as h5py finds it."""

    def __init__(self, path):
        with h5py.File(path) as file:
            self.attributes = {name: told(value) for name, value in file.attrs.items()}
            self.values = {name: node[()] for name, node in file.items()}
            self.variables = {
                name: [[name] if node.is_scale else [axis[0].name[1:] for axis in node.dims], told(self.values[name]),
                       {k: told(v) for k, v in node.attrs.items() if k not in HIDDEN}]
                for name, node in file.items()}

    def texts(self, name):
        """Of a variable; None if it has numbers."""
        values = self.values[name]
        return [text.decode() for text in values.flat] if values.dtype.kind in "SO" else None

    def compare(self, answer):
        found = answer["variables"]
        if found.keys() != self.variables.keys():
            raise Failure(f"other variables: {sorted(found.keys() ^ self.variables.keys())[:5]}")
        for name, (axes, values, attributes) in self.variables.items():
            if found[name][0] != axes:
                raise Failure(f"{name} has the axes {found[name][0]}, not {axes}")
            if found[name][1] != values:
                raise Failure(f"{name} is {str(found[name][1])[:60]}, not {str(values)[:60]}")
            if found[name][2] is not None:
                self.compare_attributes(name, found[name][2], attributes)
        if "attributes" in answer:
            self.compare_attributes("the file", answer["attributes"], self.attributes)

    @staticmethod
    def compare_attributes(owner, found, wanted):
        different = [k for k in found.keys() | wanted.keys() if found.get(k) != wanted.get(k)]
        if different:
            k = different[0]
            raise Failure(f"attribute {k} of {owner} is {str(found.get(k))[:60]}, not {str(wanted.get(k))[:60]}")

    def compare_lines(self, lines, without_texts):
        """Lines "N name count sum" and "T name count texts"."""
        rows = {fields[1]: fields for fields in (line.split("\t") for line in lines.split("\n"))
                if fields[0] in ("N", "T")}
        if rows.keys() != self.values.keys():
            raise Failure(f"other variables: {sorted(rows.keys() ^ self.values.keys())[:5]}")
        for name, values in self.values.items():
            row, texts = rows[name], self.texts(name)
            if texts is not None:
                wanted = re.sub(r"[\n\t]", " ", "\x1e".join(texts))
                if row[0] != "T" or (not without_texts and row[2:] != [str(len(texts)), wanted]):
                    raise Failure(f"{name} is {row[2:]}, not {wanted[:80]}")
                continue
            total = float(np.sum(values[np.isfinite(values)], dtype=np.longdouble))
            if row[0] != "N" or int(row[2]) != values.size or not np.isclose(float(row[3]), total, rtol=1e-9, atol=1e-12):
                raise Failure(f"{name} has {row[2:]}, not {values.size} numbers with the sum {total!r}")


def ncdump(path, truth, _):
    text = call("ncdump", path)
    declared = dict(re.findall(r"^\t(\w+ \w+)\((.*)\) ;$", text, re.M))
    for name, (axes, _, _) in truth.variables.items():
        values = truth.values[name]
        kind = "O" if values.dtype.kind in "SO" else values.dtype.str[1:]
        word = f"{CDL.get(kind, kind)} {name}"
        if declared.get(word) != ", ".join(axes):
            raise Failure(f"{word}({', '.join(axes)}) is not declared")
        for one in truth.texts(name) or []:
            if one and not re.search(r"[\\\"'\x00-\x1f]", one) and f'"{one}"' not in text:
                raise Failure(f"{name} lacks {one[:80]}")


READERS = {
    "ncdump": ncdump,
    "netCDF4": lambda path, truth, python: truth.compare(json.loads(call(python, "-c", NETCDF4, path))),
    "xarray": lambda path, truth, python: truth.compare(json.loads(call(python, "-c", XARRAY, path))),
    "R": lambda path, truth, _: truth.compare_lines(call_script(["Rscript"], R, path), False),
    "octave": lambda path, truth, _: truth.compare_lines(call_script(["octave-cli", "-q"], OCTAVE, path), True),
}
VERSION = {
    "ncdump": lambda _: re.search(r"library version (\S+)", subprocess.run(
        ["ncdump"], capture_output=True, text=True).stderr)[1],
    "netCDF4": lambda python: call(python, "-c", "import netCDF4 as n; print(n.__version__, n.__netcdf4libversion__)"),
    "xarray": lambda python: call(python, "-c", "import netCDF4, xarray; print(xarray.__version__)"),
    "R": lambda _: call("Rscript", "-e", "cat(as.character(packageVersion('ncdf4')))"),
    "octave": lambda _: call("octave-cli", "-q", "--eval", "pkg load netcdf; disp(pkg('list', 'netcdf'){1}.version)"),
}
PROGRAM = {"ncdump": "ncdump", "R": "Rscript", "octave": "octave-cli"}


def version_of(reader, python):
    """None if it is not there."""
    if reader in PROGRAM and not shutil.which(PROGRAM[reader]):
        return None
    try:
        return " ".join(VERSION[reader](python).split())
    except Failure:
        return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--need", default="")
    parser.add_argument("files", nargs="+")
    arguments = parser.parse_args()
    needed = set(filter(None, arguments.need.split(",")))
    truths = {path: Truth(path) for path in arguments.files}
    failed = False
    for reader, read in READERS.items():
        version = version_of(reader, arguments.python)
        if version is None:
            print(f"{reader}: {'is missing' if reader in needed else 'not here, not tried'}")
            failed |= reader in needed
            continue
        sound = 0
        for path, truth in truths.items():
            try:
                read(path, truth, arguments.python)
                sound += 1
            except (Failure, subprocess.TimeoutExpired) as problem:
                print(f"FAILED: {reader} {version}, {pathlib.Path(path).name}: {problem}")
                failed = True
        print(f"{reader} {version}: {sound} of {len(truths)} files")
    sys.exit(failed)


if __name__ == "__main__":
    main()
