# Describes the machine that Hetzner's rescue system runs on: its architecture, the
# names of its disks that udev gives, and what lsblk knows of them, as JSON.
set -euo pipefail
export LC_ALL=C
echo "arch $(uname -m)"
find /dev/disk -type l -printf 'link %p %l\n' 2>/dev/null | sort || true
lsblk --json --bytes --output PATH,TYPE,SIZE,RO,ROTA,TRAN,MODEL,SERIAL,WWN,PTTYPE,FSTYPE,PARTLABEL
