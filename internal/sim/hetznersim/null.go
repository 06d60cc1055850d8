package hetznersim

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// nullable are the fields of requests that may be null, by their routes, as the
// description says, and those that the official client sends as null. Elsewhere
// null is no value: a field is left out instead.
var nullable = map[string][]string{
	"POST /firewalls":                                                         {"rules.description"},
	"POST /firewalls/{id}/actions/set_rules":                                  {"rules.description"},
	"POST /floating_ips":                                                      {"server", "description"},
	"PUT /floating_ips/{id}":                                                  {"description"},
	"POST /floating_ips/{id}/actions/assign":                                  {"server"},
	"POST /floating_ips/{id}/actions/change_dns_ptr":                          {"dns_ptr"},
	"POST /load_balancers":                                                    {"services.health_check.http.domain"},
	"POST /load_balancers/{id}/actions/add_service":                           {"health_check.http.domain"},
	"POST /load_balancers/{id}/actions/update_service":                        {"health_check.http.domain"},
	"POST /load_balancers/{id}/actions/change_dns_ptr":                        {"dns_ptr"},
	"POST /primary_ips":                                                       {"assignee_id"},
	"POST /primary_ips/{id}/actions/change_dns_ptr":                           {"dns_ptr"},
	"POST /servers":                                                           {"public_net.ipv4", "public_net.ipv6"},
	"POST /servers/{id}/actions/create_image":                                 {"type", "description"}, // by the client
	"POST /servers/{id}/actions/change_dns_ptr":                               {"dns_ptr"},
	"POST /zones":                                                             {"rrsets.ttl"},
	"POST /zones/{id_or_name}/rrsets":                                         {"ttl"},
	"POST /zones/{id_or_name}/rrsets/{rr_name}/{rr_type}/actions/add_records": {"ttl"},
	"POST /zones/{id_or_name}/rrsets/{rr_name}/{rr_type}/actions/change_ttl":  {"ttl"},
}

// refuseNull refuses the nulls of a body in fields that are known to a request of
// a type, but for those that may be null.
func (c *call) refuseNull(t reflect.Type) error {
	var body any
	if err := json.Unmarshal(c.body, &body); err != nil {
		return nil // whoever decodes it says so
	}
	var v invalid
	nulls{&v, nullable[c.route]}.find(t, body, "", "")
	return v.err()
}

// nulls notes fields that are null and may not be.
type nulls struct {
	*invalid
	allowed []string
}

// find looks at a value at a place of the body, such as rules.0.port, whose field
// is called rules.port wherever in a list it is.
func (n nulls) find(t reflect.Type, value any, at, field string) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch value := value.(type) {
	case nil:
		if !slices.Contains(n.allowed, field) {
			n.add(at, "Field may not be null.")
		}
	case []any:
		if t.Kind() == reflect.Slice {
			for i, element := range value {
				n.find(t.Elem(), element, below(at, strconv.Itoa(i)), field)
			}
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			if inner := jsonField(t, key); inner != nil {
				n.find(inner, value[key], below(at, key), below(field, key))
			}
		}
	}
}

// jsonField is the type of what a JSON object of a type has by a name; nil for
// nothing that is known.
func jsonField(t reflect.Type, name string) reflect.Type {
	if t.Kind() == reflect.Map {
		return t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	for _, f := range reflect.VisibleFields(t) {
		if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag == name && tag != "" {
			return f.Type
		}
	}
	return nil
}

func below(at, key string) string { return strings.TrimPrefix(at+"."+key, ".") }
