# room.sh FOLDER UEFI [RELEASE PROGRAMS]...: makes a root in a mount namespace of its own,
# goes there, and stays until its input ends.
set -e
folder=$1
uefi=$2
shift 2
root=$folder/root
mkdir -p "$root" "$folder/usr/install" "$folder/assets"
mount -t tmpfs none "$root"
mkdir "$root/usr"
cd "$folder" # whose name may have a comma
mount -t overlay none -o lowerdir=usr:/usr "$root/usr"
cd "$root"
mkdir bin-of-test boot dev mnt proc programs sys tmp
mount --bind "$folder/assets" usr/install
mount --bind "$folder/bin" bin-of-test
for name in bin sbin lib lib32 lib64 libx32 etc; do
    if [ -L "/$name" ]; then
        cp -P "/$name" .
    elif [ -d "/$name" ]; then
        mkdir "$name"
        mount --bind "/$name" "$name"
    fi
done
for name in dev proc sys; do
    mount --bind "/$name" "$name"
done
mount -t tmpfs none sys/firmware
if [ "$uefi" = true ]; then
    mkdir -p sys/firmware/efi/efivars
    mount -t tmpfs none sys/firmware/efi/efivars
fi
echo talos.platform=hcloud >"$folder/cmdline"
mount --bind "$folder/cmdline" proc/cmdline
while [ $# -gt 0 ]; do
    mkdir "programs/$1"
    mount --bind "$2" "programs/$1"
    shift 2
done
exec chroot . sh -c 'echo ready; cat'
