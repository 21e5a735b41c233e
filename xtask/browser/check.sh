#!/bin/sh
# Opens flame graphs and reports of made-up recordings in a headless browser and checks what they do.
# Usage: xtask/browser/check.sh [--shots DIRECTORY]
# Without Chromium or Python it says so and succeeds: nothing was checked.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

browser=
for name in chromium chromium-browser google-chrome; do
    if [ -z "$browser" ]; then browser=$(command -v "$name" || true); fi
done
if [ -z "$browser" ] || ! command -v python3 >/dev/null; then
    echo "SKIPPED: flame graph and report were not checked in a browser (chromium and python3 are needed)" >&2
    exit 0
fi

pages=$(mktemp -d)
trap 'rm -rf "$pages"' EXIT
cargo run --quiet --profile quick --manifest-path "$here/../../Cargo.toml" --package oxperf-present \
    --example flame_pages -- "$pages"
python3 -B "$here/check.py" "$browser" "$pages" "$@"
