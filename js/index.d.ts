/** What can go wrong: a damaged file, rows that do not fit the model. */
export class BroadError extends Error {}

/** A number, a category, yes or no, a date; null, undefined, NaN and '' are missing values. */
export type Value = number | bigint | string | boolean | Date | null | undefined;

/** The values of a row in the order of the columns, or by their names. */
export type Row = ArrayLike<Value> | Record<string, Value>;

/** Rows; or numbers row after row, in the order of the inputs: a category has one for each of its levels. */
export type Rows = Iterable<Row> | Float64Array | Float32Array;

export interface Column {
    readonly name: string;
    /** The levels of a column of categories, otherwise null. */
    readonly categories: readonly string[] | null;
    readonly form: 'number' | 'truth' | 'date' | 'date_day' | 'date_month' | 'decimal_comma' | 'decimal_point';
}

export class Model {
    private constructor();
    readonly task: 'classify' | 'regress';
    /** The classes, in the order of scores and probabilities; null for a regression. */
    readonly labels: readonly string[] | null;
    /** The names of the targets; null for a classification. */
    readonly targets: readonly string[] | null;
    /** The columns of a row. */
    readonly columns: readonly Column[];
    /** The names of the numbers that the network sees. */
    readonly inputs: readonly string[];
    /** Whether it was trained on photos: then rows are what the library makes of a photo. */
    readonly photos: boolean;
    /** What the file says of the model: docs/model-format.md. */
    readonly description: Record<string, unknown>;

    /** The class of each row; or its value, or an array of its values where there are several targets. */
    predict(rows: Rows): string[] | number[] | number[][];
    /** The probability of each class, in the order of labels. */
    predictProba(rows: Rows): number[][];
    /** [lower, upper] for each row, which a fraction `level` (0.9) of new values lies between; of several targets an array of these. */
    predictInterval(rows: Rows, level?: number): [number, number][] | [number, number][][];
    /** The scores of each class, or the predicted values, row after row. */
    scores(rows: Rows): Float64Array;
    /** Frees the memory of the model, which cannot be used afterwards. */
    close(): void;
}

export class Broad {
    /** The model of the bytes of a `.broad` file: they may also be a Blob, or the Response of fetch(). */
    static load(source: ArrayBuffer | ArrayBufferView | Blob | Response): Promise<Model>;
}

export default Broad;
