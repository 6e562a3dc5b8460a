#!/usr/bin/env python3
"""Lists the tensors of a .broad (safetensors) file: list_tensors.py FILE"""
import json
import struct
import sys

with open(sys.argv[1], "rb") as file:
    header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
for name, tensor in header.items():
    if name != "__metadata__":
        print(name, tensor["dtype"], tensor["shape"], *tensor["data_offsets"])
