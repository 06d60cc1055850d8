# Writes a disk image from a URL to a disk, in Hetzner's rescue system, and
# reads it back. Arguments: the URL; the SHA-256 digest that the download must
# have, or nothing; the disk; the schematic of the image, or nothing, which the
# Image Factory is told before. The last line of stdout is the result: the bytes
# on the disk, their SHA-256 digest, and that of the download. What dd says of
# its progress, and what went wrong, is on stderr.
set -uo pipefail
export LC_ALL=C
url=$1 digest=$2 disk=$3 schematic=${4-}

fail() {
	printf '%s\n' "$2" >&2
	exit "$1"
}

# A server that did not boot into the rescue system runs from this disk.
if grep -q "^$disk" /proc/mounts; then
	fail 20 "the disk $disk is in use: this is not the rescue system"
fi
case ${url%%\?*} in
*.xz) unpack='xz -dc' ;;
*.zst) unpack='zstd -dc' ;;
*.gz) unpack='gzip -dc' ;;
*.raw | *.img) unpack=cat ;;
*) fail 21 'the name of the image ends in none of .raw, .img, .xz, .zst, .gz' ;;
esac

work=$(mktemp -d) || fail 22 'there is no room for temporary files'
trap 'rm -rf "$work"' EXIT
mkfifo "$work/packed" "$work/raw" "$work/count"
sha256sum <"$work/packed" >"$work/packed.sum" &
sha256sum <"$work/raw" >"$work/raw.sum" &
wc -c <"$work/count" >"$work/size" &

# Nothing of what was on the disk may stay. Not every disk can discard.
blkdiscard -f "$disk" 2>/dev/null || true

# The factory makes images only of schematics that it has been told. What it
# answers matters only if it then has no image.
untold=
if [ -n "$schematic" ] &&
	! wget --no-verbose --timeout=60 --tries=2 -O /dev/null --post-data "$schematic" "${url%%/image/*}/schematics" 2>"$work/told.log"; then
	untold=" (the schematic was not taken: $(grep . "$work/told.log" | tail -n 1))"
fi

wget --no-verbose --timeout=60 --tries=1 -O - "$url" 2>"$work/wget.log" |
	tee "$work/packed" |
	$unpack 2>"$work/unpack.log" |
	tee "$work/raw" "$work/count" |
	dd of="$disk" bs=4M iflag=fullblock conv=fsync status=progress
status=("${PIPESTATUS[@]}")
wait
# Which one failed first: a reader that gives up ends those before it, too.
if [ "${status[4]}" -ne 0 ]; then
	fail 25 "the disk $disk cannot be written"
fi
if [ "${status[0]}" -ne 0 ] && [ "${status[0]}" -ne 141 ]; then
	reason=$(grep . "$work/wget.log" | tail -n 1)
	fail 23 "the download failed: ${reason:-it was cut short}$untold"
fi
if [ "${status[2]}" -ne 0 ]; then
	fail 24 "the image cannot be unpacked: $(tail -n 1 "$work/unpack.log")"
fi

packed=$(cut -d ' ' -f 1 "$work/packed.sum")
raw=$(cut -d ' ' -f 1 "$work/raw.sum")
size=$(tr -d ' ' <"$work/size")
if [ -n "$digest" ] && [ "$digest" != "$packed" ]; then
	fail 26 "the download has the digest $packed"
fi

# What is on the disk is read from the disk, not from memory.
sync "$disk"
blockdev --flushbufs "$disk" 2>/dev/null || true
if [ "$(head -c "$size" "$disk" | sha256sum | cut -d ' ' -f 1)" != "$raw" ]; then
	fail 27 'the disk does not hold what was written to it'
fi
# Every disk that a machine starts from ends its first sector with these.
if [ "$(head -c 512 "$disk" | tail -c 2 | od -An -tx1 | tr -d ' \n')" != 55aa ]; then
	fail 28 'what was downloaded is no image of a disk'
fi
echo "$size $raw $packed"
