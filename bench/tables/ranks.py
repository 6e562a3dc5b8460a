"""Do methods differ over many tables? Mean ranks, Friedman's test, and Nemenyi's critical difference between two mean
ranks (Demsar, Statistical comparisons of classifiers over multiple data sets, JMLR 7, 2006); of two methods, Wilcoxon's
signed-rank test."""
import math

LEVEL = 0.05
STEPS, REACH = 2000, 9.0


def rank(values):
    """From the best, rank 1, on; lower values are better, equal ones share the mean of their ranks."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    ranks = [0.0] * len(values)
    first = 0
    while first < len(order):
        last = first
        while last + 1 < len(order) and values[order[last + 1]] == values[order[first]]:
            last += 1
        for i in order[first:last + 1]:
            ranks[i] = 1 + (first + last) / 2
        first = last + 1
    return ranks


def mean_ranks(rows):
    """rows: for each table the ranks of all methods."""
    return [sum(column) / len(rows) for column in zip(*rows)]


def friedman(rows):
    """The statistic, and how often chance alone makes it as large. Ties make the statistic larger, as in Conover:
    (k - 1) times the sum of squares between the methods over the whole sum of squares."""
    n, k = len(rows), len(rows[0])
    centre = (k + 1) / 2
    between = n * sum((mean - centre) ** 2 for mean in mean_ranks(rows))
    whole = sum((value - centre) ** 2 for row in rows for value in row)
    if whole == 0:
        return 0.0, 1.0
    statistic = (k - 1) * n * between / whole
    return statistic, chi_square_tail(statistic, k - 1)


def chi_square_tail(x, freedom):
    """From one or two degrees of freedom up by two: Q(x; f + 2) = Q(x; f) + (x/2)^(f/2) e^(-x/2) / Gamma(f/2 + 1)."""
    if x <= 0:
        return 1.0
    f = 2 - freedom % 2
    tail = math.exp(-x / 2) if f == 2 else math.erfc(math.sqrt(x / 2))
    while f < freedom:
        tail += math.exp(f / 2 * math.log(x / 2) - x / 2 - math.lgamma(f / 2 + 1))
        f += 2
    return tail


def range_probability(q, k):
    """That k normal variables all lie within q: k times the integral of phi(z) (Phi(z) - Phi(z - q))^(k - 1)."""
    def below(z):
        return math.erfc(-z / math.sqrt(2)) / 2

    step = 2 * REACH / STEPS
    total = 0.0
    for i in range(STEPS + 1):
        z = -REACH + i * step
        total += math.exp(-z * z / 2) * (below(z) - below(z - q)) ** (k - 1)
    return k * total * step / math.sqrt(2 * math.pi)


def critical_difference(k, n):
    """Two of k methods whose mean ranks over n tables are further apart than this differ, at the level of 5 %."""
    low, high = 0.0, 20.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (low, middle) if range_probability(middle, k) > 1 - LEVEL else (middle, high)
    return high / math.sqrt(2) * math.sqrt(k * (k + 1) / (6 * n))


def groups(means, difference):
    """The largest sets of neighbours within the critical difference, as (first, last) in order of mean rank."""
    ordered = sorted(means)
    found = []
    for first, value in enumerate(ordered):
        last = max(i for i in range(first, len(ordered)) if ordered[i] - value <= difference)
        if not found or last > found[-1][1]:
            found.append((first, last))
    return found


def signed_ranks(differences):
    """Ranks of the sizes, each with its sign; differences of 0 are left out."""
    some = [value for value in differences if value]
    return [place if value > 0 else -place for place, value in zip(rank([abs(value) for value in some]), some)]


def signed_rank_sum(differences):
    """Below 0 where the differences are rather negative."""
    return sum(signed_ranks(differences))


def wilcoxon(differences):
    """How often signs by chance alone make the sum of the signed ranks as far from 0. Exact, with ties too: the sums of
    all choices of signs are counted one rank at a time, in halves."""
    signed = [round(2 * value) for value in signed_ranks(differences)]
    counts = {0: 1}
    for value in signed:
        grown = {}
        for total, number in counts.items():
            for sum_of in (total - value, total + value):
                grown[sum_of] = grown.get(sum_of, 0) + number
        counts = grown
    far = abs(sum(signed))
    return sum(number for total, number in counts.items() if abs(total) >= far) / 2 ** len(signed)
