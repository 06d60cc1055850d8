package sopsage

import (
	"context"
	"path"
	"strings"
)

// Env is what finding identities needs of the world around the process.
type Env struct {
	// Lookup reads an environment variable.
	Lookup func(name string) (value string, ok bool)
	// GOOS is the operating system, which decides where the configuration
	// directory is.
	GOOS string
	// ReadFile reads a file of the user.
	ReadFile func(name string) ([]byte, error)
	// Run runs a command and returns its standard output. The variables in env
	// ("NAME=value") are added to the process environment. Nil means that
	// commands cannot be run.
	Run func(ctx context.Context, args, env []string) ([]byte, error)
	// Ask asks the person for a passphrase or a PIN. Nil means that there is
	// nobody to ask.
	Ask func(prompt string) (string, error)
	// Recipients returns whom .sops.yaml names for a file. Key services (KMS, Vault
	// and others) are asked to decrypt it if they are among them only. Nil: none are
	// asked.
	Recipients func(file string) (Recipients, error)
	// Notify shows a message of an age plugin, such as a request to touch a
	// hardware token. Nil drops it.
	Notify func(message string)
}

// KeyFile is a file with age identities that is used besides those that SOPS
// would find: the key of a shipped example.
type KeyFile struct {
	Name string // its path, for messages, and to read it if Data is nil
	Data []byte // its contents
}

// Names of the environment variables in which sops looks for identities.
const (
	envKey        = "SOPS_AGE_KEY"
	envKeyFile    = "SOPS_AGE_KEY_FILE"
	envKeyCmd     = "SOPS_AGE_KEY_CMD"
	envSSHKeyFile = "SOPS_AGE_SSH_PRIVATE_KEY_FILE"
	envSSHKeyCmd  = "SOPS_AGE_SSH_PRIVATE_KEY_CMD"
	envRecipient  = "SOPS_AGE_RECIPIENT" // set for the commands
)

// ConfigKeyFile returns the path of the file in which sops, and so talosgen,
// looks for age identities by default; empty if no home directory is known.
func (e Env) ConfigKeyFile() string {
	dir := e.configDir()
	if dir == "" {
		return ""
	}
	return path.Join(dir, "sops/age/keys.txt")
}

// configDir is os.UserConfigDir, with XDG_CONFIG_HOME honoured on macOS too, as
// sops does it.
func (e Env) configDir() string {
	if xdg := e.get("XDG_CONFIG_HOME"); xdg != "" && e.GOOS != "windows" {
		if !strings.HasPrefix(xdg, "/") && e.GOOS != "darwin" {
			return "" // the standard library refuses a relative one
		}
		return xdg
	}
	home := e.home()
	switch {
	case e.GOOS == "windows":
		return e.get("AppData")
	case home == "":
		return ""
	case e.GOOS == "darwin":
		return path.Join(home, "Library/Application Support")
	default:
		return path.Join(home, ".config")
	}
}

func (e Env) home() string {
	if e.GOOS == "windows" {
		return e.get("USERPROFILE")
	}
	return e.get("HOME")
}

func (e Env) get(name string) string {
	if e.Lookup == nil {
		return ""
	}
	value, _ := e.Lookup(name)
	return value
}
