#!/bin/sh
# Runs a command in a file system of its own, as a container would: ROOT with this machine's system folders, nothing else of the machine.
# container.sh ROOT ro|rw UID WORKDIR NODE VOLUME|- COMMAND… — in a mount namespace of its own, as root.
set -eu
root=$1 mode=$2 user=$3 workdir=$4 node=$5 volume=$6
shift 6
mount --make-rprivate /
mount --bind "$root" "$root"
for name in usr bin sbin lib lib32 lib64 libx32 etc; do
  if [ -L "/$name" ]; then
    [ -e "$root/$name" ] || ln -s "$(readlink "/$name")" "$root/$name"
  elif [ -d "/$name" ]; then
    mkdir -p "$root/$name"
    mount --bind "/$name" "$root/$name"
    mount -o remount,bind,ro "$root/$name"
  fi
done
# The user of the base image.
mkdir -p "$root/.machine/node"
printf 'root:x:0:0::/root:/bin/sh\nnode:x:1000:1000::/home/node:/bin/sh\n' >"$root/.machine/passwd"
printf 'root:x:0:\nnode:x:1000:\n' >"$root/.machine/group"
mount --bind "$root/.machine/passwd" "$root/etc/passwd"
mount --bind "$root/.machine/group" "$root/etc/group"
mount --bind "$(dirname "$node")" "$root/.machine/node"
mkdir -p "$root/proc" "$root/dev" "$root/tmp" "$root/.old"
mount -t proc proc "$root/proc" 2>/dev/null || mount --rbind /proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
if [ "$volume" != - ]; then mount --bind "$root$volume" "$root$volume"; fi
if [ "$mode" = ro ]; then mount -o remount,bind,ro "$root"; fi
cd "$root"
pivot_root . .old
umount -l /.old
cd "$workdir"
PATH=/.machine/node:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin
export PATH
if [ "$user" = 0 ]; then exec "$@"; fi
exec setpriv --reuid "$user" --regid "$user" --clear-groups --no-new-privs --inh-caps=-all --bounding-set=-all -- "$@"
