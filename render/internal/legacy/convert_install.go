package legacy

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// installAdvice is for the fields of v1alpha1.InstallConfig that
// UnattendedInstallConfig does not have.
var installAdvice = map[string]string{
	"extraKernelArgs":   "kernel arguments are part of the image: put them into the Image Factory schematic",
	"extensions":        "extensions are part of the image: put them into the Image Factory schematic",
	"bootloader":        "Talos 1.14 always installs a boot loader: remove the line",
	"legacyBIOSSupport": "UnattendedInstallConfig has no such choice: remove the line, or keep configContract at 1.13",
	"grubUseUKICmdline": "UnattendedInstallConfig has no such choice: remove the line, or keep configContract at 1.13",
}

// convertInstall converts the installation. The disk becomes a CEL expression;
// a patch that does not mention it relies on talosgen's merge, which puts back
// the generated expression that Talos' own would lose.
func convertInstall(c *conversion, f field) bool {
	if !isMapping(f.value) {
		return c.refuseShape(f, "a mapping")
	}
	start := len(c.moved)
	hasDisk := get(f.value, "disk") != nil || get(f.value, "diskSelector") != nil
	exists := c.kinds[f.home.Kind]
	if !hasDisk && !exists {
		return c.refuse(f, "UnattendedInstallConfig must say which disk: give disk or diskSelector in the same patch")
	}
	c.installDisk(f)
	if part, ok := f.sub("image"); ok && !c.put(part, part.value, f.home.Kind, "", "installer", "image") {
		f.back(part)
	}
	if part, ok := f.sub("wipe"); ok {
		if !c.put(part, part.value, f.home.Kind, "", "provisioning", "wipe") {
			f.back(part)
		}
	} else if !exists && len(c.moved) > start {
		// the legacy default, which is the opposite of the new one
		c.put(bare(f), boolean(false), f.home.Kind, "", "provisioning", "wipe")
	}
	return c.rest(f, installAdvice)
}

// installDisk converts the choice of the disk; a selector wins over a path.
func (c *conversion) installDisk(f field) {
	disk, hasDisk := f.sub("disk")
	if selector, ok := f.sub("diskSelector"); ok {
		expression, advice := DiskExpression(selector.value)
		done := advice == "" && c.put(selector, expression, f.home.Kind, "", "provisioning", "diskSelector", "match")
		if advice != "" {
			c.refuse(selector, advice)
		}
		if !done {
			f.back(selector)
			if hasDisk {
				f.back(disk)
			}
		}
		return
	}
	if !hasDisk {
		return
	}
	if disk.value.Kind != yaml.ScalarNode || isNull(disk.value) || isDelete(disk.value) {
		f.back(disk)
		c.refuseShape(disk, "a path")
		return
	}
	match := at(scalar(DiskPath(disk.value.Value)), disk.value)
	if !c.put(disk, match, f.home.Kind, "", "provisioning", "diskSelector", "match") {
		f.back(disk)
	}
}

// globs are the selector fields that match by pattern, in the order in which
// v1alpha1.InstallConfig.DiskMatchExpression writes them.
var globs = []struct{ field, disk string }{
	{"uuid", "uuid"}, {"wwid", "wwid"}, {"model", "model"}, {"serial", "serial"}, {"modalias", "modalias"},
}

// diskTypes are the values of the selector's type.
var diskTypes = map[string]string{
	"nvme": `disk.transport == "nvme"`,
	"sd":   `disk.transport == "mmc"`,
	"hdd":  "disk.rotational",
	"ssd":  "!disk.rotational",
}

// DiskExpression writes a selector, as machine.install.diskSelector has it, as the CEL
// expression that Talos makes of it. It returns advice for a selector that has none.
func DiskExpression(selector *yaml.Node) (match *yaml.Node, advice string) {
	if !only(selector, "size", "name", "model", "serial", "modalias", "uuid", "wwid", "type", "busPath") {
		return nil, "talosgen does not know all of its fields"
	}
	if text(selector, "name") != "" {
		return nil, "Talos does not support disk names: write the expression by hand"
	}
	var terms []string
	if size := text(selector, "size"); size != "" {
		term, ok := sizeTerm(size)
		if !ok {
			return nil, "the size cannot be read: write the expression by hand"
		}
		terms = append(terms, term)
	}
	glob := func(field, disk string) {
		if pattern := text(selector, field); pattern != "" {
			terms = append(terms, "glob("+strconv.Quote(pattern)+", disk."+disk+")")
		}
	}
	for _, g := range globs {
		glob(g.field, g.disk)
	}
	terms = append(terms, `disk.transport != ""`)
	if kind := text(selector, "type"); kind != "" {
		term, ok := diskTypes[kind]
		if !ok {
			return nil, "the type is none of nvme, sd, hdd, ssd: write the expression by hand"
		}
		terms = append(terms, term)
	}
	glob("busPath", "bus_path")
	terms = append(terms, "!disk.readonly", "!disk.cdrom")
	return at(scalar(strings.Join(terms, " && ")), selector), ""
}

// sizeTerm converts a condition such as ">= 100GB" into bytes.
func sizeTerm(condition string) (string, bool) {
	condition = strings.TrimSpace(condition)
	operator := "=="
	for _, o := range []string{">=", "<=", "==", ">", "<"} {
		if rest, found := strings.CutPrefix(condition, o); found {
			operator, condition = o, strings.TrimSpace(rest)
			break
		}
	}
	end := strings.IndexFunc(condition, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	if end < 0 {
		end = len(condition)
	}
	number, err := strconv.ParseFloat(condition[:end], 64)
	factor, ok := sizeUnits[strings.ToLower(strings.TrimSpace(condition[end:]))]
	size := number * factor
	if err != nil || !ok || size >= 1<<63 {
		return "", false
	}
	return "disk.size " + operator + " " + strconv.FormatUint(uint64(size), 10) + "u", true
}

// sizeUnits are the units that Talos takes, in lower case.
var sizeUnits = map[string]float64{
	"": 1, "b": 1,
	"k": 1e3, "kb": 1e3, "ki": 1 << 10, "kib": 1 << 10,
	"m": 1e6, "mb": 1e6, "mi": 1 << 20, "mib": 1 << 20,
	"g": 1e9, "gb": 1e9, "gi": 1 << 30, "gib": 1 << 30,
	"t": 1e12, "tb": 1e12, "ti": 1 << 40, "tib": 1 << 40,
	"p": 1e15, "pb": 1e15, "pi": 1 << 50, "pib": 1 << 50,
}
