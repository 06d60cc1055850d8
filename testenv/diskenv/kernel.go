//go:build linux

package diskenv

import (
	"encoding/binary"
	"strings"
)

// says is what a kernel prints before the name of its system.
const says = "this is "

// kernel is one for GRUB to boot, by the protocol of Linux for x86: it prints the name of
// its system to the serial port, and ends the machine.
func kernel(system string) []byte {
	const (
		sector         = 512
		sectors        = 0x1f1 // of the part in real mode, which never runs
		paragraphs     = 0x1f4 // of 16 bytes, of the rest
		bootFlag       = 0x1fe
		magic          = 0x202
		version        = 0x206
		loadFlags      = 0x211
		entry          = 0x214
		initialDiskEnd = 0x22c
		high           = 0x100000 // the address that the rest is loaded to
	)

	rest := append(program32(), says+system+"\r\n\x00"...)
	rest = append(rest, make([]byte, sector-len(rest)%sector)...)

	k := make([]byte, 2*sector)
	k[sectors] = 1
	binary.LittleEndian.PutUint32(k[paragraphs:], uint32(len(rest)/16))
	binary.LittleEndian.PutUint16(k[bootFlag:], 0xaa55)
	copy(k[magic:], "HdrS")
	binary.LittleEndian.PutUint16(k[version:], 0x0203)
	k[loadFlags] = 1 // high
	binary.LittleEndian.PutUint32(k[entry:], high)
	binary.LittleEndian.PutUint32(k[initialDiskEnd:], 1<<31-1)

	return append(k, rest...)
}

// program32 prints the text behind it, up to a zero.
func program32() []byte {
	code := []byte{
		0xe8, 0, 0, 0, 0, // call here
		0x5e,          // here: pop esi
		0x83, 0xc6, 0, // add esi, the length of what follows the call
		0xba, 0xf8, 0x03, 0, 0, // mov edx, the serial port
		0xac,       // next: lodsb
		0x84, 0xc0, // test al, al
		0x74, 0x03, // jz end
		0xee,       // out dx, al
		0xeb, 0xf8, // jmp next
		0xba, exitPort, 0, 0, 0, // end: mov edx, the port that ends QEMU
		0xee,       // out dx, al
		0xf4,       // hlt
		0xeb, 0xfd, // jmp to it
	}

	const call = 5
	code[8] = byte(len(code) - call)

	return code
}

// systemOf is the name in a kernel; empty if it is none.
func systemOf(data []byte) string {
	_, after, _ := strings.Cut(string(data), says)
	name, _, _ := strings.Cut(after, "\r")

	return name
}
