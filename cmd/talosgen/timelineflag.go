package main

import (
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/talosgen/talosgen/apply/progress"
	"github.com/talosgen/talosgen/apply/rehearsal"
	"github.com/talosgen/talosgen/apply/rehearsal/timeline"
	"github.com/talosgen/talosgen/apply/summary"
	"github.com/talosgen/talosgen/internal/atomicfile"
	"github.com/talosgen/talosgen/internal/diag"
)

const flagTimeline = "timeline"

// timelineFlag asks for a picture of a run.
func timelineFlag() cli.Flag {
	return &cli.StringFlag{Name: flagTimeline, Usage: "write the run on a line of time to `FILE`, as HTML, also if it fails"}
}

// timelineFile notes how a run goes on, for a picture of it.
type timelineFile struct {
	name     string
	recorder rehearsal.Recorder
}

// newTimelineFile is nil if nobody asks for it. That a folder is missing is told before
// the run, which may take an hour.
func newTimelineFile(c *cli.Context, now clock) (*timelineFile, error) {
	name := c.String(flagTimeline)
	if name == "" {
		return nil, nil
	}
	if folder, err := os.Stat(filepath.Dir(name)); err != nil || !folder.IsDir() {
		return nil, diag.New(diag.Pos{File: name}, "there is no directory %s", filepath.Dir(name)).WithCode(diag.Usage)
	}
	if file, err := os.Stat(name); err == nil && file.IsDir() {
		return nil, diag.New(diag.Pos{File: name}, "it is a directory").WithHint("name a file: --%s run.html", flagTimeline).WithCode(diag.Usage)
	}
	return &timelineFile{name: name, recorder: rehearsal.Recorder{Now: now.now}}, nil
}

// hear notes an event of the run.
func (t *timelineFile) hear(e progress.Event) {
	if t != nil {
		t.recorder.Event(e)
	}
}

// write writes the picture of a run that has ended.
func (t *timelineFile) write(s summary.Summary, command string) error {
	if t == nil {
		return nil
	}
	result := rehearsal.Clear
	switch s.Outcome {
	case summary.Refused:
		result = rehearsal.Refused
	case summary.Failed, summary.Interrupted:
		result = rehearsal.Failed
	}
	steps := t.recorder.Report(rehearsal.Seen{})
	page := timeline.WriteRun(timeline.Run{
		Title:  command + " of " + s.Environment + " (cluster " + s.Cluster + "), begun " + t.recorder.Began().UTC().Format("2006-01-02 15:04 UTC"),
		Result: result, Steps: steps, Report: s.String(),
	})
	if _, err := atomicfile.Write(t.name, page, 0o644); err != nil {
		return diag.New(diag.Pos{File: t.name}, "the picture of the run cannot be written: %v", err).WithCode(diag.Usage).WithCause(err)
	}
	return nil
}
