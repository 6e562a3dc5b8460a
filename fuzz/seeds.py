"""What the fuzz targets begin with, by target: small files that are sound, of every format, and some that are not.

`scripts/run_fuzz` and tests/guard/test_fuzz.py use them; what fuzzing has found besides lies in fuzz/corpus/.
"""
import gzip
import os
import re
import struct
import subprocess
import zlib

TABLE = b"a,x2,g,y\n1,2,u,yes\n3,-4.5e1,v,1\n,7,u,yes\n8,9,w,1\n"


def npy(descr, fortran, shape, data):
    header = "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }" % (descr, fortran, shape)
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def data_seeds():
    """The first byte chooses the reader's options: see fuzz/fuzz_data.c."""
    files = [
        TABLE, TABLE.replace(b",", b";"), TABLE.replace(b",", b"\t"), gzip.compress(TABLE, mtime=0),
        b"1,2\n3,4\n5,6\n", b'"a""b",y\r\n"1\n2",no\r\n3,yes\r\n',
        b"1 1:0.5 3:2\n-1 2:7\n1 1:1 2:2 3:3\n",
        npy("<f8", False, (3, 2), struct.pack("<6d", *range(6))),
        npy("<f4", True, (2, 2), struct.pack("<4f", *range(4))),
        npy("|u1", False, (4, 2, 2), bytes(range(16))),
        struct.pack(">HBB3I", 0, 8, 3, 2, 2, 2) + bytes(range(8)),
        struct.pack(">HBBI", 0, 0x0D, 1, 3) + struct.pack(">3f", 1, 2, 3),
        b"a\txyes\n3\t-4.s\n3,\t1\n",  # equal inputs, other classes, no categories
    ]
    return [bytes([choice]) + file for file in files for choice in (0, 1, 5, 64, 0x70, 128)]


def serve_seeds():
    """Eight lines: headers, a token and a method, each also tried as a path and as a name; see fuzz/fuzz_serve.c."""
    own, cookie = b"127.0.0.1:8420", b"a=b; broad-8420=" + b"0" * 64
    return [b"\n".join(lines) for lines in (
        (own, b"http://" + own, b"Bearer " + b"0" * 64, cookie, b"x", b"same-origin", b"t", b"POST"),
        (own, b"", b"", cookie, b"x", b"same-origin", b"t" * 64, b"GET"), (own, b"", b"", cookie, b"x", b"none", b"", b"POST"),
        (b"evil.example", b"null", b"Basic x"), (b"[::1]:8420", b"https://localhost:8420"),
        (b"/api/v1/photos/12/thumbnail", b"/api/v1/export/csv", b"/api/v1/versions/3/use", b"/api/v1/photos/99999999999999999999"),
        (b"../../etc/passwd", b".hidden", b"a/b.jpg", b"Clean", "caf\u00e9".encode(), b"\xff\xfe", b" x ", b"=1+1"))]


def query_seeds():
    """A path, then parameters; see fuzz/fuzz_query.c."""
    ways = ["photos\nsort=uncertainty\norder=up\nlimit=5\noffset=1", "photos\nsort=severity\nstacks=1", "photos\nsort=time\norder=down\nfrom=2026-01-01\nto=2026-12-31",
            "photos\nsort=place\nunlike=1\nfaults=0", "photos\nsort=name\ntext=photo 1\nfolder=roof", "photos\nsort=added\nreview=corrected\npending=1\nclass=clean",
            "photos\nreview=agreed\nstack=1\nchanged=2", "photos\nlimit=1001", "photos\nsort=x' OR 1=1 --", "places\nclass=dusty\nreview=none", "actions\nlimit=9",
            "photos/3", "photos/1/thumbnail", "unreadable", "folders", "unlike", "watch", "versions", "versions/2/changes", "versions/1/model", "openapi.json",
            "export/csv\nclass=clean", "export/spreadsheet", "export/geojson\nfolder=roof", "export/kml\nunlike=1"]
    return [b"/api/v1/" + way.encode() for way in ways]


