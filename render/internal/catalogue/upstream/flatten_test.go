package upstream

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/manifest"
)

// flatten writes an object as leaves by their paths. What is in a list is known
// by its name, or by what it is; rules of roles are taken apart into what each
// allows.
func flatten(o manifest.Object) map[string]string {
	leaves := map[string]string{}
	for key, value := range o {
		switch key {
		case "apiVersion", "kind":
		case "rules":
			for _, permission := range permissions(value) {
				leaves["rules: "+permission] = "allowed"
			}
		default:
			flattenValue(key, value, leaves)
		}
	}
	return leaves
}

func flattenValue(path string, value any, leaves map[string]string) {
	switch v := value.(type) {
	case map[string]any:
		if len(v) == 0 {
			leaves[path] = "{}"
		}
		for key, item := range v {
			if key == "args" {
				key = "command" // what is run is the same
			}
			flattenValue(path+"."+key, item, leaves)
		}
	case []any:
		for _, item := range v {
			if m, ok := item.(map[string]any); ok && m["name"] != nil {
				rest := map[string]any{}
				for key, field := range m {
					if key != "name" || len(m) == 1 {
						rest[key] = field
					}
				}
				flattenValue(fmt.Sprintf("%s[%v]", path, m["name"]), rest, leaves)
			} else {
				leaves[path+"["+text(item)+"]"] = "there"
			}
		}
	default:
		leaves[path] = text(v)
	}
}

func text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// permissions takes the rules of a role apart: group/resource verb, with the
// names of objects, if only some are meant.
func permissions(rules any) (all []string) {
	for _, rule := range manifest.Maps(rules) {
		names := ""
		if list := manifest.Texts(rule["resourceNames"]); len(list) > 0 {
			names = " " + strings.Join(list, ",")
		}
		for _, group := range manifest.Texts(rule["apiGroups"]) {
			for _, resource := range manifest.Texts(rule["resources"]) {
				for _, verb := range manifest.Texts(rule["verbs"]) {
					all = append(all, group+"/"+resource+" "+verb+names)
				}
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
