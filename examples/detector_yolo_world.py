#!/usr/bin/env python3
"""Boxes around solar panels by Ultralytics' YOLO-World, for `broad ... --detector`.

    broad fit photos/ --detector 'python3 examples/detector_yolo_world.py --device 0'

NOT RUN by the tests: the package `ultralytics` and its weights were not available. It follows the package's
documentation (YOLOWorld, set_classes, predict, Results.boxes), and its protocol was tried with a stand-in for the package
(tests/docs/test_examples.py). Weights and CLIP's text encoder are fetched by the package on its first run: let that happen once
by hand, since the time limit of the first photo counts from the start.

Reads one file name a line from standard input, and answers each with one line of JSON on standard output:

    {"file": "a.jpg", "boxes": [[left, top, right, bottom, score], ...]}    pixels of the upright photo
    {"file": "a.jpg", "error": "why"}                                       a photo that cannot be read
"""
import argparse
import contextlib
import json
import sys

# What is printed by others on the way must not get between the answers.
ANSWERS = sys.stdout


def parse_arguments():
    parser = argparse.ArgumentParser(description="Boxes around solar panels by YOLO-World, for broad --detector.")
    parser.add_argument("--model", default="yolov8s-worldv2.pt", help="weights [%(default)s]")
    parser.add_argument("--classes", default="solar panel", help="what to look for, with commas [%(default)s]")
    parser.add_argument("--confidence", type=float, default=0.1, help="least score of a box, 0 to 1 [%(default)s]")
    parser.add_argument("--size", type=int, default=640, help="longer side the network sees, in pixels [%(default)s]")
    parser.add_argument("--device", default=None, help="cpu, 0, cuda:1, mps ... [the package's choice]")
    return parser.parse_args()


def load_model(arguments):
    from ultralytics import YOLOWorld

    model = YOLOWorld(arguments.model)
    # Before the first prediction: later changes are not taken over by every version of the package.
    model.set_classes([name.strip() for name in arguments.classes.split(",") if name.strip()])
    return model


def open_upright(path):
    """The package turns photos as EXIF tells in some of its ways to read them, and not in others; so it gets pixels."""
    from PIL import Image, ImageOps

    with Image.open(path) as image:
        return ImageOps.exif_transpose(image).convert("RGB")


def find_boxes(model, path, arguments):
    options = {"conf": arguments.confidence, "imgsz": arguments.size, "verbose": False}
    if arguments.device is not None:
        options["device"] = arguments.device
    result = model.predict(open_upright(path), **options)[0]
    corners, scores = result.boxes.xyxy.tolist(), result.boxes.conf.tolist()
    return [[*box, score] for box, score in zip(corners, scores) if box[2] > box[0] and box[3] > box[1]]


def main():
    arguments = parse_arguments()
    with contextlib.redirect_stdout(sys.stderr):
        model = load_model(arguments)
        for line in sys.stdin:
            path = line.rstrip("\n")
            try:
                answer = {"file": path, "boxes": find_boxes(model, path, arguments)}
            except (OSError, ValueError) as error:
                answer = {"file": path, "error": str(error) or type(error).__name__}
            print(json.dumps(answer), file=ANSWERS, flush=True)


if __name__ == "__main__":
    main()
