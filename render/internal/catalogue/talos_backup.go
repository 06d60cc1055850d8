package catalogue

import (
	"cmp"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/schemas"
)

const (
	backupName  = "talos-backup"
	backupImage = "ghcr.io/siderolabs/talos-backup"
	// The first build of siderolabs/talos-backup that compresses, and that works
	// with S3 services other than Amazon's. There is no release with it.
	backupVersion = "v0.1.0-beta.3-3-g38dad7c"

	// backupTalosSecret is filled in by Talos, for the ServiceAccount of the same
	// name: what the pod asks the Talos API with.
	backupTalosSecret = "talos-backup-secrets"
	backupS3Secret    = "talos-backup-s3-secrets"
)

// backupReleases are the tags that choose how a bucket is named by a variable,
// and do not compress. What is newer compresses, and names buckets in the path
// for all services but Amazon's.
var backupReleases = []string{"v0.1.0-beta.2", "v0.1.0-beta.3"}

// talosBackup makes snapshots of etcd, encrypted, into a bucket.
func talosBackup() entry {
	e := entry{
		about:   "snapshots of etcd, encrypted, into a bucket",
		builtIn: true, defaultOn: "with talos.backups.s3.enabled", options: "talos.backups, talos.apiAccess",
		name: backupName, layer: Apps, namespace: kubeSystem, version: backupVersion,
		onlyBy: "talos.backups.s3.enabled",
		wanted: func(f *facts) (bool, string) { return f.Cluster.Talos.Backups.S3.Enabled, "talos.backups.s3.enabled" },
		needs: func(f *facts) []Need {
			s3, at := f.Cluster.Talos.Backups.S3, "talos.backups.s3"
			return []Need{
				{Name: s3.AccessKeyVariable, Option: at, What: "the access key of the bucket for backups", Shape: "ACCESSKEY00000000000"},
				{Name: s3.SecretKeyVariable, Option: at, What: "the secret key of the bucket for backups", Shape: "SECRETKEY00000000000"},
			}
		},
	}
	e.build = func(f *facts, a *Addon) {
		s3, ns := f.Cluster.Talos.Backups.S3, a.Namespace
		f.checkBackupAccess(ns)
		image := cmp.Or(s3.Image, backupImage+":"+f.version(e))
		a.Objects = []object{
			newObject("talos.dev/v1alpha1", "ServiceAccount", ns, backupTalosSecret, fields{"spec": fields{"roles": items{"os:etcd:backup"}}}),
			secretObject(ns, backupS3Secret, map[string]string{
				"access_key": f.Secrets[s3.AccessKeyVariable].Reveal(), "secret_key": f.Secrets[s3.SecretKeyVariable].Reveal(),
			}),
			backupCronJob(f, ns, image, s3),
		}
	}
	return e
}

// checkBackupAccess wants Talos to let pods of the namespace make snapshots.
func (f *facts) checkBackupAccess(ns string) {
	access := f.Cluster.Talos.APIAccess
	if !*access.Enabled || !slices.Contains(access.Roles, "os:etcd:backup") || !slices.Contains(access.Namespaces, ns) {
		f.fail("talos.apiAccess", "it needs enabled: true, roles: [os:etcd:backup] and namespaces: ["+ns+"]",
			"backups are made by a pod in %s, and talos.apiAccess does not let it", ns)
	}
}

func backupCronJob(f *facts, ns, image string, s3 schemas.S3Backups) object {
	container := fields{
		"name": backupName, "image": image, "command": items{"/talos-backup"}, "workingDir": "/tmp",
		"env":             backupEnv(f, image, s3),
		"resources":       fields{"requests": requests("50m", "64Mi"), "limits": fields{"memory": "512Mi"}},
		"securityContext": confined(),
		"volumeMounts": items{
			fields{"name": "tmp", "mountPath": "/tmp"},
			fields{"name": "talos-secrets", "mountPath": "/var/run/secrets/talos.dev", "readOnly": true},
		},
	}
	pod := fields{
		"restartPolicy":                "OnFailure",
		"automountServiceAccountToken": false, // it asks Talos, not Kubernetes
		"securityContext":              as(1000),
		"nodeSelector":                 onControlPlanes(),
		"tolerations":                  []fields{tolerateControlPlanes()},
		"containers":                   []fields{container},
		"volumes": items{
			fields{"name": "tmp", "emptyDir": fields{}},
			fields{"name": "talos-secrets", "secret": fields{"secretName": backupTalosSecret}},
		},
	}
	return newObject("batch/v1", "CronJob", ns, backupName, fields{"spec": fields{
		"schedule": s3.Schedule, "concurrencyPolicy": "Forbid", "successfulJobsHistoryLimit": 1, "failedJobsHistoryLimit": 3,
		"jobTemplate": fields{"spec": fields{"backoffLimit": 3, "template": podTemplate(backupName, nil, pod)}},
	}})
}

func backupEnv(f *facts, image string, s3 schemas.S3Backups) []fields {
	_, tag, _ := strings.Cut(image[strings.LastIndex(image, "/")+1:], ":")
	released := slices.Contains(backupReleases, tag)
	values := map[string]string{
		"AGE_X25519_PUBLIC_KEY": f.backupRecipient(s3),
		"AWS_REGION":            s3.Region,
		"BUCKET":                s3.Bucket,
		"CLUSTER_NAME":          f.Cluster.ClusterName,
		"CUSTOM_S3_ENDPOINT":    s3.Endpoint,
		"S3_PREFIX":             s3.Prefix,
	}
	switch {
	case s3.Compression && released:
		f.fail("talos.backups.s3.compression", "for example image: "+backupImage+":"+backupVersion, "talos-backup %s does not compress", tag)
	case s3.Compression:
		values["ENABLE_COMPRESSION"] = "true"
	}
	if s3.PathStyle && released {
		// These releases take false for yes, and everything else for no.
		values["USE_PATH_STYLE"] = "false"
	}
	return append(envs(values),
		envSecret("AWS_ACCESS_KEY_ID", backupS3Secret, "access_key"),
		envSecret("AWS_SECRET_ACCESS_KEY", backupS3Secret, "secret_key"))
}

// backupRecipient is whom backups are encrypted for. talos-backup knows X25519
// keys only.
func (f *facts) backupRecipient(s3 schemas.S3Backups) string {
	if s3.AgePublicKey != "" {
		return s3.AgePublicKey
	}
	format, _ := schemas.FormatOf("ageRecipient")
	if !matches(format.Pattern, f.ClusterRecipient) {
		f.fail("talos.backups.s3", "set agePublicKey to that of an X25519 key, which age-keygen makes",
			"backups cannot be encrypted for the cluster's own key: talos-backup knows X25519 keys only")
	}
	return f.ClusterRecipient
}
