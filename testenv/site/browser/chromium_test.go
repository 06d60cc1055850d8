package browser

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/talosgen/talosgen/testenv/site/book"
	"github.com/talosgen/talosgen/testenv/site/pages"
)

const repository = "../../.."

// patience is how long a page may take on a busy machine.
const patience = time.Minute

// chromium is the browser, as Debian and others call it. Tests are skipped without it,
// unless all tests of the full level have to run.
func chromium(t *testing.T) string {
	t.Helper()
	names := []string{"chromium", "chromium-headless-shell", "google-chrome"}
	for _, name := range names {
		if file, err := exec.LookPath(name); err == nil {
			return file
		}
	}
	says := "there is no Chromium (" + strings.Join(names, ", ") + "): apt-get install chromium"
	if os.Getenv("TALOSGEN_REQUIRE_TESTENV") != "" && os.Getenv("TALOSGEN_TESTENV_FULL") != "" {
		t.Fatal(says)
	}
	t.Skip(says)
	return ""
}

// site is the documentation of this repository, in two versions, made once.
var site = sync.OnceValues(func() (b *book.Book, err error) {
	if b, err = book.Read(repository, "https://example.org/source/"); err != nil {
		return nil, err
	}
	for _, version := range []string{"main", "0.1.0"} {
		if err := (pages.Site{Book: b, Version: version, Repository: repository, Source: "https://example.org/source/"}).Write(out); err != nil {
			return nil, err
		}
	}
	return b, nil
})

// out is where the site is written.
var out string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "talosgen-browser-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	out = dir
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// tab is a page in the browser, and what it has said and asked for.
type tab struct {
	testing.TB
	ctx  context.Context
	book *book.Book
	base string // where the version main is

	mu       sync.Mutex
	requests []string
	said     []string
}

// open starts the browser with an empty page.
func open(t *testing.T) *tab {
	t.Helper()
	browser := chromium(t)
	b, err := site()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(out)))
	t.Cleanup(server.Close)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(browser), chromedp.NoSandbox)
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	p := &tab{TB: t, ctx: ctx, book: b, base: server.URL + "/main/"}
	if err := chromedp.Listen(ctx, p.hear); err != nil {
		t.Fatal(err)
	}
	messages := chromedp.Console(ctx)
	go func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			p.note(&p.said, m.String()+" "+m.URL)
		}
	}()
	p.size(1400, 900)
	return p
}

func (p *tab) hear(event any) {
	if e, ok := event.(*network.EventRequestWillBeSent); ok {
		p.note(&p.requests, e.Request.URL)
	}
}

func (p *tab) note(list *[]string, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	*list = append(*list, text)
}

func (p *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		p.Fatal(err)
	}
}

// load opens a file of the version main.
func (p *tab) load(file string) { p.Helper(); p.do(chromedp.Navigate(p.base + file)) }

func (p *tab) size(width, height int64) { p.do(chromedp.EmulateViewport(width, height)) }

// prefer makes light or dark what the system asks for.
func (p *tab) prefer(scheme string) {
	p.Helper()
	p.do(func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		})
		return chromedp.Void{}, err
	})
}

// wait waits until an expression is true, also on a page that is left meanwhile.
func (p *tab) wait(expression string) {
	p.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		holds, err := chromedp.Run(p.ctx, chromedp.Evaluate[bool]("Boolean("+expression+")"))
		if err == nil && holds {
			return
		}
		if time.Now().After(end) {
			at, _ := chromedp.Run(p.ctx, chromedp.Location())
			p.Fatalf("%s at %s: %v", expression, at, err)
		}
	}
}

// value is that of an expression.
func value[T any](p *tab, expression string) T {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		p.Fatalf("%s: %v", expression, err)
	}
	return v
}

// picture keeps what is seen in the folder that TALOSGEN_SCREENSHOTS names, for people.
func (p *tab) picture(name string) {
	p.Helper()
	dir := os.Getenv("TALOSGEN_SCREENSHOTS")
	if dir == "" {
		return
	}
	data, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), data, 0o644)
	}
	if err != nil {
		p.Fatal(err)
	}
}

// silent fails if a page has complained, or asked for something from elsewhere.
func (p *tab) silent() {
	p.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, line := range p.said {
		p.Errorf("the console says: %s", line)
	}
	for _, url := range p.requests {
		if !strings.HasPrefix(url, strings.TrimSuffix(p.base, "main/")) && !strings.HasPrefix(url, "data:") {
			p.Errorf("asks for %s", url)
		}
	}
	if len(p.requests) == 0 {
		p.Error("no request was seen")
	}
}
