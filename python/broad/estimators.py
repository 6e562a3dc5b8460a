"""The estimators."""
import os
import sys

from . import _native, inputs
from .exports import Exported
from .parameters import make_doc, make_init, own_defaults, parameters_of
from .progress import describe, end_progress, show_progress

_GROWTH = {"threads", "memory", "until", "until-accuracy", "max-layers", "max-nodes", "max-seconds"}
_PICKLE = 1  # what __getstate__ makes


def _np():
    import numpy
    return numpy


def _not_fitted(estimator):
    """The exception that scikit-learn knows, where it is loaded; it is a ValueError and an AttributeError as well."""
    text = ("This %s instance is not fitted yet. Call 'fit' with appropriate arguments before using this estimator."
            % type(estimator).__name__)
    if "sklearn.exceptions" in sys.modules:
        return sys.modules["sklearn.exceptions"].NotFittedError(text)
    return NotFittedError(text)


class NotFittedError(ValueError, AttributeError):
    """The estimator has to be fitted first."""


class _WithEstimate:
    """A method that an estimator has only if its model knows its error, or will."""

    def __init__(self, method):
        self.method, self.__doc__ = method, method.__doc__

    def __get__(self, estimator, owner=None):
        if estimator is None:
            return self.method
        if not estimator._has_estimate():
            raise AttributeError(estimator._no_estimate(self.method.__name__))
        return self.method.__get__(estimator, owner)


class _Rows:
    """Rows with their targets, as they were given: what can be trained on, and kept for later."""

    def __init__(self, columns, target, weights, groups):
        self.columns, self.target, self.weights, self.groups = columns, target, weights, groups

    def without_weightless(self):
        """Rows of weight 0 are no rows, and weights of 1 no weights."""
        if self.weights is None:
            return self
        kept, weights = self.weights > 0, self.weights
        groups = None if self.groups is None else self.groups[kept]
        weights = None if (weights[kept] == 1).all() else _np().ascontiguousarray(weights[kept])
        if kept.all():
            return _Rows(self.columns, self.target, weights, self.groups)
        return _Rows(self.columns.rows_where(kept), self.target[kept], weights, groups)

    def joined(self, more):
        np = _np()
        weights = None
        if self.weights is not None or more.weights is not None:
            weights = np.concatenate([np.ones(len(r.target)) if r.weights is None else r.weights for r in (self, more)])
        groups = None
        if self.groups is not None:  # each new row is one of its own
            new = ["row %d" % i for i in range(len(self.target), len(self.target) + len(more.target))]
            groups = np.array([str(group) for group in self.groups.tolist()] + new, dtype=object)
        target = np.concatenate([self.target, more.target])
        return _Rows(inputs.join_columns(self.columns, more.columns), target, weights, groups)

    def copied(self):
        columns = inputs.Columns(_np().array(self.columns.x), self.columns.names, self.columns.categories)
        return _Rows(columns, self.target.copy(), self.weights, self.groups)

    def native(self, **target):
        c = self.columns
        groups = None if self.groups is None else [str(group) for group in self.groups.tolist()]
        return _native.Rows(c.x, names=c.names, categories=c.categories or None, weights=self.weights, groups=groups,
                            **target)


