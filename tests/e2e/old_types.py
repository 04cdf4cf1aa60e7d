"""Gives HDF5 files of a store the types that they had before the netCDF library could read them: texts of fixed
length, rounded states in two bytes. What was sealed is sealed again.

Usage: old_types.py FILE...
"""

import hashlib
import pathlib
import struct
import sys

import h5py
import numpy as np

SEAL = 512  # bytes
TABLE = []
for byte in range(256):
    for _ in range(8):
        byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
    TABLE.append(byte)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def seal(path):
    """docs/store-format.md, How a file comes to be."""
    whole = path.read_bytes()
    rest = whole[SEAL:]
    head = whole[:16] + struct.pack("<IIQq", 1, SEAL, len(rest), struct.unpack_from("<q", whole, 32)[0])
    head = (head + hashlib.sha256(rest).digest()).ljust(SEAL - 4, b"\0")
    path.write_bytes(head + struct.pack("<I", crc32c(head)) + rest)


def fixed(texts):
    """As the former version wrote them: padded with zeros to a multiple of eight bytes."""
    width = (max([1, *(len(text) for text in texts.flat)]) + 7) // 8 * 8
    kind = h5py.h5t.C_S1.copy()
    kind.set_size(width)
    kind.set_strpad(h5py.h5t.STR_NULLPAD)
    kind.set_cset(h5py.h5t.CSET_UTF8)
    return kind, texts.astype(f"S{width}")


def put_attribute(owner, name, source):
    """A copy with the very type, which h5py's own interface would change."""
    at = source.attrs.get_id(name)
    value = np.empty(at.shape, at.dtype)
    at.read(value, mtype=at.get_type())
    h5py.h5a.create(owner.id, name.encode(), at.get_type(), at.get_space()).write(value, mtype=at.get_type())


def put(new, name, node):
    values = node[()]
    if h5py.check_string_dtype(node.dtype):
        kind, values = fixed(values)
    elif name == "state" and node.attrs["significant_bits"] == 11:
        values = values.astype("f2")
        kind = h5py.h5t.py_create(values.dtype)
    else:
        kind = node.id.get_type()
    layout = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    if node.chunks:
        layout.set_chunk(node.chunks)
        layout.set_shuffle()
        layout.set_deflate(4)
        layout.set_fletcher32()
    made = h5py.h5d.create(new.id, name.encode(), kind, h5py.h5s.create_simple(values.shape), layout)
    made.write(h5py.h5s.ALL, h5py.h5s.ALL, np.ascontiguousarray(values), mtype=kind)
    made = h5py.Dataset(made)
    for attribute in node.attrs:
        if attribute not in ("DIMENSION_LIST", "REFERENCE_LIST", "CLASS", "NAME", "_FillValue"):
            put_attribute(made, attribute, node)
    if "_FillValue" in node.attrs:
        made.attrs.create("_FillValue", np.nan, dtype=values.dtype)
    if node.is_scale:
        made.make_scale(name)


def convert(path):
    made = path.with_name(path.name + ".old")
    creation = h5py.h5p.create(h5py.h5p.FILE_CREATE)
    creation.set_userblock(SEAL)
    creation.set_link_creation_order(3)
    creation.set_attr_creation_order(3)
    access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    access.set_libver_bounds(h5py.h5f.LIBVER_V18, h5py.h5f.LIBVER_V18)
    with h5py.File(path) as old, h5py.File(h5py.h5f.create(bytes(made), h5py.h5f.ACC_TRUNC, creation, access)) as new:
        for attribute in old.attrs:
            put_attribute(new, attribute, old)
        names = []  # in the order of their creation, as the program reads them
        old.id.links.iterate(lambda name: names.append(name.decode()), idx_type=h5py.h5.INDEX_CRT_ORDER)
        for name in names:
            put(new, name, old[name])
        for name in names:
            for axis, scales in enumerate(old[name].dims):
                for scale in scales.values():
                    new[name].dims[axis].attach_scale(new[scale.name])
    whole = made.read_bytes()
    made.write_bytes(path.read_bytes()[:SEAL] + whole[SEAL:])
    made.replace(path)
    seal(path)


for name in sys.argv[1:]:
    convert(pathlib.Path(name))
