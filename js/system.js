/** The library in WebAssembly, and the little that it asks of a system: a clock. It writes nothing and opens nothing. */
import { base64 } from './broad.wasm.js';

const OK = 0;
const BAD_FILE = 8; // WASI's EBADF

function decode(text) {
    if (typeof Buffer === 'function') return Buffer.from(text, 'base64');
    return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}

function system(memory) {
    return {
        clock_time_get(_clock, _precision, out) {
            const now = BigInt(Math.round(performance.now() * 1e6));
            new DataView(memory().buffer).setBigUint64(out, now, true);
            return OK;
        },
        fd_close: () => BAD_FILE,
        fd_seek: () => BAD_FILE,
        fd_write: () => BAD_FILE,
    };
}

/** The library's functions, and its memory as arrays; memory may grow, so none of these arrays is to be kept. */
export async function instantiate() {
    let wasm = null;
    const imports = { wasi_snapshot_preview1: system(() => wasm.memory) };
    const { instance } = await WebAssembly.instantiate(decode(base64), imports);
    wasm = instance.exports;
    wasm._initialize();
    const bytes = (place, count) => new Uint8Array(wasm.memory.buffer, place, count);
    return {
        wasm,
        bytes,
        numbers: (place, count) => new Float64Array(wasm.memory.buffer, place, count),
        pointer: (place) => new DataView(wasm.memory.buffer).getUint32(place, true),
        message() {
            const text = new Uint8Array(wasm.memory.buffer, wasm.broad_error_message());
            return new TextDecoder().decode(text.slice(0, text.indexOf(0)));
        },
    };
}
