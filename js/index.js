/**
 * Models of broad learning, in the browser and in node: a `.broad` file is loaded and predicts. The predictor is the C library's own,
 * compiled to WebAssembly; nothing leaves the machine, and nothing else is loaded.
 */
import { instantiate } from './system.js';

const DAY = 86400000;
const MISSING_LEVEL = '(missing)';
const CLASSIFY = 1;
const ROWS_AT_ONCE = 4096;
const SCRATCH_ROWS = 256;

/** What can go wrong: a damaged file, rows that do not fit the model. */
export class BroadError extends Error {
    constructor(message) {
        super(message);
        this.name = 'BroadError';
    }
}

let library = null; // one for all models

/** The description inside of a model file, which the library has checked. */
function describe(bytes) {
    const length = Number(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getBigUint64(0, true));
    const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + length)));
    return JSON.parse(header.__metadata__.model);
}

/** The columns of a table that the inputs of the network come from, in their order. */
function columnsOf(description) {
    const categories = new Map(description.categories.map((category) => [category.first, category]));
    const forms = new Map((description.forms || []).map(({ input, form }) => [input, form]));
    const columns = [];
    for (let input = 0; input < description.inputs;) {
        const category = categories.get(input);
        if (category) {
            const places = new Map(category.levels.map((level, place) => [level, place]));
            columns.push({ name: category.name, categories: category.levels.slice(), input, places });
            input += category.levels.length;
        } else {
            columns.push({ name: description.input_names[input], form: forms.get(input), input });
            input++;
        }
    }
    return columns;
}

function isMissing(value) {
    return value === null || value === undefined || value === '' || (typeof value === 'number' && Number.isNaN(value));
}

const TRUTH = new Map([['yes', 1], ['true', 1], ['no', 0], ['false', 0]]);

/** A number as it was written in training, 1.234,5 or 1,234.5, as a plain one. */
function unmarked(text, form) {
    const comma = form === 'decimal_comma', marked = comma ? /^[-+]?\d{1,3}(\.\d{3})*(,\d*)?$|^[-+]?\d+,\d*$/ : /^[-+]?\d{1,3}(,\d{3})+(\.\d*)?$/;
    if ((!comma && form !== 'decimal_point') || !marked.test(text)) return text;
    return comma ? text.replace(/\./g, '').replace(',', '.') : text.replace(/,/g, '');
}

/** One value of a column of numbers; NaN: it is missing. */
function numberOf(column, value) {
    if (isMissing(value)) return NaN;
    if (typeof value === 'number') return value;
    if (typeof value === 'boolean') return value ? 1 : 0;
    if (typeof value === 'bigint') return Number(value);
    if (value instanceof Date) return value.getTime() / DAY;
    const text = String(value).trim();
    if (column.form === 'truth' && TRUTH.has(text.toLowerCase())) return TRUTH.get(text.toLowerCase());
    if (column.form && column.form.startsWith('date') && /^\d{4}-\d\d-\d\d/.test(text)) {
        const time = Date.parse(/[Tt ]/.test(text) ? `${text.replace(' ', 'T').replace(/Z$/, '')}Z` : text);
        if (!Number.isNaN(time)) return time / DAY;
    }
    const number = Number(unmarked(text, column.form));
    if (Number.isNaN(number)) throw new BroadError(`column ${column.name}: '${text}' is not a number`);
    return number;
}

function fill(x, column, value) {
    if (!column.categories) {
        x[column.input] = numberOf(column, value);
        return;
    }
    const missing = isMissing(value);
    const place = column.places.get(missing ? MISSING_LEVEL : String(value));
    const end = column.input + column.categories.length;
    x.fill(place === undefined ? NaN : 0, column.input, end);
    if (place !== undefined) x[column.input + place] = 1;
}

export class Model {
    #wasm;
    #bytes;
    #predictor;
    #columns;

    /** For Broad.load(). */
    constructor(wasm, memory, predictor, description) {
        this.#wasm = wasm;
        this.#bytes = memory;
        this.#predictor = predictor;
        this.#columns = columnsOf(description);
        this.task = wasm.broad_predictor_task(predictor) === CLASSIFY ? 'classify' : 'regress';
        this.labels = this.task === 'classify' ? description.output_names.slice() : null;
        this.targets = this.task === 'classify' ? null : description.output_names.slice();
        this.inputs = description.input_names.slice();
        this.columns = this.#columns.map(({ name, categories, form }) => ({ name, categories: categories || null, form: form || 'number' }));
        this.photos = Boolean(description.photo);
        this.description = description;
    }

