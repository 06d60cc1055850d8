package chartfetch

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/secret"
)

func (l Login) basic() string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(l.User+":"+l.Password.Reveal()))
}

// ParseDockerConfig reads the credentials of the file that `docker login`,
// `helm registry login` and others write. helpers are the hosts whose
// credentials are kept by another program, which is not run.
func ParseDockerConfig(text []byte) (found Credentials, helpers []string, err error) {
	var config struct {
		Auths map[string]struct {
			Auth, Username, Password string
		} `json:"auths"`
		CredHelpers map[string]string `json:"credHelpers"`
		CredsStore  string            `json:"credsStore"`
	}
	if err := json.Unmarshal(text, &config); err != nil {
		return nil, nil, errors.New("not valid JSON") // the error could quote a password
	}
	found = Credentials{}
	for name, a := range config.Auths {
		host := hostOf(name)
		if a.Auth != "" {
			decoded, err := base64.StdEncoding.DecodeString(a.Auth)
			user, password, ok := strings.Cut(string(decoded), ":")
			if err != nil || !ok {
				return nil, nil, fmt.Errorf("the credentials for %s are not in the usual form", host)
			}
			a.Username, a.Password = user, strings.TrimRight(password, "\x00")
		}
		if a.Username == "" && a.Password == "" {
			if config.CredsStore != "" {
				helpers = append(helpers, host)
			}
			continue
		}
		found[host] = Login{a.Username, secret.New(a.Password)}
	}
	for host := range config.CredHelpers {
		helpers = append(helpers, hostOf(host))
	}
	slices.Sort(helpers)
	return found, slices.Compact(helpers), nil
}

// hostOf is the host of a key in a Docker configuration, which may be a URL.
// Docker Hub has a name of its own there.
func hostOf(key string) string {
	if at, err := url.Parse(key); err == nil && at.Host != "" {
		key = at.Host
	}
	host, _, _ := strings.Cut(key, "/")
	if host == "index.docker.io" || host == "docker.io" {
		return dockerHub
	}
	return host
}

// ParseNetrc reads the credentials of a .netrc file.
func ParseNetrc(text []byte) Credentials {
	found := Credentials{}
	host, login, complete := "", Login{}, false
	words := strings.Fields(string(text))
	for i := 0; i < len(words); i++ {
		value := ""
		if i+1 < len(words) {
			value = words[i+1]
		}
		switch words[i] {
		case "machine":
			host, login, complete = value, Login{}, false
			i++
		case "default":
			host = ""
		case "login":
			login.User = value
			i++
		case "password":
			login.Password, complete = secret.New(value), true
			i++
		}
		if host != "" && complete && login.User != "" {
			found[host] = login
		}
	}
	return found
}

// Merge adds credentials for hosts that have none yet.
func (c Credentials) Merge(others Credentials) {
	for _, host := range slices.Sorted(maps.Keys(others)) {
		if _, found := c[host]; !found {
			c[host] = others[host]
		}
	}
}
