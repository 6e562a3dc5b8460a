"""Results of lab/serve/measure.py as Markdown, for docs/serve.md."""
from bench.marks import paragraphs
from bench.tool import Failure


def percent(part):
    return f"{100 * part:.1f} %"


def session(found):
    one, page = found["session"], found["session"]["page"]
    before, after = one["held_out_before"], one["held_out"]
    text = (f"{one['trained']} photos of solar panels, with a third of them held out, made a model, and the {one['judged']} others were dropped into the project: "
            f"{one['seconds_in']:.1f} s until all had verdicts. {one['wrong']} verdicts were incorrect. All of them were corrected by keys in a browser, which a "
            f"program pressed: from a key to the mark on the photo, when the action is on disk, it took {page['mark_median']:.0f} ms in the median and "
            f"{page['mark_95']:.0f} ms for 95 of 100; {page['seconds'] / page['looked_through']:.2f} s per photo looked through, without the time that a person needs to look. "
            f"All others were agreed to, and learning took {one['seconds']:.2f} s, and {page['key_to_learned']:.2f} s from the key to the new verdicts on the page. Afterwards {one['wrong_after']} of the "
            f"{one['judged']} were incorrect. Of the {after['rows']} photos held out, {percent(before['accuracy'])} were right before and {percent(after['accuracy'])} after.")
    steps = [f"- {step['photos']} photos, half of them trained on: {step['learned']} reviewed photos learned, and all verdicts made anew, in {step['seconds']:.2f} s."
             for step in found["steps"]]
    return "\n".join(paragraphs(text, "Learning steps on drawn photos:", *steps)) + "\n"


def load(found):
    one, many, long = found["load"], found["incoming"], found["soak"]
    page, slow = one["page"], one["slow"]
    lines = [f"{many['photos']:,} photos of two megapixels have verdicts {many['serve']:.1f} s after their folder was named; `broad predict` takes {many['predict']:.1f} s for the same "
             f"files. In turns, {len(many['rounds'])} times, the median of the ratios is {many['ratio']:.2f}, and {many['ratio_used']:.2f} of the processors' time: with copies of the photos, thumbnails, "
             "prints of near-duplicates and the database, and decoders that are shut in.",
             f"A project of {one['photos']:,} photos:",
             f"- {one['seconds_in']:.0f} s from naming the folder until all had verdicts;",
             f"- first paint of the page after {page['first_paint']:.2f} s, first photos after {page['first_photos']:.2f} s; {page['frames_per_second']:.0f} frames per second while it "
             f"scrolls through them, 95 of 100 frames within {page['frame_95']:.0f} ms; the page's thread works {page['work_per_frame']:.1f} ms for a frame, of the 16.7 that there are, and "
             f"{page['long_tasks'] or 'none'} of its tasks took{' longer than' if page['long_tasks'] else ' as long as'} 50 ms;",
             f"- {one['thumbnails']:,.0f} thumbnails per second over four connections;",
             f"- a request for the status takes {slow['alone']:.0f} ms alone, and {slow['beside']:.0f} ms beside {slow['connections']:,} connections that send a byte now and then."]
    soaked = (f"{long['minutes']:g} minutes of lists, pictures, heat maps, corrections, new photos, verdicts, exports, learning steps and connections that break off, "
              f"{long['requests']:,} requests (`lab/serve/load.py`): after the first sixth of the time the server held {long['before']:.0f} MB, at the end {long['after']:.0f} MB. "
              f"{long['photos_more']} photos more were in the project then. It had {long['files']['before']} files open before, and {long['files']['after']} at the end.")
    killed = found["kills"]
    last = (f"Killed {killed['kills']} times at random moments, among {killed['actions']:,} confirmed actions and {killed['learning']} requests to learn: nothing that was confirmed was "
            "lost (`lab/serve/kills.py`).")
    busy = found["busy"].values()
    machine = (f"Measured on {found['processors']} processors, with other work on them meanwhile (load average {min(busy):.0f} to {max(busy):.0f}): seconds are longer than on a machine of "
               "one's own.")
    return "\n".join(paragraphs(*lines, soaked, last, machine)) + "\n"


def parts(found):
    return {"docs/serve.md": {"session": session(found), "load": load(found)}}


def whole(found):
    missing = [name for name in ("session", "steps", "incoming", "load", "soak", "kills") if not found.get(name)]
    if missing:
        raise Failure(f"no whole run: without {', '.join(missing)}")
