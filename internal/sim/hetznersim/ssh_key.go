package hetznersim

import (
	"crypto/md5"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// sshKey is a public key that can be put on servers and rescue systems.
type sshKey struct {
	common
	Key, Fingerprint string
}

const kindSSHKey = "ssh_key"

type sshKeyView struct {
	ID          int64             `json:"id"`
	Name        string            `json:"name"`
	Fingerprint string            `json:"fingerprint"`
	Key         string            `json:"public_key"`
	Labels      map[string]string `json:"labels"`
	Created     time.Time         `json:"created"`
}

func viewSSHKey(k *sshKey) sshKeyView {
	return sshKeyView{k.ID, k.Name, k.Fingerprint, k.Key, filled(k.Labels), k.Created}
}

// fingerprint is the MD5 fingerprint of a public key in the format of OpenSSH.
func fingerprint(key string) (string, bool) {
	fields := strings.Fields(key)
	if len(fields) < 2 {
		return "", false
	}
	blob, err := base64.StdEncoding.DecodeString(fields[1])
	// The blob begins with the length and the text of the algorithm.
	if err != nil || len(blob) < 4+len(fields[0]) || string(blob[4:4+len(fields[0])]) != fields[0] {
		return "", false
	}
	var parts []string
	for _, b := range md5.Sum(blob) {
		parts = append(parts, fmt.Sprintf("%02x", b))
	}
	return strings.Join(parts, ":"), true
}

func sshKeyRoutes() []route {
	const one = "/ssh_keys/{id}"
	return []route{
		{http.MethodGet, "/ssh_keys", listSSHKeys},
		{http.MethodPost, "/ssh_keys", createSSHKey},
		{http.MethodGet, one, onSSHKey(func(_ *call, k *sshKey) (reply, error) { return ok(obj{kindSSHKey: viewSSHKey(k)}) })},
		{http.MethodPut, one, onSSHKey(updateSSHKey)},
		{http.MethodDelete, one, onSSHKey(func(c *call, k *sshKey) (reply, error) {
			c.st.sshKeys.drop(k.ID)
			return noContent()
		})},
	}
}

func onSSHKey(do func(*call, *sshKey) (reply, error)) handler {
	return on(kindSSHKey, func(st *state) *table[sshKey, *sshKey] { return &st.sshKeys }, do)
}

func listSSHKeys(c *call) (reply, error) {
	l := rowsOf("ssh_keys", &c.st.sshKeys, func(k *sshKey) any { return viewSSHKey(k) })
	if f := c.query.Get("fingerprint"); f != "" {
		l = l.only(func(k *sshKey) bool { return k.Fingerprint == f })
	}
	return l.answer(c)
}

func createSSHKey(c *call) (reply, error) {
	in, err := decode[struct {
		Name   string            `json:"name"`
		Key    string            `json:"public_key"`
		Labels map[string]string `json:"labels"`
	}](c)
	if err != nil {
		return reply{}, err
	}
	var v invalid
	print, valid := fingerprint(in.Key)
	v.check(in.Key != "", "public_key", missing)
	v.check(valid || in.Key == "", "public_key", "Not a valid public key.")
	if err := named(&v, kindSSHKey, &c.st.sshKeys, in.Name, in.Labels); err != nil {
		return reply{}, err
	}
	if find(c.st.sshKeys.rows, func(k *sshKey) bool { return k.Fingerprint == print }) != nil {
		e := fail("uniqueness_error", "SSH key with the same fingerprint already exists")
		e.Details = obj{"fields": []obj{{"name": "public_key"}}}
		return reply{}, e
	}
	k := &sshKey{common: c.fresh(in.Name, in.Labels), Key: in.Key, Fingerprint: print}
	c.st.sshKeys.put(k)
	return created(obj{kindSSHKey: viewSSHKey(k)})
}

func updateSSHKey(c *call, k *sshKey) (reply, error) {
	in, err := decode[update](c)
	if err != nil {
		return reply{}, err
	}
	if k, err = apply(in, kindSSHKey, &c.st.sshKeys, k); err != nil {
		return reply{}, err
	}
	return ok(obj{kindSSHKey: viewSSHKey(k)})
}
