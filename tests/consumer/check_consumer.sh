#!/usr/bin/env bash
# Installs a build into a staging folder and builds a stranger's program against it: CMake package and pkg-config, shared
# and static. Then moves the folder and does it again, as packagers do.
set -euo pipefail

source=$BROAD_SOURCE_DIR
build=$BROAD_BINARY_DIR
if [[ -n ${BROAD_INSTRUMENTS:-} ]]; then
    echo "a plain program cannot be linked to an instrumented library"
    exit 77
fi
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT

use() {
    local prefix=$1 work=$2
    mkdir -p "$work"

    cmake -S "$source/tests/consumer" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$CC" >"$work/log" ||
        { cat "$work/log"; return 1; }
    cmake --build "$work/cmake" >>"$work/log" || { cat "$work/log"; return 1; }

    export PKG_CONFIG_PATH
    PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name broad.pc)")
    local flags libraries
    read -ra flags < <(pkg-config --cflags broad)
    read -ra libraries < <(pkg-config --libs broad)
    "$CC" -o "$work/pc_shared" "${flags[@]}" "$source/tests/consumer/consumer.c" "${libraries[@]}" \
        -Wl,-rpath,"$(pkg-config --variable=libdir broad)"
    read -ra libraries < <(pkg-config --static --libs broad | sed 's/-lbroad\b/-l:libbroad.a/')
    "$CC" -o "$work/pc_static" "${flags[@]}" "$source/tests/consumer/consumer.c" "${libraries[@]}"

    local program
    for program in "$work"/cmake/consumer_shared "$work"/cmake/consumer_static "$work"/pc_shared "$work"/pc_static; do
        printf '%-16s ' "$(basename "$program")"
        "$program" "$work/model.broad"
        local linked=no
        if readelf -d "$program" | grep -q "NEEDED.*libbroad\.so\.$(cut -d. -f1,2 "$source/VERSION")\]"; then linked=yes; fi
        case $program in
            *shared) [[ $linked == yes ]] || { echo "$program is not linked to libbroad.so"; return 1; } ;;
            *static) [[ $linked == no ]] || { echo "$program is linked to libbroad.so"; return 1; } ;;
        esac
    done
}

cmake --install "$build" --prefix "$stage/first" >"$stage/log" || { cat "$stage/log"; exit 1; }

# Nothing but the public headers, that of MPI where there is MPI, and nothing that knows where it was built.
headers=$(cd "$stage/first" && find . -name '*.h' ! -path ./include/broad/mpi.h | sort)
[[ $headers == ./include/broad/broad.h ]] || { echo "installed headers: $headers"; exit 1; }
if grep -rlIF -e "$source" -e "$build" "$stage/first"; then
    echo "the installed files above name the build folder"
    exit 1
fi
[[ -s $stage/first/share/doc/broad/LICENSE ]] || { echo "LICENSE is not installed"; exit 1; }
if [[ -e $build/broad ]]; then
    [[ -x $stage/first/bin/broad ]] || { echo "the tool is not installed"; exit 1; }
    "$stage/first/bin/broad" version
fi
if [[ -e $build/pages.stamp ]]; then
    for file in share/man/man1/broad.1 share/bash-completion/completions/broad share/zsh/site-functions/_broad \
        share/fish/vendor_completions.d/broad.fish; do
        [[ -s $stage/first/$file ]] || { echo "$file is not installed"; exit 1; }
    done
fi
if [[ -e $build/man3/libbroad.3 ]]; then
    for file in share/man/man3/libbroad.3 share/man/man3/broad_fit.3; do
        [[ -s $stage/first/$file ]] || { echo "$file is not installed"; exit 1; }
    done
fi

use "$stage/first" "$stage/one"
mv "$stage/first" "$stage/moved"
use "$stage/moved" "$stage/two"
