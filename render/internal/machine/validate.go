package machine

import (
	"errors"
	"strings"

	"github.com/hashicorp/go-multierror"
	"github.com/siderolabs/talos/pkg/machinery/config/config"
	"github.com/siderolabs/talos/pkg/machinery/config/container"
	"github.com/siderolabs/talos/pkg/machinery/config/validation"
)

// Mode is the platform that a configuration is validated for.
type Mode string

// Modes, as `talosctl validate --mode` calls them.
const (
	Cloud Mode = "cloud" // Hetzner: the image is there already
	Metal Mode = "metal" // nodes that Talos installs itself on
)

// String returns the mode's name.
func (m Mode) String() string { return string(m) }

// RequiresInstall reports whether the configuration must say where to install.
func (m Mode) RequiresInstall() bool { return m == Metal }

// InContainer reports whether the node is a container.
func (m Mode) InContainer() bool { return false }

var _ validation.RuntimeMode = Cloud

// Validate runs Talos' own validation and returns what it finds, in Talos'
// words. Strict makes problems of the warnings that `talosctl validate --strict`
// takes for errors.
func (c *Config) Validate(mode Mode, strict bool) (warnings, problems []string, err error) {
	var docs []config.Document
	for _, d := range c.docs {
		if d.typed != nil {
			docs = append(docs, d.typed)
		}
	}
	all, err := container.New(docs...)
	if err != nil {
		return nil, []string{err.Error()}, nil // it is what validation found
	}
	options := []validation.Option{validation.WithLocal()}
	if strict {
		options = append(options, validation.WithStrict())
	}
	warnings, err = all.ValidateAsClient(mode, options...)
	return warnings, messages(err), nil
}

// messages takes the errors apart that the library puts into one, each with
// the text around it.
func messages(err error) []string {
	if err == nil {
		return nil
	}
	var several *multierror.Error
	if !errors.As(err, &several) {
		return []string{strings.TrimSpace(err.Error())}
	}
	around, ok := strings.CutSuffix(err.Error(), several.Error())
	if !ok {
		return []string{strings.TrimSpace(err.Error())}
	}
	var texts []string
	for _, e := range several.Errors {
		for _, text := range messages(e) {
			texts = append(texts, around+text)
		}
	}
	return texts
}