def body_seeds():
    """A path and a body; see fuzz/fuzz_body.c."""
    bodies = ['settings\n{"learn_after": 5, "title": "Roofs"}', 'settings\n{"learn_after": -1}', 'settings\n{"title": "\\u0000\\u001b[31m"}', 'classes\n{"name": "bird"}',
              'classes\n{"name": "../x"}', 'review\n{"photos": [1, 2, 3], "label": "dusty", "who": "Ada"}', 'review\n{"photos": [1, 5], "agree": true}',
              'review\n{"photos": [2], "clear": true, "who": "\\ud83d\\ude00"}', 'review\n{"photos": [99], "label": "clean"}', 'review\n{"photos": [1.5], "label": ""}',
              'review\n{"photos": [1], "label": "a", "agree": true}', 'undo\n{"action": 1, "who": "a"}', 'undo\n{"who": "a"}', 'undo\n{}', 'undo',
              'watch/stop\n{"folder": "/photos"}', 'review\n[1]', 'review\n{"photos": [1], "photos": [2]}']
    return [b"/api/v1/" + body.encode() for body in bodies]


def decoder_seeds():
    """The first byte is the number of inputs, the rest an answer, of whatever size its struct has; see fuzz/fuzz_decoder.c."""
    def answer(size, inputs, status=0):
        head = struct.pack("<i", status) + b"torn".ljust(size - 20, b"\0") + struct.pack("<2Q", inputs, 4)
        return bytes([inputs]) + head + struct.pack("<%dd" % inputs, *range(inputs)) + b"\xff\xd8\xff\xd9"
    return [answer(size, inputs) for size in range(384, 640, 8) for inputs in (0, 2)] + [answer(1024, 0, -6), answer(1024, 0, 5)]


def cache_seeds():
    """The first byte chooses how the rest is taken, the maps are at byte 40 of that: see fuzz/fuzz_cache.c."""
    return [bytes([form]) + bytes(40) + struct.pack("<Q", maps) + bytes(range(256)) * pages for form in range(3) for maps, pages in ((1, 6), (1, 18), (3, 26), (9, 6))]


def list_seeds():
    """The first byte chooses: labels of photos, corrections, the state of a search; see fuzz/fuzz_lists.c."""
    labels = ["file,label\na.jpg,clean\nx/b.jpg,dusty\ny/b.jpg,clean\n", "a.jpg;1.5\nc d.png;2\n", "name,y,w\n./a.jpg,1,\"2\"\nz.jpg,2,1\n", "b.jpg,u\na.jpg,u\n", "a.jpg,u\na.jpg,v\n"]
    corrections = ["file,verdict,correction,p_a,p_b\n/tmp,a,,0.2,0.8\n/etc,b,c,\"0,5\",0.5\n", "tmp;x\nusr;y\n", "\ufefffile,correction\n\"/t\"\"mp\",a\n'=x,b\n", "a,b,c\n",
                   "sep=;\nfile;correction\n/tmp;a\n", "file\tcorrection\r/tmp\ta\r",
                   "file,correction,left,top,right,bottom\n/tmp,a,1,2,3,4\n/tmp,a,1,2,3,4\n/tmp,b,5,2,7,4\n/etc,c,,,,\n"]
    trial = '{"settings":{"kind":"brls","preset":"auto"},"status":"done","score":0.5,"sd":null,"scores":[0.5,1],"seconds":1,"reason":""}'
    states = ['{"seed":"1"}\n' + trial + "\n" + trial.replace("done", "failed").replace("[0.5,1]", "[]") + "\n", '{"seed":"2"}\n', "[]", "",
              '{"seed":"1"}\n' + trial.replace('"auto"', '"auto","features":"10x10","lambda":"1e-3"')]
    return [bytes([form]) + text.encode() for form, texts in enumerate((labels, corrections, states)) for text in texts]


def write(path, content):
    with open(path, "wb") as f:
        f.write(content)
    return path


def models(broad, folder):
    """Small model files: every kind, both tasks, both forms, categories, missing values, a learned metric."""
    few = write(os.path.join(folder, "few.csv"), b"a,b,y\n1,2,u\n2,3,v\n4,4,u\n1,5,v\n3,3,u\n2,2,v\n")
    many = write(os.path.join(folder, "many.csv"),  # as a learned metric needs them
                 b"a,b,y\n" + b"".join(b"%d,%d,%d.5\n" % (i, i * i % 17, i * i % 11) for i in range(60)))
    mixed = write(os.path.join(folder, "mixed.csv"), b"a,c,y\n" + b"".join(b"%d,%s,%s\n" % (i % 7, b"pqr"[i % 3:][:1], b"uv"[i % 2:][:1])
                                                                          for i in range(24)))
    brls = "--kind brls --features 1x2 --enhance 2x2"
    forms = [(many, brls + " --learned-metric yes --effort fast"), (few, brls), (few, "--kind scn --enhance 2x2"),
             (few, "--kind rvfl --enhance 3x1"), (few, "--kind bls --features 1x2 --enhance 2x1 --class-weight balanced"),
             (many, "--kind bscrls --features 1x2 --enhance 2x2 --supervise gcv"),
             (mixed, brls + " --categorical c --missing mean"), (few, brls + " --compact")]
    path, found = os.path.join(folder, "model.broad"), []
    for rows, options in forms:
        subprocess.run([broad, "fit", rows, "-o", path, *options.split(), "-q"], check=True, stdout=subprocess.DEVNULL)
        with open(path, "rb") as f:
            found.append(f.read())
        if (b"input.metric" in found[-1]) != ("learned-metric" in options):
            raise AssertionError("a learned metric is in the wrong seeds")
    return found


