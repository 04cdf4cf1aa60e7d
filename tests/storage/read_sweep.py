"""Opens a packed file as users do (xarray, h5py, pandas) and checks what the format promises.

Usage: read_sweep.py SWEEP.h5 [number of cells] [variable that must be there ...]
       read_sweep.py --concat SWEEP.h5 SWEEP.h5: joins two sweeps as docs/store-format.md says
Exit code 0 and a summary on stdout if everything holds; an AssertionError otherwise.
"""

import hashlib
import json
import sys

import h5py
import numpy as np
import xarray as xr

INSTANT = "seconds since 1970-01-01T00:00:00Z"
ROOT = (
    "format format_version Conventions title sweep_name sweep_id sweep_yaml schema_digest constant_leaves "
    "coordinates metric goal code_version code_dirty library_versions created packed history "
    "n_cells_planned n_cells_packed"
).split()


def check_seal(path):
    """The 512 bytes in front hold length and SHA-256 of the rest."""
    with open(path, "rb") as file:
        seal, rest = file.read(512), file.read()
    assert seal[:16] == b"depthgrid-seal\n\0", "no seal"
    assert int.from_bytes(seal[24:32], "little") == len(rest), "cut"
    assert seal[40:72] == hashlib.sha256(rest).digest(), "damaged"


def check_h5py(path):
    with h5py.File(path) as file:
        for name in ROOT:
            assert name in file.attrs, f"root attribute {name}"
        assert all(isinstance(node, h5py.Dataset) for node in file.values()), "everything is in the root group"
        json.loads(file.attrs["constant_leaves"])
        json.loads(file.attrs["library_versions"])
        for name, node in file.items():
            units = node.attrs["units"]
            units = units.decode() if isinstance(units, bytes) else units
            assert "second" not in units or units == INSTANT, f"{name}: units {units}"
            assert len(node.attrs["long_name"]) > 0, name
            text = h5py.check_string_dtype(node.dtype)
            if text:  # of another length the netCDF library cannot read them
                assert text.encoding == "utf-8" and text.length is None, f"{name}: {text}"
            else:
                assert node.dtype.str in ("|i1", "<i4", "<i8", "<f4", "<f8"), f"{name}: {node.dtype}"
            assert ("_FillValue" in node.attrs) == (node.dtype.kind == "f"), f"{name}: _FillValue"
            if node.is_scale:
                assert node.shape == (file[name].shape[0],), name
                continue
            assert all(len(axis) == 1 for axis in node.dims), f"{name}: an axis without a scale"
            if name.startswith("param_"):
                assert "leaf" in node.attrs and "leaf_class" in node.attrs, name


def check_xarray(path, cells):
    with xr.open_dataset(path, engine="h5netcdf") as data:
        print(data)
        assert cells is None or data.sizes["cell"] == cells, data.sizes
        with h5py.File(path) as file:
            assert set(data.variables) == set(file), "xarray sees all variables"
            for name, node in file.items():
                wanted = (name,) if node.is_scale else tuple(axis[0].name[1:] for axis in node.dims)
                assert data[name].dims == wanted, f"{name}: {data[name].dims} is not {wanted}"
                if h5py.check_string_dtype(node.dtype):
                    assert all(isinstance(text, str) for text in data[name].values.flat), name
                elif data[name].attrs.get("units") is None and "calendar" in node.attrs:
                    assert data[name].dtype.kind == "M", name
                elif node.dtype.kind in "if":
                    assert data[name].dtype == node.dtype, f"{name}: {data[name].dtype}"
        assert "param_seed" in data.coords and "cell_alias" in data.coords
        one = data.sel(cell=data.cell.values[0])
        assert str(one.cell_alias.values) == str(data.cell_alias.values[0])
        if "train_loss" in data:
            steps = data.train_loss.notnull().sum("step")
            assert (steps.values <= data.n_steps.values).all(), "n_steps counts the valid entries"


def check_pandas(path):
    with xr.open_dataset(path, engine="h5netcdf") as data:
        names = [name for name in data.data_vars if data[name].dims == ("cell",)]
        frame = data[names].to_dataframe()
        assert len(frame) == data.sizes["cell"]
        assert frame.index.name == "cell" and "cell_alias" in frame
        if "train_loss" in data:
            series = data[["train_loss"]].to_dataframe()
            assert len(series) == data.sizes["cell"] * data.sizes["step"]
            groups = series.groupby("param_model_family").train_loss.count()
            assert int(groups.sum()) == int(np.isfinite(data.train_loss).sum())


def cells_of(path):
    """All variables that belong to cells, as in docs/store-format.md."""
    data = xr.open_dataset(path, engine="h5netcdf")
    return data[[name for name in data.data_vars if "cell" in data[name].dims]]


def check_concat(paths):
    parts = [cells_of(path) for path in paths]
    both = xr.concat(parts, dim="cell", data_vars="all", coords="minimal", compat="override", join="outer")
    assert both.sizes["cell"] == sum(part.sizes["cell"] for part in parts), both.sizes
    assert set(both.variables) == set(parts[0].variables) | set(parts[1].variables)
    own = [{name for name in part.variables if name.startswith("param_")} for part in parts]
    assert own[0] != own[1], "the two sweeps should vary different leaves"
    for part, mine, others in zip(parts, own, reversed(own)):
        same = both.sel(cell=part.cell)
        for name in ("final_loss", "train_loss"):
            seen = same[name].sel({axis: part[axis] for axis in part[name].dims})
            np.testing.assert_array_equal(seen.values, part[name].values)
        for name in others - mine:  # a leaf that this sweep does not vary
            assert same[name].isnull().all(), name
    means = both["final_loss"].sel(split="valid").groupby("arm").mean()
    assert set(means.arm.values) == {arm for part in parts for arm in part.arm.values}
    print(f"{both.sizes['cell']} cells of two sweeps, {len(both.variables)} variables")


def main():
    if sys.argv[1] == "--concat":
        return check_concat(sys.argv[2:])
    path = sys.argv[1]
    cells = int(sys.argv[2]) if len(sys.argv) > 2 else None
    check_seal(path)
    check_h5py(path)
    check_xarray(path, cells)
    check_pandas(path)
    with h5py.File(path) as file:
        for name in sys.argv[3:]:
            assert name in file, f"variable {name} is missing"
        print(f"{path}: {len(file)} variables, all well")


if __name__ == "__main__":
    main()
