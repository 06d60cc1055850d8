package hetznersim_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
)

func walkZones(p *project) {
	ctx, c := p.Context(), &p.client.Zone
	made := must(c.Create(ctx, hcloud.ZoneCreateOpts{Name: "example.com", Mode: hcloud.ZoneModePrimary}))
	p.wait(made.Action)
	z := must(c.GetByName(ctx, "example.com"))
	set := must(c.CreateRRSet(ctx, z, hcloud.ZoneRRSetCreateOpts{Name: "api", Type: hcloud.ZoneRRSetTypeA, Records: []hcloud.ZoneRRSetRecord{{Value: "192.0.2.1"}}}))
	p.wait(set.Action)
	r := set.RRSet
	p.wait(must(c.AddRRSetRecords(ctx, r, hcloud.ZoneRRSetAddRecordsOpts{Records: []hcloud.ZoneRRSetRecord{{Value: "192.0.2.2"}}})))
	p.wait(must(c.UpdateRRSetRecords(ctx, r, hcloud.ZoneRRSetUpdateRecordsOpts{Records: []hcloud.ZoneRRSetRecord{{Value: "192.0.2.2", Comment: "two"}}})))
	p.wait(must(c.RemoveRRSetRecords(ctx, r, hcloud.ZoneRRSetRemoveRecordsOpts{Records: []hcloud.ZoneRRSetRecord{{Value: "192.0.2.1"}}})))
	p.wait(must(c.ChangeRRSetTTL(ctx, r, hcloud.ZoneRRSetChangeTTLOpts{TTL: hcloud.Ptr(60)})))
	p.wait(must(c.ChangeRRSetProtection(ctx, r, hcloud.ZoneRRSetChangeProtectionOpts{Change: hcloud.Ptr(false)})))
	must(c.UpdateRRSet(ctx, r, hcloud.ZoneRRSetUpdateOpts{Labels: map[string]string{"x": "y"}}))
	now := must(c.GetRRSetByNameAndType(ctx, z, "api", hcloud.ZoneRRSetTypeA))
	if len(now.Records) != 1 || now.Records[0].Comment != "two" || *now.TTL != 60 || now.Labels["x"] != "y" {
		p.Errorf("%+v", now)
	}
	p.wait(must(c.SetRRSetRecords(ctx, r, hcloud.ZoneRRSetSetRecordsOpts{Records: []hcloud.ZoneRRSetRecord{{Value: "192.0.2.3"}}})))
	if all := must2(c.AllRRSets(ctx, z)); len(all) != 3 {
		p.Errorf("%v", all)
	}
	p.wait(must(c.DeleteRRSet(ctx, r)).Action)
	file := must(c.ExportZonefile(ctx, z))
	p.wait(must(c.ImportZonefile(ctx, z, hcloud.ZoneImportZonefileOpts{Zonefile: file.Zonefile + "www IN 60 TXT \"a;b\" ; said\n"})))
	if r := must(c.GetRRSetByNameAndType(ctx, z, "www", hcloud.ZoneRRSetTypeTXT)); r == nil || *r.TTL != 60 || r.Records[0] != (hcloud.ZoneRRSetRecord{Value: `"a;b"`, Comment: "said"}) {
		p.Errorf("%+v", r)
	}
	p.wait(must(c.ChangeTTL(ctx, z, hcloud.ZoneChangeTTLOpts{TTL: 300})))
	p.wait(must(c.ChangeProtection(ctx, z, hcloud.ZoneChangeProtectionOpts{Delete: hcloud.Ptr(false)})))
	must(c.Update(ctx, z, hcloud.ZoneUpdateOpts{Labels: map[string]string{"x": "y"}}))
	must2(c.All(ctx))
	walkActions(p, c.Action, z, fmt.Sprintf("/zones/%d", z.ID))
	p.wait(must(c.Delete(ctx, z)).Action)
	if z := must(c.GetByName(ctx, "example.com")); z != nil {
		p.Error("not deleted")
	}
}

func walkCertificates(p *project) {
	ctx, c := p.Context(), p.client.Certificate
	chain, key := selfSigned()
	made := must(c.CreateCertificate(ctx, hcloud.CertificateCreateOpts{Name: "a", Type: hcloud.CertificateTypeUploaded, Certificate: chain, PrivateKey: key}))
	if made.Action != nil || made.Certificate.DomainNames[0] != "a.example.com" {
		p.Errorf("%+v", made)
	}
	_, _, err := c.CreateCertificate(ctx, hcloud.CertificateCreateOpts{Name: "b", Type: hcloud.CertificateTypeUploaded, Certificate: chain, PrivateKey: chain})
	p.refused(err, hcloud.ErrorCodeInvalidInput)
	managed := must(c.CreateCertificate(ctx, hcloud.CertificateCreateOpts{Name: "c", Type: hcloud.CertificateTypeManaged, DomainNames: []string{"c.example.com"}}))
	p.wait(managed.Action)
	_, _, err = c.RetryIssuance(ctx, managed.Certificate)
	p.refused(err, hcloud.ErrorUnsupportedError)
	if now := must(c.GetByID(ctx, managed.Certificate.ID)); now.Status.Issuance != hcloud.CertificateStatusTypeCompleted {
		p.Errorf("%+v", now.Status)
	}
	must(c.Update(ctx, made.Certificate, hcloud.CertificateUpdateOpts{Name: "d"}))
	must2(c.All(ctx))
	walkActions(p, c.Action, managed.Certificate, fmt.Sprintf("/certificates/%d", managed.Certificate.ID))
	must(0, 0, second(c.Delete(ctx, made.Certificate)))
}

// selfSigned is a certificate and its key, in PEM.
func selfSigned() (certificate, key string) {
	k := must2(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"a.example.com"}, NotAfter: time.Unix(1e10, 0)}
	der := must2(x509.CreateCertificate(rand.Reader, template, template, &k.PublicKey, k))
	keyDER := must2(x509.MarshalECPrivateKey(k))
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER}))
}