def model_seeds(files):
    """The first byte chooses how the rest is taken: see fuzz/fuzz_model.c."""
    # The description of the compact model, without the quoting it has inside the header.
    text = re.search(rb'"model":"((?:[^"\\]|\\.)*)"', files[-1]).group(1)
    return [bytes([form]) + file for file in files for form in (0, 1)] + [b"\x02" + re.sub(rb"\\(.)", rb"\1", text)]


def stats_seeds(broad, folder):
    """The first byte chooses how the rest is taken; the model is that of fuzz/fuzz_stats.c."""
    rows, path = os.path.join(folder, "few.csv"), os.path.join(folder, "sums.broad")
    options = "--preset paper --kind brls --features 1x2 --enhance 2x2 --keep-stats -q"
    subprocess.run([broad, "fit", rows, "-o", path, *options.split()], check=True, stdout=subprocess.DEVNULL)
    with open(path + ".stats", "rb") as f:
        sums = f.read()
    return [bytes([form]) + sums for form in range(3)]


def export_seeds(files):
    """The first byte chooses the options: see fuzz/fuzz_export.c."""
    return [bytes([choice]) + file for file in files for choice in (0, 5, 26)]


def array_seeds():
    """The first byte chooses the options, the second how the rest is taken: see fuzz/fuzz_arrays.c."""
    header = "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n"
    arrays = [header % some for some in (("<f8", False, "(3, 2)"), (">f4", True, "(2, 3)"), ("|u1", False, "(4, 2, 2)"), ("<i2", True, "(2, 2, 2)"),
                                         ("|b1", False, "(5, 2L)"), (">u8", False, "(2,2)"), ("<i4", False, "(6,)"))]
    idx = [struct.pack(">BB", code, 2) + struct.pack(">2I", 3, 2) for code in (8, 9, 11, 12, 13, 14)]
    idx += [struct.pack(">BB3I", 8, 3, 2, 2, 2) + bytes(range(8))]
    whole = [npy("<f8", False, (3, 2), struct.pack("<6d", *range(6))), b"\0\0" + idx[-1]]
    files = [b"\0" + file for file in whole] + [b"\1" + text.encode() for text in arrays] + [b"\2" + file for file in idx]
    return [bytes([choice]) + file for file in files for choice in (0, 1, 0x51, 0x66)]


EXIF = (b"II*\0\x08\0\0\0\3\0\x12\1\3\0\1\0\0\0\6\0\0\0\x32\1\2\0\x14\0\0\0\x32\0\0\0\x25\x88\4\0\1\0\0\0\x46\0\0\0\0\0\0\0"
        b"2024:05:31 12:30:59\0"
        b"\4\0\1\0\2\0\2\0\0\0N\0\0\0\2\0\5\0\3\0\0\0\x7c\0\0\0\3\0\2\0\2\0\0\0W\0\0\0\4\0\5\0\3\0\0\0\x7c\0\0\0\0\0\0\0"
        + struct.pack("<6I", 47, 1, 30, 1, 125, 10))
XMP = (b"<x drone-dji:RelativeAltitude='+3.5' drone-dji:GimbalYawDegree = \"-12.25\"/><drone-dji:FlightYawDegree>7</x>"
       b"<drone-dji:AbsoluteAltitude>410.5<")


def exif_seeds():
    """The first byte chooses the place: see fuzz/fuzz_exif.c."""
    big = b"MM\0*\0\0\0\x08\0\1\1\x12\0\3\0\0\0\1\0\3\0\0\0\0\0\0"
    return [bytes([form]) + body for body in (EXIF, big, XMP) for form in range(8)]


