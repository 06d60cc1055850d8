package sopsage

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"filippo.io/age"
	"filippo.io/age/agessh"
	"filippo.io/age/armor"
	"filippo.io/age/plugin"
	ageservice "github.com/getsops/sops/v3/age"
	"golang.org/x/crypto/ssh"
)

// identitySet is what one look at a group of places gave.
type identitySet struct {
	ids    []age.Identity
	public []string // their public halves, as far as they are known
	looked []string // where was looked and found nothing useful, and why
}

func (s *identitySet) miss(place, reason string) {
	s.looked = append(s.looked, place+": "+reason)
}

func (s *identitySet) add(place string, ids []age.Identity, err error) {
	if err != nil {
		s.miss(place, err.Error())
		return
	}
	if len(ids) == 0 {
		s.miss(place, "holds no identity")
	}
	for _, id := range ids {
		s.ids = append(s.ids, id)
		s.public = append(s.public, publicOf(id, place))
	}
}

// publicOf names an identity without revealing it.
func publicOf(id age.Identity, place string) string {
	switch id := id.(type) {
	case *age.X25519Identity:
		return id.Recipient().String()
	case *age.HybridIdentity:
		return id.Recipient().String()
	case *plugin.Identity:
		return "age-plugin-" + id.Name() + " identity in " + place
	default:
		return "identity in " + place
	}
}

// parser parses identities; env is needed for those that ask for a passphrase.
type parser struct{ env Env }

// file parses a file of age identities, which may itself be encrypted with a
// passphrase. Several identities on a line are accepted if wordwise is set, as
// sops accepts them in SOPS_AGE_KEY.
func (p parser) file(name string, data []byte, wordwise bool) ([]age.Identity, error) {
	if bytes.HasPrefix(data, []byte("age-encryption")) || bytes.HasPrefix(data, []byte("-----BEGIN AGE")) {
		return p.encryptedFile(name, data)
	}
	var ids []age.Identity
	for number, line := range strings.Split(string(data), "\n") {
		line = strings.TrimSuffix(line, "\r")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		words := []string{line}
		if wordwise {
			words = strings.Fields(line)
		}
		for _, word := range words {
			id, err := p.identity(word)
			if err != nil {
				// Never the library's message: it may quote the key.
				return nil, fmt.Errorf("line %d is not an age identity", number+1)
			}
			ids = append(ids, id)
		}
	}
	return ids, nil
}

func (p parser) identity(text string) (age.Identity, error) {
	switch {
	case strings.HasPrefix(text, "AGE-PLUGIN-"):
		return plugin.NewIdentity(text, p.pluginUI())
	case strings.HasPrefix(text, "AGE-SECRET-KEY-PQ-1"):
		return age.ParseHybridIdentity(text)
	default:
		return age.ParseX25519Identity(text)
	}
}

// encryptedFile handles a key file that age encrypted with a passphrase. The
// passphrase is asked for when the identity is first tried.
func (p parser) encryptedFile(name string, data []byte) ([]age.Identity, error) {
	if bytes.HasPrefix(data, []byte("-----BEGIN AGE")) {
		plain, err := io.ReadAll(armor.NewReader(bytes.NewReader(data)))
		if err != nil {
			return nil, errors.New("the encrypted key file is damaged")
		}
		data = plain
	}
	return []age.Identity{&ageservice.EncryptedIdentity{
		Contents:            data,
		Passphrase:          func() (string, error) { return p.ask("passphrase of " + name) },
		NoMatchWarning:      func() {},
		IncorrectPassphrase: func() {},
	}}, nil
}

// ssh parses an SSH private key. If it is protected, its passphrase is asked
// for when a file is encrypted for it; readPublic then gives the public half if
// the private file does not hold it in clear.
func (p parser) ssh(name string, data []byte, readPublic func() ([]byte, error)) (age.Identity, error) {
	id, err := agessh.ParseIdentity(data)
	var protected *ssh.PassphraseMissingError
	switch {
	case err == nil:
		return id, nil
	case !errors.As(err, &protected):
		return nil, errors.New("is not an SSH key that age can use (ed25519 or RSA)")
	}
	public := protected.PublicKey
	if public == nil {
		text, err := readPublic()
		if err != nil {
			return nil, fmt.Errorf("is protected by a passphrase, and %s.pub cannot be read", name)
		}
		if public, _, _, _, err = ssh.ParseAuthorizedKey(text); err != nil {
			return nil, fmt.Errorf("is protected by a passphrase, and %s.pub is not a public key", name)
		}
	}
	return agessh.NewEncryptedSSHIdentity(public, data, func() ([]byte, error) {
		pass, err := p.ask("passphrase of " + name)
		return []byte(pass), err
	})
}

func (p parser) ask(prompt string) (string, error) {
	if p.env.Ask == nil {
		return "", errors.New("there is no terminal to ask for a passphrase")
	}
	return p.env.Ask(prompt)
}

func (p parser) notify(message string) {
	if p.env.Notify != nil {
		p.env.Notify(message)
	}
}

// pluginUI connects age plugins to the person.
func (p parser) pluginUI() *plugin.ClientUI {
	return &plugin.ClientUI{
		DisplayMessage: func(name, message string) error {
			p.notify("age-plugin-" + name + ": " + message)
			return nil
		},
		RequestValue: func(name, prompt string, _ bool) (string, error) {
			return p.ask("age-plugin-" + name + ": " + prompt)
		},
		Confirm: func(name, prompt, yes, no string) (bool, error) {
			answer, err := p.ask("age-plugin-" + name + ": " + prompt + " (" + yes + " or " + no + ")")
			return answer == yes, err
		},
		WaitTimer: func(name string) { p.notify("waiting for age-plugin-" + name) },
	}
}