class _Broad(Exported):
    """What both estimators share."""

    # ---- parameters ----------------------------------------------------------------------------------------------

    @classmethod
    def _get_param_names(cls):
        return sorted([p.name for p in cls._parameters] + list(own_defaults()))

    def get_params(self, deep=True):
        """The parameters and their values. deep: for scikit-learn; there is nothing below."""
        return {name: getattr(self, name) for name in self._get_param_names()}

    def set_params(self, **params):
        """Sets some parameters; returns the estimator."""
        known = self._get_param_names()
        for name, value in params.items():
            if name not in known:
                raise ValueError("Invalid parameter %r for estimator %s. Valid parameters are: %r."
                                 % (name, self, known))
            setattr(self, name, value)
        return self

    def __repr__(self, N_CHAR_MAX=700):
        defaults = own_defaults()
        given = ["%s=%r" % (name, value) for name, value in self.get_params().items() if value != defaults.get(name)]
        return "%s(%s)" % (type(self).__name__, ", ".join(given))

    def _options(self, only=None):
        """The parameters as the library takes them, in the order of its table."""
        pairs = []
        for parameter in self._parameters:
            value = self._seed() if parameter.name == "seed" else getattr(self, parameter.name)
            if value is not None and (only is None or parameter.option in only):
                pairs.append((parameter.option, parameter.text(value)))
        return tuple(pairs)

    def _seed(self):
        """Ensembles of scikit-learn set random_state, and each member another one: it counts before seed."""
        return self.seed if self.random_state is None else self.random_state

    def _has_estimate(self):
        model = self.__dict__.get("_model")
        if model is not None:
            return model.estimate() is not None
        try:
            options = _native.get_options(tuple(pair for pair in self._options() if pair[0] != "class-weight"))
        except ValueError:  # fit() will say so
            return True
        return options["loo"] != "no" and (options["weights"] == "joint" or options["supervise"] == "gcv")

    def _no_estimate(self, method):
        """Why there is none."""
        model = self.__dict__.get("_model")
        if model is not None and not model.layers:
            why = ", as none explained the targets" if model.outcome == "stalled" else ""
            return "this model has no layer%s, and so no estimate of its error, which %s needs (%s)" % (why, method,
                                                                                                       model.reason)
        return ("this model has no estimate of its error, which %s needs: fit it with loo='yes', with joint weights or "
                "supervise='gcv'" % method)

    def _run(self, call, rows, *arguments, progress, more=()):
        """A call that trains, with progress shown where verbose says so."""
        shown = progress is None and self.verbose
        try:
            model = call(rows, *arguments, show_progress if shown else progress, *more)
        except BaseException:
            if shown:
                end_progress("")
            raise
        if shown:
            end_progress(describe(model))
        return model

    # ---- for scikit-learn --------------------------------------------------------------------------------------------

    def _more_tags(self):
        return {"allow_nan": True, "requires_y": True, "multioutput": self._estimator_type == "regressor",
                "X_types": ["2darray", "sparse"]}

    def __sklearn_tags__(self):
        from sklearn.utils import ClassifierTags, InputTags, RegressorTags, Tags, TargetTags
        classify = self._estimator_type == "classifier"
        return Tags(estimator_type=self._estimator_type,
                    target_tags=TargetTags(required=True, multi_output=not classify, single_output=True),
                    classifier_tags=ClassifierTags() if classify else None,
                    regressor_tags=None if classify else RegressorTags(),
                    input_tags=InputTags(sparse=True, allow_nan=True))

    def __sklearn_is_fitted__(self):
        return "_model" in self.__dict__ or self._waits()

    def _waits(self):
        """There are rows, but of one class so far: they are trained on once there is a second."""
        return "_model" not in self.__dict__ and "_kept" in self.__dict__

    def _fitted(self):
        if "_model" not in self.__dict__:
            raise _not_fitted(self)
        return self._model

    # ---- rows --------------------------------------------------------------------------------------------------------

    def _learn_columns(self, X):
        columns = inputs.learn_columns(X)
        self.__dict__.pop("feature_names_in_", None)
        self.n_features_in_ = columns.x.shape[1]
        if columns.names is not None:
            self.feature_names_in_ = _np().asarray(columns.names, dtype=object)
        return columns

    def _check_names(self, X):
        names, known = inputs.names_of(X), self.__dict__.get("feature_names_in_")
        if names is None and known is None:
            return
        name = type(self).__name__
        if known is None or names is None:
            import warnings
            warnings.warn("X has feature names, but %s was fitted without feature names" % name if known is None else
                          "X does not have valid feature names, but %s was fitted with feature names" % name)
            return
        known = list(known)
        if names == known:
            return
        text = "The feature names should match those that were passed during fit.\n"
        unseen, missing = sorted(set(names) - set(known)), sorted(set(known) - set(names))
        for head, some in (("Feature names unseen at fit time:\n", unseen),
                           ("Feature names seen at fit time, yet now missing:\n", missing)):
            if some:
                text += head + "".join("- %s\n" % one for one in some[:5]) + ("- ...\n" if len(some) > 5 else "")
        if not unseen and not missing:
            text += "Feature names must be in the same order as they were in fit.\n"
        raise ValueError(text)

    def _columns_count(self, X):
        shape = getattr(X, "shape", None)
        count = shape[1] if shape is not None and len(shape) == 2 else None
        if count is not None and count != self.n_features_in_:
            raise ValueError("X has %d features, but %s is expecting %d features as input"
                             % (count, type(self).__name__, self.n_features_in_))

    def _columns_like(self, X):
        """Rows as the network takes them."""
        model, X = self._fitted(), inputs.taken(X)
        self._check_names(X)
        self._columns_count(X)
        x = inputs.like_columns(X, self._categories, self.n_features_in_)
        if not self._categories:
            self._columns_count(x)
        return x, model

    def _scores(self, X):
        np = _np()
        model = self.__dict__.get("_model")
        # The straight way: what needs no looking at.
        if not (type(X) is np.ndarray and X.dtype.char == "d" and X.dtype.isnative and X.ndim == 2 and
                X.flags.c_contiguous and model is not None and not self._categories and X.shape[1] == self.n_features_in_ and X.shape[0] and
                "feature_names_in_" not in self.__dict__):
            X, model = self._columns_like(X)
        scores = np.empty((X.shape[0], self._outputs))
        model.predict(X, scores, self.threads or 0)
        return scores

    # ---- the model ---------------------------------------------------------------------------------------------------

    def _take_model(self, model, categories=()):
        self._model = model
        self._outputs = len(model.outputs)
        self._categories = [(column, levels) for (column, _), (_, levels) in zip(categories, model.categories)]

    def _train(self, rows, progress):
        model = self._run(_native.fit, rows.native(**self._target(rows)), self._options(), progress=progress)
        self._take_model(model, rows.columns.categories)
        return self

    def _given_rows(self, X, y, sample_weight, groups, fresh):
        """fresh: the columns are learned from X; otherwise they are those of the model."""
        np = _np()
        if y is None:
            self._read_target(y)
        X = inputs.taken(X)
        if not fresh:
            self._check_names(X)
            self._columns_count(X)
            columns = inputs.learn_columns(X)
            if columns.x.shape[1] != self.n_features_in_:
                self._columns_count(columns.x)
        else:
            columns = self._learn_columns(X)
        target = self._read_target(y)
        inputs.check_length(columns.x, target)
        weights = inputs.weights_of(sample_weight, columns.x.shape[0])
        groups = None if groups is None else np.asarray(groups)
        if groups is not None:
            inputs.check_length(columns.x, groups)
        return _Rows(columns, target, weights, groups).without_weightless()

    def fit(self, X, y, sample_weight=None, *, groups=None, progress=None):
        """Fits the network.

        X: rows of numbers, of any layout and type, a sparse matrix of scipy, a DataFrame, or anything with
        Arrow's C stream interface (polars, pyarrow); columns of text become categories; NaN is a missing value. sample_weight: what each row counts; rows of weight 0 change nothing.
        groups: rows of a group are left out together when the error is estimated. progress: called with stage, done,
        total, part, norm and first norm; a true answer ends training with the layers so far. Returns the estimator,
        which refers to the rows, without a copy, so that it can grow.
        """
        self.__dict__.pop("_kept", None)
        rows = self._given_rows(X, y, sample_weight, groups, True)
        self._begin(rows, None)
        self._train(rows, progress)
        self._kept, self._owned = rows, False
        return self

    def _given_growth(self, X, y, sample_weight, groups):
        self._fitted()
        if X is None and y is None:
            if "_kept" not in self.__dict__:
                raise ValueError("the rows that the model was trained on are needed: X and y")
            return self._kept
        return self._given_rows(X, y, sample_weight, groups, False)

    def add_enhancement(self, X=None, y=None, nodes=100, layers=1, *, sample_weight=None, groups=None, progress=None):
        """Adds up to `layers` layers of `nodes` enhancement nodes, without training again.

        X, y: the rows that the model was trained on, if it was loaded or pickled since.
        """
        rows = self._given_growth(X, y, sample_weight, groups)
        model = self._run(self._model.enhance, rows.native(**self._target(rows)), self._options(_GROWTH),
                          progress=progress, more=(nodes, layers))
        self._take_model(model, rows.columns.categories)
        return self

    def add_features(self, X=None, y=None, groups_of_nodes=1, nodes=10, enhance=10, *, sample_weight=None, groups=None,
                     progress=None):
        """Adds groups of `nodes` feature nodes, each with a layer of `enhance` enhancement nodes; rows as in
        add_enhancement."""
        rows = self._given_growth(X, y, sample_weight, groups)
        model = self._run(self._model.features, rows.native(**self._target(rows)), self._options(_GROWTH),
                          progress=progress, more=(groups_of_nodes, nodes, enhance))
        self._take_model(model, rows.columns.categories)
        return self

    def _partial(self, X, y, classes, sample_weight, progress):
        untrained = "_model" not in self.__dict__
        first = untrained and not self._waits()
        more = self._given_rows(X, y, sample_weight, None, first)
        kept = self.__dict__.get("_kept")
        if not first and kept is None:
            raise ValueError("the rows that this model was trained on are not here: it was loaded. Learn new rows "
                             "together with the old ones by fit, or by 'broad learn' on the command line")
        rows = more if first else kept.joined(more)
        known = None if untrained else self._known()
        if not self._begin(rows, classes):
            pass
        elif untrained or rows.columns.categories or not self._is_known(more, known):
            self._train(rows, progress)
        else:
            try:
                self._learn(kept, more, progress)
            except ValueError:  # it has no layer yet, or the rows are there already: together they are another table
                self._train(rows, progress)
        self._kept, self._owned = rows.copied() if first else rows, True
        return self

    def _learn(self, kept, more, progress):
        """Without layers where all weights are solved again, otherwise with one more."""
        settings = self.certificate_.get("settings", {})
        nodes = 0 if self._model.jointly else int(settings.get("enhance_nodes", 100))
        target, classes = self._fresh_target(more)
        model = self._run(self._model.learn, kept.native(**self._target(kept)), more.native(**target), classes,
                          self._options(_GROWTH), progress=progress, more=(nodes, 1 if nodes else 0))
        self._take_model(model, kept.columns.categories)

    # ---- what others lack --------------------------------------------------------------------------------------------

    def verify(self, X, y, sample_weight=None, *, groups=None, progress=None):
        """Recomputes the certificate from the training rows, by separate code; a dictionary: holds, reason, ..."""
        self._fitted()
        rows = self._given_rows(X, y, sample_weight, groups, False)
        return self._model.verify(rows.native(**self._target(rows)), progress)

    @property
    def certificate_(self):
        """Norm, bound and test of every layer, as the model file has them."""
        import json
        return json.loads(self._fitted().json())

    @property
    def estimate_(self):
        """How good predictions are on new rows, by leave-one-out or from the score; None: not known."""
        return self._fitted().estimate()

    @property
    def loo_score_(self):
        """score() on new rows, as estimated; NaN: not known."""
        estimate = self.estimate_
        return float("nan") if estimate is None else estimate[self._score_name]

    @property
    def feature_importances_(self):
        """How much the output moves with each column, as shares that add up to 1. Only where the nodes were drawn with a
        learned metric: without one the network does not say which columns matter."""
        shares, out, at = self._fitted().relevance, [], 0
        if shares is None:
            raise AttributeError("feature_importances_: this network was drawn without a learned metric, and so does not say "
                                 "which columns matter; shuffle them: sklearn.inspection.permutation_importance(model, X, y)")
        widths = {column: len(levels) for column, levels in self._categories}
        for column in range(self.n_features_in_):
            width = widths.get(column, 1)
            out.append(sum(shares[at:at + width]))
            at += width
        return _np().array(out)

    @property
    def n_nodes_(self):
        """Feature and enhancement nodes."""
        return self._fitted().nodes

    @property
    def n_layers_(self):
        """Layers of enhancement nodes."""
        return self._fitted().layers

    @property
    def outcome_(self):
        """How training ended: complete, stalled, ..."""
        return self._fitted().outcome

    # ---- files -------------------------------------------------------------------------------------------------------

    def save(self, path, compact=False):
        """Writes the model file, which the tool and the C library read. compact: random weights are drawn again from
        the seed when it is loaded."""
        self._fitted().save(os.fsdecode(path), compact)

    def to_bytes(self, compact=False):
        """The bytes of the model file."""
        return self._fitted().to_bytes(compact)

    def export_rows(self, X):
        """Rows as exported programs take them: one double for each column, for a category the code of its level."""
        np = _np()
        x, model = self._columns_like(X)
        out = np.empty((x.shape[0], self.n_features_in_))
        model.export_rows(np.ascontiguousarray(x, dtype=np.float64), out, x.shape[0])
        return out

    @classmethod
    def load(cls, path):
        """The estimator of a model file."""
        return cls._of_model(_native.load(os.fsdecode(path)))

    @classmethod
    def from_bytes(cls, data):
        """The estimator of the bytes of a model file."""
        return cls._of_model(_native.from_bytes(data))

    @classmethod
    def _of_model(cls, model):
        if model.task != cls._task:
            raise ValueError("this model is for the task %s, not %s" % (model.task, cls._task))
        made, at = cls(kind=model.kind), 0
        left, categories, names = list(model.categories), [], []
        while at < len(model.inputs):
            name = model.inputs[at]
            if left and name == "%s=%s" % (left[0][0], left[0][1][0]):  # an input for each of its levels
                name, levels = left.pop(0)
                categories.append((len(names), levels))
                at += len(levels)
            else:
                at += 1
            names.append(name)
        made.n_features_in_ = len(names)
        if names != ["x%d" % (i + 1) for i in range(len(names))]:
            made.feature_names_in_ = _np().asarray(names, dtype=object)
        made._take_model(model, categories)
        made._take_outputs(model.outputs)
        return made

    def __getstate__(self):
        state = dict(self.__dict__)
        if "_model" in state:
            state["_model"] = state["_model"].to_bytes(False)
        if not state.pop("_owned", False):
            state.pop("_kept", None)
        state["_pickle"] = _PICKLE
        return state

    def __setstate__(self, state):
        state = dict(state)
        if state.pop("_pickle", 0) > _PICKLE:
            raise ValueError("this was pickled by a later version of broad")
        if "_model" in state:
            state["_model"] = _native.from_bytes(state["_model"])
        state["_owned"] = "_kept" in state
        self.__dict__.update({name: own_defaults().get(name) for name in self._get_param_names()})  # younger than the pickle
        self.__dict__.update(state)