def option_seeds():
    """Lines: a command, its words, variables of the environment; see fuzz/fuzz_options.c."""
    texts = ["fit\ndata.csv\n--kind\nbls\n--features\n10x10\n--enhance=100x5\n--lambda=auto\n-o\nm.broad\n--holdout\n0.3\n$TMPDIR=/tmp",
             "fit\nd\n--gamma\nharmonic:0.5\n--range-steps=1,0.5,2\n--memory=1.5G\n--threads\n2\n--seed=18446744073709551615\n--class-weight=a:2",
             "predict\nm.broad\nd.csv\n--interval=0.9\n--quiet", "cv\nd.csv\n--folds\n5\n--kind=scn\n--supervise=loo", "report\n--\n-x",
             "gamma=list:0.9,0.99\nlambda=1e-8\nfeatures=auto\nenhance=4x4\nkind=brls\nmemory=512M\nseed=7\ntries=3\nactivation=sigmoid\n$SOURCE_DATE_EPOCH=1700000000",
             "preset=paper\nkind=bscrls\nrange=auto\nrange-steps=1,2,5\nweights=joint\nsupervise=gcv\npenalty=1.4\n$SOURCE_DATE_EPOCH=99999999999999999"]
    return [text.encode() for text in texts]


# 16 x 8 pixels: grey, progressive with three colours at half their size.
JPEGS = [
    "ffd8ffe000104a46494600010100000100010000ffdb0043001b12141714111b1716171e1c1b2028422b28252528513a3d30"
    "42605565645f555d5b6a7899816a7190735b5d85b586909ea3abadab6780bcc9baa6c799a8aba4ffc0000b08000800100101"
    "1100ffc40014000100000000000000000000000000000001ffc4002210000201030207000000000000000000000102030004"
    "054161111321517181d1ffda0008010100003f0062c6c36b17367658d06adaec3b9da83900ac16c6dc3007abca0f03e00f5f"
    "2bffd9",
    "ffd8ffe000104a46494600010100000100010000ffdb0043001b12141714111b1716171e1c1b2028422b28252528513a3d30"
    "42605565645f555d5b6a7899816a7190735b5d85b586909ea3abadab6780bcc9baa6c799a8aba4ffdb0043011c1e1e282328"
    "4e2b2b4ea46e5d6ea4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4a4"
    "a4a4a4a4a4a4a4a4ffc20011080008001003012200021101031101ffc4001600010101000000000000000000000000000003"
    "04ffc40014010100000000000000000000000000000002ffda000c03010002100310000001cf600fffc40016100003000000"
    "0000000000000000000000000103ffda00080101000105025314cfffc4001611010101000000000000000000000000000200"
    "01ffda0008010301013f010f6fffc400161100030000000000000000000000000000000131ffda0008010201013f0150ffc4"
    "0014100100000000000000000000000000000010ffda0008010100063f023fffc40015100101000000000000000000000000"
    "00001061ffda0008010100013f2180ff00ffda000c03010002000300000010fbffc400151101010000000000000000000000"
    "0000000051ffda0008010301013f10bdffc400161101010100000000000000000000000000010011ffda0008010201013f10"
    "7a96ffc400161001010100000000000000000000000000011100ffda0008010100013f10be04a9bfffd9",
]

# 16 x 8 pixels: WebP without losses and with them; 64 x 64 pixels: HEIC.
OTHERS = [
    "524946462a000000574542505650384c1e0000002f0fc00100cd6444ff0344da36700aa673fe151c9d4ffe1cc404b0ac7107",
    "52494646740000005745425056503820680000001002009d012a10000800040068258c02c3b62804b6f3bfb26c00fd78940f"
    "6476e577767eb02e1960c255541b9f8abe39fba0bb00e2dbbcd07e60bb26642cefc191d93cd9fe458c87a000e1e333b2069c"
    "403fe84cddce1f8f5cdf50b299ed00114d60011f37000000",
    "0000001c6674797068656963000000006d696631686569636d696166000001426d657461000000000000002168646c720000"
    "00000000000070696374000000000000000000000000000000000e7069746d00000000000100000022696c6f630000000044"
    "4000010001000000000166000100000000000000190000002369696e6600000000000100000015696e666502000000000100"
    "006876633100000000c269707270000000a46970636f00000078687663430103700000000000000000001ef000fcfdf8f800"
    "000f03200001001840010c01ffff03700000030090000003000003001eba0240210001002b42010103700000030090000003"
    "000003001ea020810596ea4929ae6e04040c08000003000800000300084022000100074401c172b022400000001469737065"
    "000000000000004000000040000000107069786900000000030808080000001669706d610000000000000001000103810283"
    "000000216d646174000000152801af0b60fa803149f24911b239c3fb331904d9c0",
]


