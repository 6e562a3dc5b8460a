// Predicts with the JavaScript package and prints what it finds as JSON: node javascript_run.mjs PACKAGE < {"models": {NAME: BASE64}, ...}
// The same function runs in a browser, where the page calls it (test_javascript.py).
export async function run(broad, task) {
    const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const found = { models: {}, refused: {} };
    for (const [name, { model, rows, level }] of Object.entries(task.models)) {
        const loaded = await broad.Broad.load(bytes(model));
        const one = { predict: loaded.predict(rows), columns: loaded.columns, labels: loaded.labels, targets: loaded.targets };
        one.scores = Array.from(loaded.scores(rows));
        one.single = rows.slice(0, 3).map((row) => Array.from(loaded.scores([row]))).flat();
        try {
            if (loaded.task === 'classify') one.proba = loaded.predictProba(rows);
            else one.interval = loaded.predictInterval(rows, level);
        } catch (error) {
            one.estimate = error.message;
        }
        loaded.close();
        found.models[name] = one;
    }
    for (const [name, model] of Object.entries(task.damaged)) {
        found.refused[name] = await broad.Broad.load(bytes(model)).then(() => null, (error) => `${error.name}: ${error.message}`);
    }
    const [first] = Object.values(task.models);
    found.wrong = await wrongUses(broad, bytes(first.model), first.rows[0]);
    return found;
}

async function wrongUses(broad, model, row) {
    const loaded = await broad.Broad.load(model.buffer);
    const closed = await broad.Broad.load(new Blob([model]));
    closed.close();
    closed.close();
    const uses = [() => loaded.predict([row.slice(1)]), () => loaded.predict([{ other: 1 }]), () => loaded.predict(3), () => loaded.predict([7]),
        () => loaded.predict([row.map(() => 'text')]), () => loaded.scores(new Float64Array(loaded.inputs.length + 1)), () => closed.predict([row]),
        () => loaded.predict([row.map(() => Infinity)])];
    const messages = [];
    for (const use of uses) {
        try {
            use();
            messages.push(null);
        } catch (error) {
            messages.push(`${error.name}: ${error.message}`);
        }
    }
    messages.push(await broad.Broad.load('text').then(() => null, (error) => `${error.name}: ${error.message}`));
    messages.push(loaded.predict([]).length);
    return messages;
}

if (typeof process === 'object') {
    const { readFileSync } = await import('node:fs');
    const { pathToFileURL } = await import('node:url');
    const broad = await import(pathToFileURL(process.argv[2]).href);
    console.log(JSON.stringify(await run(broad, JSON.parse(readFileSync(0, 'utf8')))));
}
