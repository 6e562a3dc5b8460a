// Loads an ONNX file and prints what it says of the rows. Usage: onnx.mjs MODULES MODEL ROWS
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const [modules, model, rows] = process.argv.slice(2);
const runtime = createRequire(modules + "/x.js")(modules + "/onnxruntime-node");
const x = JSON.parse(readFileSync(rows, "utf8"));
try {
    const session = await runtime.InferenceSession.create(readFileSync(model), { logSeverityLevel: 4 });
    const name = session.inputNames[0];
    const input = new runtime.Tensor("float64", Float64Array.from(x.flat()), [x.length, x[0].length]);
    const found = await session.run({ [name]: input });
    for (const key of Object.keys(found).sort())
        console.log(key, Array.from(found[key].data, String).join(" "));
} catch (error) {
    console.error(String(error));
    process.exit(1);
}
