#!/bin/bash -eu
# Builds every fuzz target of fuzz/ as oss-fuzz asks for it: with the compiler and the flags of its environment, everything that a
# target needs beside it in $OUT, and its seeds in $OUT/TARGET_seed_corpus.zip. lab/tests/test_oss_fuzz.py does the same here.
build=$WORK/broad
# HEIC is loaded when it is needed, which the machine that runs the targets could not do.
cmake -S "$SRC/broad" -B "$build" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG= -DBROAD_HARDEN=OFF -DBROAD_TESTS=OFF \
    -DBROAD_PYTHON_PACKAGE=OFF -DBROAD_WITH_HEIF=OFF -DBROAD_FUZZ=ON -DBROAD_FUZZ_ENGINE="$LIB_FUZZING_ENGINE"
cmake --build "$build" -j "$(nproc)" --target broad fuzz_targets

mkdir -p "$OUT/lib"
for program in "$build"/fuzz/fuzz_*; do
    [[ -f $program && -x $program ]] || continue
    cp "$program" "$OUT/"
    # The machine that runs the targets has the C library alone.
    ldd "$program" | awk '$2 == "=>" && $3 ~ "^/" {print $3}' | grep -vE '/lib(c|m|pthread|dl|rt|resolv)\.so' | xargs -r cp -Lt "$OUT/lib"
    # shellcheck disable=SC2016 # expanded by the loader
    patchelf --force-rpath --set-rpath '$ORIGIN/lib' "$OUT/$(basename "$program")"
done
python3 "$SRC/broad/oss-fuzz/pack_seeds.py" "$build/broad" "$OUT"
