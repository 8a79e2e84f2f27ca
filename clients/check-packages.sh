#!/usr/bin/env bash
# Makes both packages as they would be published, and looks at what a registry would refuse. Nothing is
# published, and npm asks no registry.
set -euo pipefail
cd "$(dirname "$0")"
version=$(node -p 'require("../package.json").version')
[ "$(node -p 'require("./typescript/package.json").version')" = "$version" ] ||
  { echo "clients/typescript/package.json is not of version $version" >&2; exit 1; }
grep -qx "version = \"$version\"" python/pyproject.toml ||
  { echo "clients/python/pyproject.toml is not of version $version" >&2; exit 1; }
report=$(cd typescript && npm publish --dry-run --offline 2>&1) || { echo "$report" >&2; exit 1; }
python3 python/build.py --check