class BroadClassifier(_Broad):
    _estimator_type = "classifier"
    _task = "classify"
    _score_name = "accuracy"
    _parameters = parameters_of(True)

    # ---- classes -----------------------------------------------------------------------------------------------------

    def _read_target(self, y):
        return inputs.labels_of(y, type(self).__name__)

    def _begin(self, rows, classes):
        """Whether there are the two classes that training needs; if not, others are known to come."""
        np = _np()
        found = np.unique(rows.target) if rows.target.dtype.kind != "O" else np.array(sorted(set(rows.target.tolist())),
                                                                                     dtype=object)
        if classes is not None:
            all_classes = np.unique(np.asarray(classes))
            if not set(found.tolist()) <= set(all_classes.tolist()):
                raise ValueError("y contains classes that are not in classes")
            found = all_classes
        elif "_kept" in self.__dict__ and "classes_" in self.__dict__:
            found = np.unique(np.concatenate([self.classes_, found]))
        seen = set(rows.target.tolist())
        if not seen or len(found) < 2:
            raise ValueError("the rows have %s; at least two are needed, or for partial_fit classes=, all that will come"
                             % ("one class only, %r" % rows.target[0] if seen else "no class"))
        self.classes_ = found
        return len(seen) > 1

    @staticmethod
    def _name(label):
        """A label as the library writes it."""
        return str(int(label)) if isinstance(label, float) else str(label)

    def _target(self, rows):
        np = _np()
        if rows.target.dtype.kind in "iuf" and rows.target.dtype.kind != "b":
            return {"classes": np.ascontiguousarray(rows.target, dtype=np.int64)}
        return {"labels": [self._name(label) for label in rows.target.tolist()]}

    def _take_model(self, model, categories=()):
        super()._take_model(model, categories)
        if "classes_" in self.__dict__:
            self._take_places(model.outputs)

    def _take_places(self, outputs):
        """_place[q]: which of classes_ the output q is."""
        np = _np()
        place = {self._name(label): i for i, label in enumerate(self.classes_.tolist())}
        self._place = np.array([place[name] for name in outputs], dtype=np.int64)
        self._straight = len(outputs) == len(self.classes_) and (self._place == np.arange(len(outputs))).all()

    def _take_outputs(self, outputs):
        np = _np()
        try:
            self.classes_ = np.array(sorted(int(name) for name in outputs))
            if {str(label) for label in self.classes_.tolist()} != set(outputs):
                raise ValueError
        except ValueError:
            self.classes_ = np.array(sorted(outputs))
        self._take_places(outputs)

    def _known(self):
        return set(self._model.outputs)

    def _is_known(self, rows, known):
        return {self._name(label) for label in rows.target.tolist()} <= known

    def _fresh_target(self, rows):
        np = _np()
        number = {name: q for q, name in enumerate(self._model.outputs)}
        return {}, np.array([number[self._name(label)] for label in rows.target.tolist()], dtype=np.int64)

    def _options(self, only=None):
        options = super()._options(only)
        weights = self.class_weight
        if isinstance(weights, dict):
            known = {self._name(label) for label in self.classes_.tolist()} if "classes_" in self.__dict__ else set()
            given = {self._name(label): weight for label, weight in weights.items()}
            if known and not set(given) <= known and not known <= set(given):
                raise ValueError("class_weight: %s is no class; the classes are %s"
                                 % (", ".join(sorted(set(given) - known)), ", ".join(sorted(known))))
            given = {label: weight for label, weight in given.items() if label in known}
            text = ",".join("%s:%r" % (label, float(weight)) for label, weight in given.items())
            options = tuple((name, text if name == "class-weight" else value) for name, value in options)
        return options

    def _in_order(self, numbers, absent):
        """Columns in the order of classes_."""
        if self._straight:
            return numbers
        out = _np().full((numbers.shape[0], len(self.classes_)), absent)
        out[:, self._place] = numbers
        return out

    # ---- prediction --------------------------------------------------------------------------------------------------

    def partial_fit(self, X, y, classes=None, sample_weight=None, *, progress=None):
        """Learns further rows: the network keeps its nodes, and its weights become those of all rows so far, which the
        estimator keeps. classes: all that will come; as long as the rows so far are of one class, that one is predicted,
        and there is no network yet. Rows of a class that the network does not know train it anew."""
        return self._partial(X, y, classes, sample_weight, progress)

    def _only(self, X):
        """For each row 1 for the one class that was seen so far, and 0 for the others."""
        X = inputs.taken(X)
        self._check_names(X)
        columns = inputs.learn_columns(X)
        self._columns_count(columns.x)
        return _np().tile((self.classes_ == self._kept.target[0]).astype(float), (columns.x.shape[0], 1))

    def predict(self, X):
        """The class of each row."""
        np = _np()
        if self._waits():
            return self.classes_[self._only(X).argmax(axis=1)]
        scores = self._scores(X)
        numbers = np.empty(scores.shape[0], dtype=np.int64)
        self._model.classes(scores, numbers)
        return self.classes_[numbers if self._straight else self._place[numbers]]

    @_WithEstimate
    def predict_proba(self, X):
        """The probability of each class, in the order of classes_, calibrated by the model's estimate of its error."""
        if self._waits():
            return self._only(X)
        scores = self._scores(X)
        self._model.probabilities(scores, scores)
        return self._in_order(scores, 0.0)

    @_WithEstimate
    def predict_log_proba(self, X):
        """The logarithm of predict_proba()."""
        return _np().log(self.predict_proba(X))

    def decision_function(self, X):
        """The score of each class; of two classes by how much that of the second is larger."""
        scores = self._only(X) if self._waits() else self._in_order(self._scores(X), -_np().inf)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def score(self, X, y, sample_weight=None):
        """The accuracy."""
        np = _np()
        return float(np.average(np.asarray(y).ravel() == self.predict(X), weights=sample_weight))


