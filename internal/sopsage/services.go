package sopsage

import (
	"slices"

	"github.com/getsops/sops/v3"
	ageservice "github.com/getsops/sops/v3/age"
	"github.com/getsops/sops/v3/pgp"
)

// askable gives the metadata of a file without the key services that .sops.yaml
// does not name for it. The metadata say where a service is, and nothing protects
// them: whoever can change the file could have a token sent to any address. age and
// PGP keys stay, for they are used on this machine alone.
func (a *attempt) askable(file string, md sops.Metadata) sops.Metadata {
	var named []string
	looked := false
	groups := make([]sops.KeyGroup, len(md.KeyGroups))
	for i, group := range md.KeyGroups {
		for _, key := range group {
			switch key.TypeToIdentifier() {
			case ageservice.KeyTypeIdentifier, pgp.KeyTypeIdentifier:
				groups[i] = append(groups[i], key)
				continue
			}
			if !looked {
				named, looked = a.namedFor(file), true
			}
			service := Recipients{groups: []sops.KeyGroup{{key}}}.Strings()[0]
			if slices.Contains(named, service) {
				groups[i] = append(groups[i], key)
				continue
			}
			a.failures = append(a.failures, "not asked, because .sops.yaml does not name it for this file: "+service)
		}
	}
	md.KeyGroups = groups
	return md
}

// namedFor are the recipients that .sops.yaml names for a file.
func (a *attempt) namedFor(file string) []string {
	if a.keys.env.Recipients == nil {
		return nil
	}
	recipients, err := a.keys.env.Recipients(file)
	if err != nil {
		a.failures = append(a.failures, firstLine(err.Error()))
		return nil
	}
	return recipients.Strings()
}
