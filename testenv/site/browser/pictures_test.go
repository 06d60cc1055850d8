package browser

import (
	"bytes"
	"flag"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

var update = flag.Bool("update", false, "write what pictures look like")

// pictures are files of this repository that browsers show by themselves.
func pictures(t *testing.T) (files []string) {
	t.Helper()
	for _, pattern := range []string{"docs/pictures/*.svg", "apply/rehearsal/timeline/testdata/*.html"} {
		found, err := filepath.Glob(filepath.Join(repository, pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: no pictures (%v)", pattern, err)
		}
		files = append(files, found...)
	}
	return files
}

// TestPictures looks at pictures, light and dark: they complain of nothing and load
// nothing, no text lies on another or outside, and they look as they did. To look at them:
// TALOSGEN_SCREENSHOTS; to keep what they look like: -update.
func TestPictures(t *testing.T) {
	p := open(t)
	p.size(1280, 960)
	// Browsers ask for it where no page names another one.
	if err := os.WriteFile(filepath.Join(out, "favicon.ico"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, file := range pictures(t) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(file)
		if err := os.WriteFile(filepath.Join(out, "main", name), data, 0o644); err != nil {
			t.Fatal(err)
		}
		for _, scheme := range []string{"light", "dark"} {
			p.prefer(scheme)
			p.load(name)
			if name == "try.svg" { // what moves has no look of its own
				continue
			}
			if bad := value[string](p, misplaced); bad != "" {
				t.Errorf("%s, %s: %s", name, scheme, bad)
			}
			p.looks(strings.TrimSuffix(name, filepath.Ext(name)) + "-" + scheme)
			p.picture("picture-" + name + "-" + scheme)
		}
	}
	p.silent()
}

// misplaced names texts that lie on one another, or stand out of their picture.
const misplaced = `(() => {
	const bad = [];
	for (const svg of document.querySelectorAll("svg")) {
		const frame = svg.getBoundingClientRect();
		const texts = [...svg.querySelectorAll("text")].filter((e) => e.textContent.trim() !== "")
			.map((e) => ({ says: e.textContent.trim().slice(0, 40), at: e.getBoundingClientRect() }));
		texts.forEach((a, i) => {
			if (a.at.left < frame.left - 1 || a.at.right > frame.right + 1 || a.at.top < frame.top - 1 || a.at.bottom > frame.bottom + 1) bad.push(a.says + " stands out");
			for (const b of texts.slice(i + 1)) {
				const x = Math.min(a.at.right, b.at.right) - Math.max(a.at.left, b.at.left), y = Math.min(a.at.bottom, b.at.bottom) - Math.max(a.at.top, b.at.top);
				if (x > 2 && y > 3) bad.push(a.says + " lies on " + b.says);
			}
		});
	}
	return bad.slice(0, 5).join("; ");
})()`

// The look of a picture is its screenshot with so many points, whatever fonts there are:
// letters are grey then, and places and colours stay.
const (
	lookWidth, lookHeight = 64, 48
	// How much a point may differ, and all of them on average, of 255: another font has
	// words that are a tenth wider.
	mostOfPoint, mostOfAll = 90, 4.0
)

// looks compares what is seen with how it looked when it was kept.
func (p *tab) looks(name string) {
	p.Helper()
	shot, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		p.Fatal(err)
	}
	seen, err := png.Decode(bytes.NewReader(shot))
	if err != nil {
		p.Fatal(err)
	}
	got, file := shrunk(seen), filepath.Join("testdata", name+".png")
	if *update {
		var b bytes.Buffer
		if err := png.Encode(&b, got); err != nil {
			p.Fatal(err)
		}
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			p.Fatal(err)
		}
	}
	kept, err := os.ReadFile(file)
	if err != nil {
		p.Fatal(err)
	}
	want, err := png.Decode(bytes.NewReader(kept))
	if err != nil {
		p.Fatal(err)
	}
	if point, all := differ(got, want); point > mostOfPoint || all > mostOfAll {
		p.Errorf("%s looks otherwise: a point differs by %d of 255, all by %.1f on average; look at it, then -update", name, point, all)
	}
}

// shrunk is a picture with few points, each the mean of those that it stands for.
func shrunk(from image.Image) *image.RGBA {
	size, to := from.Bounds(), image.NewRGBA(image.Rect(0, 0, lookWidth, lookHeight))
	for y := range lookHeight {
		for x := range lookWidth {
			var r, g, b, n uint32
			for v := size.Min.Y + y*size.Dy()/lookHeight; v < size.Min.Y+(y+1)*size.Dy()/lookHeight; v++ {
				for u := size.Min.X + x*size.Dx()/lookWidth; u < size.Min.X+(x+1)*size.Dx()/lookWidth; u++ {
					pr, pg, pb, _ := from.At(u, v).RGBA()
					r, g, b, n = r+pr>>8, g+pg>>8, b+pb>>8, n+1
				}
			}
			to.SetRGBA(x, y, color.RGBA{uint8(r / n), uint8(g / n), uint8(b / n), 255})
		}
	}
	return to
}

// differ is by how much two pictures differ: at the point where it is most, and on average.
func differ(a, b image.Image) (point int, all float64) {
	if a.Bounds() != b.Bounds() {
		return 255, 255
	}
	sum := 0
	for y := range lookHeight {
		for x := range lookWidth {
			ar, ag, ab, _ := a.At(x, y).RGBA()
			br, bg, bb, _ := b.At(x, y).RGBA()
			d := max(apart(ar, br), apart(ag, bg), apart(ab, bb))
			point, sum = max(point, d), sum+d
		}
	}
	return point, float64(sum) / (lookWidth * lookHeight)
}

func apart(a, b uint32) int { return max(int(a>>8)-int(b>>8), int(b>>8)-int(a>>8)) }

// TestDiffer: what is seen to differ is what somebody would see.
func TestDiffer(t *testing.T) {
	page := image.NewRGBA(image.Rect(0, 0, 1280, 960))
	fill := func(r image.Rectangle, c color.Color) {
		for y := r.Min.Y; y < r.Max.Y; y++ {
			for x := r.Min.X; x < r.Max.X; x++ {
				page.Set(x, y, c)
			}
		}
	}
	fill(page.Bounds(), color.White)
	fill(image.Rect(200, 100, 500, 140), color.RGBA{200, 30, 30, 255})
	before := shrunk(page)
	if point, all := differ(before, shrunk(page)); point != 0 || all != 0 {
		t.Errorf("the same differs by %d, %.1f", point, all)
	}
	fill(image.Rect(200, 100, 500, 140), color.RGBA{30, 120, 30, 255}) // another colour
	if point, _ := differ(before, shrunk(page)); point <= mostOfPoint {
		t.Errorf("another colour differs by %d", point)
	}
	fill(page.Bounds(), color.Black)
	if _, all := differ(before, shrunk(page)); all <= mostOfAll {
		t.Errorf("another ground differs by %.1f", all)
	}
}
