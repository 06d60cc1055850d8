package sopsage

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"sync"

	"filippo.io/age"
	"github.com/google/shlex"
)

// Keys holds the identities of a run. They are looked for when the first
// encrypted file needs them, and once; nothing is read and no command runs
// before. It is safe for concurrent use.
type Keys struct {
	masked
	env   Env
	extra []KeyFile

	mu       sync.Mutex
	static   *identitySet            // from variables and files
	ssh      *identitySet            // from SSH keys
	commands map[string]*identitySet // from commands, by recipient
	parts    map[string][]byte       // what a wrapped text unwraps to
	dataKeys map[string]*DataKey     // by the text of their block
}

// NewKeys prepares to look for identities where sops does, and in the extra
// files.
func NewKeys(env Env, extra ...KeyFile) *Keys {
	return &Keys{
		env: env, extra: extra,
		commands: map[string]*identitySet{},
		parts:    map[string][]byte{},
		dataKeys: map[string]*DataKey{},
	}
}

// cachedKey returns a data key that was unwrapped before, or unwraps it.
func (k *Keys) cachedKey(block string, unwrap func() (*DataKey, error)) (*DataKey, error) {
	k.mu.Lock()
	key := k.dataKeys[block]
	k.mu.Unlock()
	if key != nil {
		return key, nil
	}
	key, err := unwrap()
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.dataKeys[block] = key
	return key, nil
}

// loadStatic looks at the variables and files that hold age identities.
func (k *Keys) loadStatic() *identitySet {
	if k.static != nil {
		return k.static
	}
	set, p := &identitySet{}, parser{k.env}
	k.static = set
	if text := k.env.get(envKey); text != "" {
		ids, err := p.file(envKey, []byte(text), true)
		set.add(envKey, ids, err)
	} else {
		set.miss(envKey, "not set")
	}
	if name := k.env.get(envKeyFile); name != "" {
		k.loadFile(set, envKeyFile+" ("+name+")", name)
	} else {
		set.miss(envKeyFile, "not set")
	}
	if name := k.env.ConfigKeyFile(); name != "" {
		k.loadFile(set, name, name)
	}
	for _, file := range k.extra {
		if file.Data == nil {
			k.loadFile(set, file.Name, file.Name)
			continue
		}
		ids, err := p.file(file.Name, file.Data, false)
		set.add(file.Name, ids, err)
	}
	return set
}

func (k *Keys) loadFile(set *identitySet, place, name string) {
	data, err := k.readFile(name)
	if err != nil {
		set.miss(place, reason(err))
		return
	}
	ids, err := parser{k.env}.file(name, data, false)
	set.add(place, ids, err)
}

// loadSSH looks at the SSH keys. Only a file that is encrypted for an SSH key
// needs them, and RSA keys are slow to parse.
func (k *Keys) loadSSH() *identitySet {
	if k.ssh != nil {
		return k.ssh
	}
	set := &identitySet{}
	k.ssh = set
	if name := k.env.get(envSSHKeyFile); name != "" {
		k.loadSSHFile(set, envSSHKeyFile+" ("+name+")", name)
	} else {
		set.miss(envSSHKeyFile, "not set")
	}
	if home := k.env.home(); home != "" {
		for _, base := range []string{"id_ed25519", "id_rsa"} {
			name := path.Join(home, ".ssh", base)
			k.loadSSHFile(set, name, name)
		}
	}
	return set
}

func (k *Keys) loadSSHFile(set *identitySet, place, name string) {
	data, err := k.readFile(name)
	if err != nil {
		set.miss(place, reason(err))
		return
	}
	id, err := parser{k.env}.ssh(name, data, func() ([]byte, error) { return k.readFile(name + ".pub") })
	if err != nil {
		set.miss(place, err.Error())
		return
	}
	set.add(place, []age.Identity{id}, nil)
}

// runCommand runs the commands that print identities, for one recipient, of
// which they are told as sops tells them.
func (k *Keys) runCommand(ctx context.Context, recipient string, ssh bool) *identitySet {
	if set := k.commands[recipient]; set != nil {
		return set
	}
	set, p := &identitySet{}, parser{k.env}
	k.commands[recipient] = set
	if out, ok := k.command(ctx, set, envKeyCmd, recipient); ok {
		ids, err := p.file(envKeyCmd, out, false)
		set.add(envKeyCmd, ids, err)
	}
	if !ssh {
		return set
	}
	if out, ok := k.command(ctx, set, envSSHKeyCmd, recipient); ok {
		id, err := p.ssh(envSSHKeyCmd, out, func() ([]byte, error) { return nil, fs.ErrNotExist })
		if err != nil {
			set.miss(envSSHKeyCmd, err.Error())
			return set
		}
		set.add(envSSHKeyCmd, []age.Identity{id}, nil)
	}
	return set
}

// command runs the command that a variable names. Neither its output nor its
// text is ever shown: both may hold a secret.
func (k *Keys) command(ctx context.Context, set *identitySet, variable, recipient string) ([]byte, bool) {
	text := k.env.get(variable)
	if text == "" {
		set.miss(variable, "not set")
		return nil, false
	}
	args, err := shlex.Split(text)
	if err != nil || len(args) == 0 {
		set.miss(variable, "is not a command line")
		return nil, false
	}
	if k.env.Run == nil {
		set.miss(variable, "commands cannot be run here")
		return nil, false
	}
	out, err := k.env.Run(ctx, args, []string{envRecipient + "=" + recipient})
	if err != nil {
		set.miss(variable, "the command failed")
		return nil, false
	}
	return out, true
}

func (k *Keys) readFile(name string) ([]byte, error) {
	if k.env.ReadFile == nil {
		return nil, fs.ErrNotExist
	}
	return k.env.ReadFile(name)
}

// reason says why a file could not be read, without repeating its name.
func reason(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "does not exist"
	case errors.Is(err, fs.ErrPermission):
		return "permission denied"
	default:
		return "cannot be read"
	}
}
