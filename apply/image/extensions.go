package image

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/schemas"
)

const (
	// factoryTime is how long the Image Factory may take to answer.
	factoryTime = 15 * time.Second
	// longestList is how many bytes its list of extensions may have; that of
	// Talos 1.14 has some 30 thousand.
	longestList = 4 << 20
)

// Extensions are the official extensions of an image, and where the Image
// Factory lists those that it has.
type Extensions struct {
	URL   string
	Talos string // the version, as in "v1.14.1"
	Names []string
}

// factoryImage matches the URL of an image at an Image Factory.
var factoryImage = regexp.MustCompile(`^(https?://.+)/image/([0-9a-f]+)/(v[^/]+)/[^/]+$`)

// Extensions returns the official extensions of the images that come from an
// Image Factory, each list once: images of several architectures have the same.
func (m Mirrors) Extensions(wanted []schemas.InfraSnapshot) (all []Extensions) {
	for _, want := range wanted {
		source := m.Source(want)
		at := factoryImage.FindStringSubmatch(source.URL)
		names, err := official(source.Schematic)
		if at == nil || err != nil {
			continue // it was made elsewhere, of what nobody here knows
		}
		e := Extensions{URL: at[1] + "/version/" + at[3] + "/extensions/official", Talos: at[3], Names: names}
		known := slices.ContainsFunc(all, func(other Extensions) bool { return other.URL == e.URL && slices.Equal(other.Names, e.Names) })
		if len(e.Names) > 0 && !known {
			all = append(all, e)
		}
	}
	return all
}

// official are the names of the official extensions in a schematic, with their vendors.
func official(schematic string) ([]string, error) {
	var s struct {
		Customization struct {
			SystemExtensions struct {
				OfficialExtensions []string `yaml:"officialExtensions"`
			} `yaml:"systemExtensions"`
		} `yaml:"customization"`
	}
	err := yaml.Unmarshal([]byte(schematic), &s)
	return s.Customization.SystemExtensions.OfficialExtensions, err
}

// Known are the names of the extensions in images, without their vendors, by the id of
// the schematic. Of one that only the Image Factory knows nothing is told.
func Known(images []schemas.InfraSnapshot) map[string][]string {
	all := map[string][]string{}
	for _, i := range images {
		at := factoryImage.FindStringSubmatch(i.URL)
		names, err := official(i.Schematic)
		if at == nil || i.Schematic == "" || err != nil {
			continue
		}
		all[at[2]] = []string{}
		for _, name := range names {
			all[at[2]] = append(all[at[2]], path.Base(name))
		}
	}
	return all
}

// extensionName matches what can be the name of an extension: what others write
// into the list is shown to people.
var extensionName = regexp.MustCompile(`^[a-z0-9][-a-z0-9._/]*$`)

// Official asks an Image Factory for the names of the official extensions that
// it has, at the URL of its list.
func Official(ctx context.Context, factory http.RoundTripper, url, userAgent string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, factoryTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set("Accept", "application/json")
	resp, err := factory.RoundTrip(req)
	if err != nil {
		return nil, fmt.Errorf("GET %s: %w", url, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("GET %s: %d %s", url, resp.StatusCode, http.StatusText(resp.StatusCode))
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, longestList+1))
	if err == nil && len(body) > longestList {
		err = errors.New("the answer is too long")
	}
	var list []struct {
		Name string `json:"name"`
	}
	if err == nil && json.Unmarshal(body, &list) != nil {
		err = errors.New("the answer is no list of extensions")
	}
	if err != nil {
		return nil, fmt.Errorf("GET %s: %w", url, err)
	}
	var names []string
	for _, e := range list {
		if name := strings.TrimSpace(e.Name); extensionName.MatchString(name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("GET %s: the list is empty", url)
	}
	return names, nil
}