    /** Frees the memory of the model, which cannot be used afterwards. */
    close() {
        if (!this.#predictor) return;
        this.#wasm.broad_predictor_free(this.#predictor);
        this.#wasm.free(this.#bytes);
        this.#predictor = 0;
    }

    #row(x, row, number) {
        const given = Array.isArray(row) || ArrayBuffer.isView(row);
        if (!given && (row === null || typeof row !== 'object')) throw new BroadError(`row ${number}: it is no array and no object`);
        if (given && row.length !== this.#columns.length) {
            throw new BroadError(`row ${number}: ${row.length} values where the model has ${this.#columns.length} columns`);
        }
        this.#columns.forEach((column, place) => {
            if (!given && !(column.name in row)) throw new BroadError(`row ${number}: column '${column.name}' is not there`);
            fill(x, column, given ? row[place] : row[column.name]);
        });
    }

    /** Rows as numbers, in the order of the inputs. */
    #numbers(rows) {
        if (rows instanceof Float64Array || rows instanceof Float32Array) {
            if (rows.length % this.inputs.length) {
                throw new BroadError(`${rows.length} numbers are not rows of ${this.inputs.length} inputs`);
            }
            return rows;
        }
        if (!rows || typeof rows[Symbol.iterator] !== 'function') throw new BroadError('rows are an array of rows');
        const list = Array.from(rows);
        const x = new Float64Array(list.length * this.inputs.length);
        list.forEach((row, i) => this.#row(x.subarray(i * this.inputs.length, (i + 1) * this.inputs.length), row, i + 1));
        return x;
    }

    #checked(status) {
        if (status !== 0) throw new BroadError(library.message());
    }

    /** Memory of the library for a moment; use(pointers) must not keep them. */
    #with(sizes, use) {
        const places = sizes.map((size) => this.#wasm.malloc(Math.max(size, 8)));
        try {
            if (places.includes(0)) throw new BroadError('out of memory');
            return use(...places);
        } finally {
            places.forEach((place) => this.#wasm.free(place));
        }
    }

    #block(out, x, count) {
        const scratch = this.#wasm.broad_predictor_scratch(this.#predictor, Math.min(count, SCRATCH_ROWS));
        this.#with([x.length * 8, out.length * 8, scratch], (input, output, area) => {
            library.numbers(input, x.length).set(x);
            this.#checked(this.#wasm.broad_predictor_rows(output, this.#predictor, input, count, 0, area, scratch));
            out.set(library.numbers(output, out.length));
        });
    }

    /** The scores of each class, or the predicted values: row after row, in the order of labels or targets. */
    scores(rows) {
        if (!this.#predictor) throw new BroadError('the model has been closed');
        const x = this.#numbers(rows);
        const { length: inputs } = this.inputs;
        const outputs = this.description.output_names.length;
        const count = x.length / inputs;
        const out = new Float64Array(count * outputs);
        for (let first = 0; first < count; first += ROWS_AT_ONCE) {
            const end = Math.min(count, first + ROWS_AT_ONCE);
            this.#block(out.subarray(first * outputs, end * outputs), x.subarray(first * inputs, end * inputs), end - first);
        }
        return out;
    }

    #eachRow(values, make) {
        const outputs = this.description.output_names.length;
        const rows = [];
        for (let at = 0; at < values.length; at += outputs) rows.push(make(values.subarray(at, at + outputs)));
        return rows;
    }

    /** The class of each row; or its value, or an array of its values where there are several targets. */
    predict(rows) {
        const scores = this.scores(rows);
        if (this.task === 'regress') return this.targets.length === 1 ? Array.from(scores) : this.#eachRow(scores, (row) => Array.from(row));
        return this.#eachRow(scores, (row) => this.labels[row.reduce((best, score, i) => (score > row[best] ? i : best), 0)]);
    }

    /** The probability of each class, in the order of labels. */
    predictProba(rows) {
        if (this.task !== 'classify') throw new BroadError('a regression has no probabilities; predictInterval() has intervals');
        const scores = this.scores(rows);
        this.#with([scores.length * 8], (place) => {
            library.numbers(place, scores.length).set(scores);
            const count = scores.length / this.labels.length;
            this.#checked(this.#wasm.broad_predictor_probabilities(place, this.#predictor, place, count));
            scores.set(library.numbers(place, scores.length));
        });
        return this.#eachRow(scores, (row) => Array.from(row));
    }

    /** [lower, upper] for each row, which a fraction `level` of new values lies between; of several targets an array of these. */
    predictInterval(rows, level = 0.9) {
        if (this.task !== 'regress') throw new BroadError('classes have no intervals; predictProba() has probabilities');
        const values = this.scores(rows);
        const ends = new Float64Array(2 * values.length);
        this.#with([values.length * 8, ends.length * 8], (place, out) => {
            library.numbers(place, values.length).set(values);
            const count = values.length / this.targets.length;
            this.#checked(this.#wasm.broad_predictor_intervals(out, this.#predictor, place, count, level));
            ends.set(library.numbers(out, ends.length));
        });
        const pairs = Array.from(values, (_, i) => [ends[2 * i], ends[2 * i + 1]]);
        const { length } = this.targets;
        return length === 1 ? pairs : Array.from({ length: pairs.length / length }, (_, i) => pairs.slice(i * length, (i + 1) * length));
    }
}

export class Broad {
    /** The model of the bytes of a file: an ArrayBuffer, a Uint8Array, a Blob, or a Response of fetch(). */
    static async load(source) {
        const given = source && typeof source.arrayBuffer === 'function' ? await source.arrayBuffer() : source;
        if (!(given instanceof ArrayBuffer) && !ArrayBuffer.isView(given)) throw new BroadError('load() takes the bytes of a model file');
        const bytes = given instanceof ArrayBuffer ? new Uint8Array(given) : new Uint8Array(given.buffer, given.byteOffset, given.byteLength);
        library = library || (await instantiate());
        const { wasm } = library;
        const memory = wasm.malloc(bytes.length || 8);
        const out = wasm.malloc(8);
        if (!memory || !out) throw new BroadError('out of memory');
        library.bytes(memory, bytes.length).set(bytes);
        const status = wasm.broad_predictor_from_memory(out, memory, bytes.length);
        const predictor = library.pointer(out);
        wasm.free(out);
        if (status !== 0) {
            wasm.free(memory);
            throw new BroadError(library.message());
        }
        return new Model(wasm, memory, predictor, describe(bytes));
    }
}

export default Broad;