def png(depth, kind, row, interlaced=0, before=()):
    """16 x 8 pixels; `row` is one row's packed bytes. Interlaced ones are cut short: the passes have other widths."""
    def chunk(name, body):
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
    chunks = [(b"IHDR", struct.pack(">2I5B", 16, 8, depth, kind, 0, 0, interlaced)), *before,
              (b"IDAT", zlib.compress((b"\x02" + row) * 8)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*pair) for pair in chunks)


def image_seeds():
    """The first byte chooses the options: see fuzz/fuzz_image.c."""
    exif = b"II*\0\x08\0\0\0\1\0\x12\1\3\0\1\0\0\0\6\0\0\0\0\0\0\0"
    xmp = b"XML:com.adobe.xmp\0\0\0\0\0<a drone-dji:RelativeAltitude='+3.5'/>"
    palette = (b"PLTE", bytes(range(48))), (b"tRNS", b"\0\x80\xff")
    row = bytes(range(7, 135))
    files = [
        png(1, 0, row[:2]), png(4, 3, row[:8], before=palette), png(8, 2, row[:48]), png(8, 6, row[:64], 1),
        png(16, 0, row[:32], before=[(b"tRNS", b"\x07\x08")]), png(16, 6, row, 1, before=[(b"eXIf", exif)]),
        png(8, 4, row[:32], before=[(b"iTXt", xmp)]), b"GIF89a", b"<!doctype html>",
    ]
    tiff = struct.pack("<2sHIH", b"II", 42, 8, 9) + b"".join(
        struct.pack("<2H2I", *entry) for entry in ((256, 3, 1, 16), (257, 3, 1, 8), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1),
                                                   (273, 4, 1, 122), (277, 3, 1, 1), (278, 3, 1, 8), (279, 4, 1, 128))) + b"\0" * 4 + row[:128]
    files += [bytes.fromhex(text) for text in OTHERS] + [tiff]
    for text in JPEGS:
        plain = bytes.fromhex(text)
        turned = b"\xff\xe1" + struct.pack(">H", 8 + len(exif)) + b"Exif\0\0" + exif
        files += [plain, plain[:2] + turned + plain[2:], plain[:-40]]
    return [bytes([choice]) + file for file in files for choice in (0, 3, 8, 11)]


def json_seeds():
    return [b'{"a":[1,2.5,-3e7,true,false,null,"x\\u00e9\\ud83d\\ude00\\n"],"b":{"c":{}},"d":[]}', b"[[[]]]", b'{"a":1,"a":2}', b"1e999"]


def box_seeds():
    """The first byte chooses: a file, YOLO's text, an answer of a detector; see fuzz/fuzz_boxes.c."""
    files = [
        b"file,left,top,right,bottom,score\nx/a.jpg,1,2,3,4,0.5\ny/a.jpg,1,2,3,4,\nb.png,-1,2,3,4.5,1\n",
        b'filename;x;y;width;height\r\n"a ""b"".jpg";0;0.25;0.5;0.75\r\n',
        b"image,xmin,ymin,xmax,ymax\na\\b.jpg,1,2,3,4\n./a.jpg,5,6,7,8\n",
        b'{"images": [{"id": 1, "file_name": "a.jpg"}, {"id": "b", "file_name": "x/a.png"}],'
        b'"annotations": [{"image_id": 1, "bbox": [1, 2, 3, 4], "score": 0.5}, {"image_id": "b", "bbox": [1, 2, 3, 4]}]}',
    ]
    answers = [b'{"file": "a.jpg", "boxes": [[1, 2, 3, 4, 0.5], [1, 2, 3, 4]]}', b'{"file": "a.jpg", "error": "torn"}']
    return ([b"\0" + file for file in files] + [b"\1" + b"0 0.5 0.5 0.5 0.25 0.9\n\n1 0.1 0.2 0.1 0.1\n"]
            + [b"\2" + answer for answer in answers])


def all_seeds(broad, folder):
    """By the name of the target; `broad` makes the models, in `folder`."""
    files = models(broad, folder)
    return {"fuzz_arrays": array_seeds(), "fuzz_body": body_seeds(), "fuzz_boxes": box_seeds(), "fuzz_cache": cache_seeds(), "fuzz_data": data_seeds(),
            "fuzz_decoder": decoder_seeds(), "fuzz_exif": exif_seeds(), "fuzz_export": export_seeds(files), "fuzz_image": image_seeds(),
            "fuzz_json": json_seeds(), "fuzz_lists": list_seeds(), "fuzz_model": model_seeds(files), "fuzz_options": option_seeds(),
            "fuzz_query": query_seeds(), "fuzz_serve": serve_seeds(), "fuzz_stats": stats_seeds(broad, folder)}