class BroadRegressor(_Broad):
    _estimator_type = "regressor"
    _task = "regress"
    _score_name = "r2"
    _parameters = parameters_of(False)

    def _read_target(self, y):
        return inputs.values_of(y, type(self).__name__)

    def _begin(self, rows, classes):
        self.n_outputs_ = 1 if rows.target.ndim == 1 else rows.target.shape[1]
        self._flat = rows.target.ndim == 1
        return True

    def _target(self, rows):
        return {"values": _np().ascontiguousarray(rows.target, dtype=float).ravel()}

    def _take_outputs(self, outputs):
        self.n_outputs_, self._flat = len(outputs), len(outputs) == 1

    def _known(self):
        return None

    def _is_known(self, rows, known):
        return True

    def _fresh_target(self, rows):
        return self._target(rows), None

    def partial_fit(self, X, y, sample_weight=None, *, progress=None):
        """Learns further rows: the network keeps its nodes, and its weights become those of all rows so far, which the
        estimator keeps."""
        return self._partial(X, y, None, sample_weight, progress)

    def predict(self, X):
        """The value of each row, or its values."""
        values = self._scores(X)
        return values[:, 0] if self._flat else values

    @_WithEstimate
    def predict_interval(self, X, level=0.9):
        """Lower and upper end for each predicted value: a fraction `level` of new values lies inside."""
        values = self._scores(X)
        out = _np().empty(values.shape + (2,))
        self._model.intervals(values, out, level)
        return out[:, 0] if self._flat else out

    def score(self, X, y, sample_weight=None):
        """R2; of several targets the mean."""
        np = _np()
        y, found = np.asarray(y, dtype=float), self.predict(X)
        weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
        mean = np.average(y, axis=0, weights=weights)
        left, all_of_it = (np.tensordot(weights, part ** 2, 1) for part in (y - found, y - mean))
        with np.errstate(divide="ignore", invalid="ignore"):
            r2 = np.where(all_of_it > 0, 1 - left / all_of_it, np.where(left > 0, 0.0, 1.0))
        return float(np.mean(r2))


