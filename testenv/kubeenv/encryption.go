package kubeenv

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"testing"
)

// encryptionFile says how the API server stores what.
const encryptionFile = "encryption.yaml"

// Encrypt restarts the API server, which stores things from then on as the fields of an
// EncryptionConfiguration say. The cluster must be the test's own.
func (c *Cluster) Encrypt(t testing.TB, fields string) {
	t.Helper()

	if !c.config.own {
		t.Fatal("the cluster is shared with other tests")
	}

	text := "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\n" + fields
	if err := c.keys.write(encryptionFile, []byte(text)); err != nil {
		t.Fatal(err)
	}

	for _, p := range c.processes {
		if p.name == "kube-apiserver" {
			p.kill()
		}
	}

	if err := c.startAPIServer(); err != nil {
		t.Fatal(err)
	}
}

// encryption is the flag of the API server for [Cluster.Encrypt].
func (c *Cluster) encryption() []string {
	if _, err := os.Stat(c.keys.file(encryptionFile)); err != nil {
		return nil
	}

	return []string{"--encryption-provider-config=" + c.keys.file(encryptionFile)}
}

// Stored returns what etcd has below a key, such as /registry/secrets/, as it is stored.
func (c *Cluster) Stored(t testing.TB, below string) map[string][]byte {
	t.Helper()

	end := []byte(below)
	end[len(end)-1]++

	body, err := json.Marshal(map[string][]byte{"key": []byte(below), "range_end": end})
	if err != nil {
		t.Fatal(err)
	}

	answer, err := http.Post("http://"+c.instance.address(portEtcd)+"/v3/kv/range", JSON, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()

	var found struct {
		KVs []struct{ Key, Value string } `json:"kvs"`
	}

	if err := json.NewDecoder(answer.Body).Decode(&found); err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("etcd answers %s: %v", answer.Status, err)
	}

	all := map[string][]byte{}

	for _, kv := range found.KVs {
		key, err1 := base64.StdEncoding.DecodeString(kv.Key)
		value, err2 := base64.StdEncoding.DecodeString(kv.Value)

		if err1 != nil || err2 != nil {
			t.Fatal(fmt.Errorf("etcd answers %v, %v", err1, err2))
		}

		all[string(key)] = value
	}

	return all
}
