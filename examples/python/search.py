"""Inside of scikit-learn: a pipeline, cross-validation and a search over parameters."""
import sys

try:
    from sklearn.datasets import load_wine
    from sklearn.model_selection import GridSearchCV, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
except ImportError:
    sys.exit(77)

from broad import BroadClassifier

rows, label = load_wine(return_X_y=True)
model = BroadClassifier(effort="fast", threads=1)
print("five folds: %.3f" % cross_val_score(model, rows, label).mean())
search = GridSearchCV(make_pipeline(StandardScaler(), model), {"broadclassifier__kind": ["bls", "rvfl", "scn"]}, cv=3)
search.fit(rows, label)
print("best:", search.best_params_, "%.3f" % search.best_score_)
