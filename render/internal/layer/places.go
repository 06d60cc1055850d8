package layer

import "path"

// Directories of a repository that hold sources.
const (
	EnvsDir    = "envs"    // a directory for each environment
	PatchesDir = "patches" // what all environments share
	ChartsDir  = "charts"  // what addons are made of
	AddonsDir  = "addons"  // of an environment, and among the shared patches
)

// ClusterFile is the name of the file that describes the cluster of an environment.
const ClusterFile = "cluster.yaml"

// InEnv returns the path of a file of an environment, from the root of the
// repository.
func InEnv(env, name string) string { return path.Join(EnvsDir, env, name) }
