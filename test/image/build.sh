#!/bin/sh
# Builds the image with buildah where no container registry is reached: from the Dockerfile as it stands, on a base that is made here of
# Debian's packages and of npm's Node, under the name of the one that the Dockerfile asks for. As root; needs buildah and debootstrap
# (apt-get install buildah debootstrap) and some 3 GB. `test/image/build.sh [TAG]`
set -eu
cd "$(dirname "$0")/../.."
tag=${1:-holdfast:latest}
for tool in buildah debootstrap npm; do
  command -v "$tool" >/dev/null || { echo "$tool cannot be run here: apt-get install $tool" >&2; exit 1; }
done
node=$(sed -n 's/^ARG NODE=//p' Dockerfile)
version=${node%%-*}
case "$(uname -m)" in x86_64) architecture=x64 ;; *) architecture=arm64 ;; esac
export STORAGE_DRIVER="${STORAGE_DRIVER:-vfs}" BUILDAH_ISOLATION=chroot
if ! buildah inspect --type image "docker.io/library/node:$node" >/dev/null 2>&1; then
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  echo "a base in place of node:$node"
  debootstrap --variant=minbase --include=ca-certificates bookworm "$scratch/root" >"$scratch/debootstrap.log" 2>&1 || { tail -5 "$scratch/debootstrap.log" >&2; exit 1; }
  npm pack --silent --pack-destination "$scratch" "node-linux-$architecture@$version" npm@11 >/dev/null
  mkdir -p "$scratch/root/usr/local/bin" "$scratch/root/usr/local/lib/node_modules/npm"
  tar -xzf "$scratch/node-linux-$architecture-$version.tgz" -C "$scratch" && install -m 755 "$scratch/package/bin/node" "$scratch/root/usr/local/bin/node"
  tar -xzf "$scratch"/npm-11*.tgz -C "$scratch/root/usr/local/lib/node_modules/npm" --strip-components=1
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$scratch/root/usr/local/bin/npm"
  chroot "$scratch/root" sh -c 'groupadd --gid 1000 node && useradd --uid 1000 --gid node --shell /bin/bash --create-home node'
  # It trusts what this machine does, as an authority of one's own that stands before the registry of packages.
  cp -L /etc/ssl/certs/ca-certificates.crt "$scratch/root/etc/ssl/certs/ca-certificates.crt"
  mkdir -p "$scratch/root/usr/local/etc"
  echo 'cafile=/etc/ssl/certs/ca-certificates.crt' >"$scratch/root/usr/local/etc/npmrc"
  base=$(buildah from scratch)
  buildah add --quiet "$base" "$scratch/root" / >/dev/null
  buildah commit --quiet --rm "$base" "docker.io/library/node:$node" >/dev/null
fi
buildah build --pull-never --network host --tag "$tag" .
