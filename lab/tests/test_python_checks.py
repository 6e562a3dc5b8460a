"""Every check of scikit-learn's check_estimator, for both estimators."""
import os
import sys
import unittest
import warnings

sys.path.insert(0, os.path.join(os.environ.get("BROAD_SOURCE_DIR", "."), "python", "tests"))
from package_test import Case, broad  # noqa: E402

try:
    from sklearn.utils.estimator_checks import check_estimator
except ImportError:
    sys.exit(77)
warnings.simplefilter("ignore")

WAYS = [{}, {"preset": "paper"}, {"preset": "chain"}, {"kind": "bls"}, {"kind": "brls"}, {"kind": "scn"}, {"kind": "rvfl"}]


class ScikitLearn(Case):
    def test_check_estimator(self):
        """Every check of scikit-learn, for both classes, every preset and every kind."""
        failed = set()
        for make in (broad.BroadClassifier, broad.BroadRegressor):
            for way in WAYS:
                count = 0
                for estimator, check in check_estimator(make(**way), generate_only=True):
                    count += 1
                    try:
                        check(estimator)
                    except Exception as error:  # pylint: disable=broad-except
                        failed.add((repr(estimator), check.func.__name__))
                        print("%r: %s: %s" % (estimator, check.func.__name__, error), flush=True)
                print("%s(%s): %d checks" % (make.__name__, way, count), flush=True)
        self.assertEqual(failed, set())


if __name__ == "__main__":
    unittest.main(argv=["test_python_checks"])
