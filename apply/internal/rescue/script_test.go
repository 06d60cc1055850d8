package rescue

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestScript runs the script of the rescue system with real programs, on a file
// instead of a disk.
func TestScript(t *testing.T) {
	for _, program := range []string{"bash", "wget", "xz", "zstd", "gzip", "dd", "sha256sum", "mkfifo", "od"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not here: the script is not tested", program)
		}
	}
	raw := bytes.Repeat([]byte("talos in a disk image "), 300_000)
	raw[510], raw[511] = 0x55, 0xaa
	files := map[string][]byte{
		"/image.raw": raw, "/image.raw.xz": pack(t, raw, "xz", "-0"), "/image.raw.gz": pack(t, raw, "gzip", "-1"), "/image.raw.zst": pack(t, raw, "zstd", "-1", "-q"),
		"/page.raw": []byte(strings.Repeat("<html>", 200)), "/page.raw.xz": []byte("<html>"), "/image.qcow2": raw,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, short := strings.CutPrefix(r.URL.Path, "/short")
		data, found := files[name]
		switch {
		case !found:
			http.NotFound(w, r)
		case short:
			w.Header().Set("Content-Length", fmt.Sprint(len(data)))
			_, _ = w.Write(data[:len(data)/2])
		default:
			_, _ = w.Write(data)
		}
	}))
	defer server.Close()
	digest := sum(files["/image.raw.xz"])
	for _, tt := range []struct {
		name, digest string
		disk         string // "" for a file that was there before
		exit         int
		said         string
	}{
		{"/image.raw", "", "", 0, ""},
		{"/image.raw.xz", digest, "", 0, ""},
		{"/image.raw.xz?token=1", "", "", 0, ""},
		{"/image.raw.gz", "", "", 0, ""},
		{"/image.raw.zst", "", "", 0, ""},
		{"/image.raw.xz", strings.Repeat("0", 64), "", 26, "the download has the digest " + digest},
		{"/nothing.raw.xz", "", "", 23, "the download failed: "},
		{"/short/image.raw.xz", "", "", 23, "the download failed: "},
		{"/short/image.raw", "", "", 23, "the download failed: "},
		{"/page.raw.xz", "", "", 24, "the image cannot be unpacked: "},
		{"/page.raw", "", "", 28, "what was downloaded is no image of a disk"},
		{"/image.qcow2", "", "", 21, "the name of the image ends in none of"},
		{"/image.raw", "", "/dev/full", 25, "the disk /dev/full cannot be written"},
		{"/image.raw.xz", "", "/dev/full", 25, "the disk /dev/full cannot be written"},
		// Not a device, so that nothing happens should it not be refused; but
		// mounted it is.
		{"/image.raw", "", "proc", 20, "the disk proc is in use: this is not the rescue system"},
	} {
		t.Run(tt.name+tt.disk, func(t *testing.T) {
			disk := tt.disk
			if disk == "" {
				disk = filepath.Join(t.TempDir(), "sda")
				if err := os.WriteFile(disk, bytes.Repeat([]byte("old"), 3_000_000), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.CommandContext(t.Context(), "bash", "-s", "--", server.URL+tt.name, tt.digest, disk)
			cmd.Dir = t.TempDir()
			var out, said bytes.Buffer
			progress := int64(-1)
			watch := &progressWriter{notify: func(n int64) error { progress = n; return nil }, stop: func() {}}
			cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(rescueScript), &out, &both{&said, watch}
			_ = cmd.Run() // the exit code tells
			if code := cmd.ProcessState.ExitCode(); code != tt.exit || !strings.HasPrefix(watch.last(), tt.said) {
				t.Fatalf("exit code %d: %s", code, said.String())
			}
			if tt.exit != 0 {
				if out.Len() > 0 {
					t.Errorf("it says %q", out.String())
				}
				return
			}
			written, err := os.ReadFile(disk)
			path, _, _ := strings.Cut(tt.name, "?")
			if want := fmt.Sprintln(len(raw), sum(raw), sum(files[path])); err != nil || out.String() != want || !bytes.Equal(written[:len(raw)], raw) {
				t.Errorf("it says %q, not %q; %v", out.String(), want, err)
			}
			if progress != int64(len(raw)) {
				t.Errorf("the last progress is %d", progress)
			}
		})
	}
}

// The Image Factory has an image once it has been told the schematic.
func TestScriptTellsSchematic(t *testing.T) {
	if _, err := exec.LookPath("wget"); err != nil {
		t.Skip("wget is not here: the script is not tested")
	}
	const schematic = "customization:\n    extraKernelArgs:\n        - it's=quoted\n"
	raw := bytes.Repeat([]byte{0x55, 0xaa}, 4096)
	for _, tt := range []struct {
		name, schematic string
		refuse          bool
		exit            int
		said            string
	}{
		{"told", schematic, false, 0, ""},
		{"not told", "", false, 23, "the download failed: "},
		{"refused", schematic, true, 23, "(the schematic was not taken: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var known []byte
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.Method == http.MethodPost && r.URL.Path == "/schematics" && !tt.refuse:
					known, _ = io.ReadAll(r.Body)
					w.WriteHeader(http.StatusCreated)
				case r.Method == http.MethodGet && r.URL.Path == "/image/"+sum(known)+"/v1.14.1/hcloud-amd64.raw":
					_, _ = w.Write(raw)
				default:
					http.NotFound(w, r)
				}
			}))
			defer server.Close()
			disk := filepath.Join(t.TempDir(), "sda")
			if err := os.WriteFile(disk, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			source := Source{URL: server.URL + "/image/" + sum([]byte(schematic)) + "/v1.14.1/hcloud-amd64.raw", Schematic: tt.schematic}
			cmd := exec.CommandContext(t.Context(), "bash", "-c", source.command(disk))
			cmd.Stdin = strings.NewReader(rescueScript)
			said, _ := cmd.CombinedOutput() // the exit code tells
			if code := cmd.ProcessState.ExitCode(); code != tt.exit || !strings.Contains(string(said), tt.said) {
				t.Fatalf("exit code %d: %s", code, said)
			}
			if written, err := os.ReadFile(disk); tt.exit == 0 && (err != nil || !bytes.Equal(written, raw)) {
				t.Errorf("%d bytes are on the disk; %v", len(written), err)
			}
		})
	}
}

func pack(t *testing.T, data []byte, program string, args ...string) []byte {
	cmd := exec.CommandContext(t.Context(), program, append(args, "-c")...)
	cmd.Stdin = bytes.NewReader(data)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func sum(data []byte) string {
	digest := sha256.Sum256(data)
	return hex.EncodeToString(digest[:])
}

type both struct {
	a *bytes.Buffer
	b *progressWriter
}

func (b *both) Write(text []byte) (int, error) {
	b.a.Write(text)
	return b.b.Write(text)
}
