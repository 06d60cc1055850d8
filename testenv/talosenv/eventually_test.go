//go:build linux

package talosenv

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/talosgen/talosgen/testenv/patience"
)

// eventually tries until it works. Every attempt has a deadline of its own:
// some calls wait for what never comes.
func eventually(t *testing.T, within time.Duration, attempt func(context.Context) error) {
	t.Helper()

	ctx, cancel := patience.Context(t.Context(), within)
	defer cancel()

	ticker := time.NewTicker(200 * time.Millisecond)
	defer ticker.Stop()

	for {
		once, done := context.WithTimeout(ctx, 10*time.Second)
		err := attempt(once)

		done()

		if err == nil {
			return
		}

		select {
		case <-ticker.C:
		case <-ctx.Done():
			t.Fatalf("not within %s: %v", within, err)
		}
	}
}

// stopwatch logs how long the steps of a test take.
func stopwatch(t *testing.T, begin time.Time) func(step string) time.Duration {
	return func(step string) time.Duration {
		t.Helper()

		d := time.Since(begin)
		t.Logf("%6.1f s  %s", d.Seconds(), step)

		return d
	}
}

// members is nil if etcd has as many voting members.
func members(ctx context.Context, c *Client, n *Node, want int) error {
	output, err := c.Run(ctx, n, "etcd", "members")
	if err != nil {
		return err
	}

	lines := strings.Split(strings.TrimSpace(output), "\n")[1:]
	for _, line := range lines {
		if !strings.HasSuffix(strings.TrimSpace(line), "false") {
			return fmt.Errorf("a member is a learner: %s", line)
		}
	}

	if len(lines) != want {
		return fmt.Errorf("etcd has %d members, want %d", len(lines), want)
	}

	return nil
}
