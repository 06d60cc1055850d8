# Ends what Hetzner's rescue system has begun to use on disks by itself: volume groups
# and arrays, which would write to a disk while an image is written to it.
vgchange --activate n >/dev/null 2>&1 || true
mdadm --stop --scan >/dev/null 2>&1 || true
