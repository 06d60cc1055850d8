package legacy

import (
	"strings"
	"testing"

	"github.com/siderolabs/talos/pkg/machinery/config/types/v1alpha1"
	"go.yaml.in/yaml/v4"
)

// TestDiskSelector compares the CEL expression with the one that Talos makes of
// the same selector.
func TestDiskSelector(t *testing.T) {
	for _, selector := range []string{
		"{size: 1MiB}", "{size: '4GB', type: nvme}", "{size: '>= 1.5 TB'}", "{size: '<= 100G', type: hdd}", "{size: '< 12345'}", "{size: '> 1Ti'}",
		"{model: 'WDC*', serial: S1, wwid: 'naa.*'}", "{uuid: 0000-0001-*, modalias: 'pci:1234*', busPath: '/pci*'}",
		"{type: ssd}", "{type: sd}", `{model: 'a"b\c'}`, "{}",
	} {
		t.Run(selector, func(t *testing.T) {
			var install v1alpha1.InstallConfig
			if err := yaml.Unmarshal([]byte("diskSelector: "+selector), &install); err != nil {
				t.Fatal(err)
			}
			want, err := install.DiskMatchExpression()
			if err != nil {
				t.Fatal(err)
			}
			got, advice := DiskExpression(content(parse(t, selector)[0]))
			// Talos' own printer breaks long lines
			if spelled := strings.Join(strings.Fields(want.String()), " "); advice != "" || got.Value != spelled {
				t.Errorf("got %v (%s)\nwant %s", got, advice, spelled)
			}
		})
	}
}

func TestDiskSelectorRefused(t *testing.T) {
	for _, selector := range []string{
		"{size: '${SIZE}'}", "{size: 10 parsecs}", "{size: '-1'}", "{size: 99999PB}", "{name: sda}", "{type: floppy}", "{colour: red}",
	} {
		if got, advice := DiskExpression(content(parse(t, selector)[0])); got != nil || advice == "" {
			t.Errorf("%s gives %v (%s)", selector, got, advice)
		}
	}
}