_DOC = """%s by broad learning.

    Networks of random nodes whose output weights come from ridge regression. What is not set follows from `preset`,
    and that of preset auto from the rows. Models are the same for any number of threads.

    Parameters
    ----------
    @PARAMETERS@

    Attributes
    ----------
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : ndarray of str
        Their names, if X has some.
%s    loo_score_ : float
        score() on new rows, estimated in training.
    estimate_ : dict
        The same in more detail.
    certificate_ : dict
        Norm, bound and test of every layer.
    feature_importances_ : ndarray
        How much the output moves with each column, where a metric was learned; without one an AttributeError.
    n_nodes_, n_layers_, outcome_
        Size of the network, and how training ended.
    """

for _class, _what, _more in ((BroadClassifier, "Classification", "    classes_ : ndarray\n        The classes.\n"),
                             (BroadRegressor, "Regression", "    n_outputs_ : int\n        Targets.\n")):
    _class.__init__ = make_init(_class._parameters, _class.__name__)
    _class.__doc__ = make_doc(_DOC % (_what, _more), _class._parameters)


def _of(model):
    return (BroadClassifier if model.task == "classify" else BroadRegressor)._of_model(model)


def load(path):
    """The estimator of a model file, of whichever kind it is."""
    return _of(_native.load(os.fsdecode(path)))


def from_bytes(data):
    """The estimator of the bytes of a model file."""
    return _of(_native.from_bytes(data))
