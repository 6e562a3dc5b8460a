"""The whole story: photos of solar panels, which are dirty, how much, and where; as a picture, solar.svg."""
import base64
import os
import subprocess
import sys

from broad import photos

tool = os.environ.get("BROAD_TOOL", "broad")  # it draws the photos, so that the truth is known
folder = sys.argv[1] if len(sys.argv) > 1 else "."


def render(name, *options):
    path = os.path.join(folder, name)
    subprocess.run([tool, "render", path, "--size", "192", "-q", *options], check=True, stdout=subprocess.DEVNULL)
    return path


panels, fresh = render("panels", "--count", "120"), render("fresh", "--count", "8", "--seed", "7")
degrees = render("degrees", "--count", "120", "--severity")
model = photos.train(panels)
severity = photos.train(os.path.join(degrees, "photos"), labels=os.path.join(degrees, "labels.csv"))
print("accuracy on new photos, estimated: %.2f" % model.estimate_["accuracy"])
svg = ['<svg xmlns="http://www.w3.org/2000/svg" width="800" height="480" font-family="sans-serif" font-size="13">']
for i, (verdict, degree) in enumerate(zip(model.judge(fresh), severity.judge(fresh))):
    x, y, share = 200 * (i % 4) + 4, 240 * (i // 4) + 4, verdict["probabilities"][verdict["label"]]
    with open(verdict["file"], "rb") as file:
        data = base64.b64encode(file.read()).decode()
    svg.append('<image x="%d" y="%d" width="192" height="192" href="data:image/jpeg;base64,%s"/>' % (x, y, data))
    heat = model.heat_map(verdict["file"], "Dusty")
    side, most = 192 / len(heat), abs(heat).max()
    for (row, column), evidence in zip(((r, c) for r in range(len(heat)) for c in range(len(heat[0]))), heat.ravel()):
        svg.append('<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s" opacity="%.2f"/>' % (
            x + side * column, y + side * row, side, side, "red" if evidence > 0 else "blue", 0.6 * abs(evidence) / most))
    text = "%s, %.0f %%, dirt %.2f" % (verdict["label"], 100 * share, degree["value"])
    svg.append('<text x="%d" y="%d">%s</text>' % (x, y + 212, text))
    print("%-10s" % os.path.relpath(verdict["file"], fresh), text)
with open(os.path.join(folder, "solar.svg"), "w", encoding="utf-8") as file:
    file.write("\n".join(svg + ["</svg>"]))
