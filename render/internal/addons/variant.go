package addons

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"maps"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/render/internal/catalogue"
	"github.com/talosgen/talosgen/render/internal/leak"
	"github.com/talosgen/talosgen/render/internal/model"
	"github.com/talosgen/talosgen/render/internal/placeholder"
	"github.com/talosgen/talosgen/render/internal/secretsfile"
	"github.com/talosgen/talosgen/render/internal/subst"
)

// variant is what addons are made of that is secret: what it is, or something
// else of the same shape.
type variant struct {
	real       bool
	scope      *subst.Scope
	secrets    map[string]secret.String // variables
	autoscaled map[string]secret.String // machine configurations, by pool
	files      memFS                    // those of the repository, decrypted; nil until they are needed
}

// secrets makes the variants of the secrets that addons are made of.
type secrets struct {
	in    Input
	model *model.Model
}

// real is what it is. Without keys, the secrets that addons need look
// like some.
func (s *secrets) real() *variant {
	v := &variant{real: true, scope: s.model.Scope, secrets: map[string]secret.String{}, autoscaled: map[string]secret.String{}}
	for name, value := range s.in.Variables {
		v.secrets[name] = secret.New(value.Value)
	}
	for _, need := range catalogue.Needs(s.facts(v)) {
		if value, there := s.model.Scope.Lookup(need.Name); need.Readable && there {
			v.secrets[need.Name] = secret.New(value.Value)
		}
	}
	if s.in.Texts.Keyless() {
		_, hasFile := s.in.Texts.Files[s.model.Path(secretsfile.Name)]
		for _, need := range catalogue.Needs(s.facts(v)) {
			if _, there := v.secrets[need.Name]; there || !hasFile {
				v.secrets[need.Name] = secret.New(need.Shape)
			}
		}
	}
	return v
}

// other is something else: of secrets that can be made, other ones.
func (s *secrets) other() *variant {
	v := s.real()
	v.real = false
	others := s.others()
	vars := maps.Clone(s.model.Scope.Vars)
	for name, value := range vars {
		if value.Secret {
			value.Value = others.Of(value.Value)
			vars[name] = value
		}
	}
	v.scope = &subst.Scope{Parent: s.model.Scope.Parent, Vars: vars}
	for name, value := range v.secrets {
		v.secrets[name] = secret.New(others.Of(value.Reveal()))
	}
	for _, need := range catalogue.Needs(s.facts(v)) {
		if need.Generate == nil || need.Copied {
			continue
		}
		if made, err := need.Generate(others.Random(need.Name)); err == nil {
			v.secrets[need.Name] = made
		}
	}
	return v
}

// others are keyed with what nobody knows who does not know the secrets: whoever
// writes a template must not foresee them. They stay the same from render to
// render, so that what one finds the next one finds too.
func (s *secrets) others() leak.Others { return leak.NewOthers(s.derivedKey("others")) }

// derivedKey is a key for a purpose, which stays the same when the operators
// change.
func (s *secrets) derivedKey(purpose string) []byte {
	key := "without keys"
	if s.in.Secrets != nil {
		key = s.in.Secrets.KeyringBinding.Reveal()
	}
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte("talosgen v1 key\x00" + purpose))
	return mac.Sum(nil)
}

// facts are what the catalogue decides from.
func (s *secrets) facts(v *variant) catalogue.Facts {
	f := catalogue.Facts{
		Environment: s.model.Env, Cluster: s.model.Config.Cluster, Infrastructure: *s.model.Infra, Secrets: v.secrets, Autoscaled: v.autoscaled,
		Near: s.model.Config.Near, ClusterRecipient: placeholder.AgeRecipient, Shaped: !v.real || s.in.Texts.Keyless(),
	}
	if s.in.Secrets != nil {
		f.Authorities = s.in.Secrets.Mark()
		if public, err := sopsage.PublicKeys(s.model.Path(secretsfile.Name), []byte(s.in.Secrets.ClusterAgeKey.Reveal())); err == nil && len(public) > 0 {
			f.ClusterRecipient = public[0]
		}
	}
	return f
}

// addAutoscaled adds the complete machine configurations of the servers that
// the autoscaler makes.
func (s *secrets) addAutoscaled(v, other *variant) error {
	var problems diag.List
	for _, n := range s.model.Autoscaled {
		cfg, err := s.in.Compose(n)
		if err != nil {
			if s.in.Texts.Keyless() {
				continue // reported, or not certain
			}
			problems.AddErr(err)
			continue
		}
		for _, v := range []*variant{v, other} {
			text, err := configText(cfg, v.real, s.others())
			problems.AddErr(err)
			v.autoscaled[n.Pool] = secret.New(text)
		}
	}
	return problems.Err()
}

// keyedChecksum makes of the checksum of something secret one that tells only
// whether it changed. Its key stays the same when the operators change, so that
// nothing starts again because of that.
func (s *secrets) keyedChecksum(addon string) func(string) string {
	return func(checksum string) string {
		mac := hmac.New(sha256.New, []byte("without keys"))
		if s.in.Secrets != nil {
			mac = hmac.New(sha256.New, []byte(s.in.Secrets.ChecksumKey.Or(s.in.Secrets.KeyringBinding).Reveal()))
		}
		for _, text := range []string{"talosgen v1 checksum", s.model.Env, addon, checksum} {
			mac.Write([]byte(text + "\x00"))
		}
		return hex.EncodeToString(mac.Sum(nil))
	}
}
