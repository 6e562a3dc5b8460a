"""How good predictions are: one definition for every benchmark, that of `broad eval`."""
import collections
import statistics


def verdict_measures(predicted, truth, positive):
    """As `broad eval` has them."""
    pairs = collections.Counter((t == positive, p == positive) for t, p in zip(truth, predicted))
    hits, missed, false, passed = (pairs[k] for k in ((True, True), (True, False), (False, True), (False, False)))
    result = {"accuracy": sum(p == t for p, t in zip(predicted, truth)) / len(truth)}
    if positive is not None and hits + missed and false + passed:
        result.update(recall=hits / (hits + missed), precision=hits / (hits + false) if hits + false else 0.0,
                      false_negative=missed / (hits + missed), false_positive=false / (false + passed),
                      f1=2 * hits / (2 * hits + missed + false))
    return result


def number_measures(predicted, truth):
    errors = [p - t for p, t in zip(predicted, truth)]
    squares, mean = statistics.fmean(e * e for e in errors), statistics.fmean(truth)
    return {"rmse": squares ** 0.5, "mae": statistics.fmean(map(abs, errors)),
            "r2": 1 - squares / statistics.fmean((t - mean) ** 2 for t in truth)}
