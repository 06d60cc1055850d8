package nodepools

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/talosgen/talosgen/internal/atomicfile"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render"
	"github.com/talosgen/talosgen/render/internal/config"
	"github.com/talosgen/talosgen/render/internal/layer"
	"github.com/talosgen/talosgen/render/internal/pools"
	"github.com/talosgen/talosgen/render/internal/source"
	"github.com/talosgen/talosgen/render/internal/subst"
	"github.com/talosgen/talosgen/schemas"
)

// Pool is a pool of an environment, with its nodes.
type Pool struct {
	Name   string `json:"name"`
	Role   string `json:"role"`
	Type   string `json:"type,omitempty"`   // of its servers
	Subnet string `json:"subnet,omitempty"` // of their addresses
	Offset *int   `json:"offset,omitempty"` // of these in the subnet
	Nodes  []Node `json:"nodes,omitempty"`

	Autoscaled bool `json:"autoscaled,omitempty"`
	Min        int  `json:"min,omitempty"` // of servers that the autoscaler makes
	Max        int  `json:"max,omitempty"`
}

// Node is a node of a pool.
type Node struct {
	Name    string `json:"name"`
	Index   int    `json:"index,omitempty"`
	Address string `json:"address,omitempty"`
}

// New describes a pool to add.
type New = pools.New

// Change is a cluster.yaml with other pools. Nothing is written yet.
type Change struct {
	Env           string
	File          string // from the root of the repository
	Before, After []byte
	Notes         []string // what whoever makes the change should know
	Unused        []string // patches of pools and nodes that there are no longer, which DeleteUnused deletes

	repo *render.Repo
}

// List lists the pools of an environment. It needs no keys.
func List(r *render.Repo, env string) ([]Pool, error) {
	from, err := read(r, env)
	if err != nil {
		return nil, err
	}
	c, err := config.Load(from.File, from.Bases, from.Scope)
	if err != nil {
		return nil, err
	}
	var list []Pool
	for _, p := range c.Pools() {
		list = append(list, describe(c, p))
	}
	return list, nil
}

func describe(c *config.Config, p config.Pool) Pool {
	pool := Pool{Name: p.Name, Role: p.Role, Type: p.Type, Autoscaled: p.Autoscaled, Min: p.Min, Max: p.Max}
	if c.Provider == schemas.Hetzner {
		pool.Subnet = p.Subnet.String()
		if !p.Autoscaled {
			pool.Offset = &p.Offset
		}
	}
	for _, n := range c.Resolve() {
		if n.Pool != p.Name {
			continue
		}
		at := n.PrivateIP
		if n.Address.IsValid() && !n.Dedicated {
			at = n.Address.Addr()
		}
		described := Node{Name: n.Name, Index: n.Index}
		if at.IsValid() {
			described.Address = at.String()
		}
		pool.Nodes = append(pool.Nodes, described)
	}
	return pool
}

// Add adds a pool at a free offset.
func Add(r *render.Repo, env string, p New) (*Change, error) {
	return change(r, env, func(s pools.Source) (*pools.Result, error) { return pools.Add(s, p) })
}

// Remove takes a pool out, or nodes of it if any are named.
func Remove(r *render.Repo, env, name string, nodes []string) (*Change, error) {
	return change(r, env, func(s pools.Source) (*pools.Result, error) {
		if len(nodes) == 0 {
			return pools.Remove(s, name)
		}
		return pools.RemoveNodes(s, name, nodes)
	})
}

// Scale changes how many nodes a pool has. Those that stay keep their names
// and addresses.
func Scale(r *render.Repo, env, name string, count int) (*Change, error) {
	return change(r, env, func(s pools.Source) (*pools.Result, error) { return pools.Scale(s, name, count) })
}

// ScaleLimits changes how few and how many servers the autoscaler makes for
// a pool; nil leaves a limit as it is.
func ScaleLimits(r *render.Repo, env, name string, least, most *int) (*Change, error) {
	return change(r, env, func(s pools.Source) (*pools.Result, error) { return pools.ScaleLimits(s, name, least, most) })
}

// Place gives the pools that are named other offsets, which are free;
// without names it records the offsets that the file leaves out.
func Place(r *render.Repo, env string, names []string) (*Change, error) {
	return change(r, env, func(s pools.Source) (*pools.Result, error) { return pools.Place(s, names) })
}

func change(r *render.Repo, env string, change func(pools.Source) (*pools.Result, error)) (*Change, error) {
	from, err := read(r, env)
	if err != nil {
		return nil, err
	}
	result, err := change(from.Source)
	if err != nil {
		return nil, err
	}
	return &Change{
		Env: env, File: from.File, Before: from.Text, After: result.Text, Notes: result.Notes, repo: r,
		Unused: layer.PatchesOf(from.paths, env, result.Gone.Pools, result.Gone.Nodes),
	}, nil
}

// sources are the cluster.yaml of an environment, and the paths of all that it is
// rendered from.
type sources struct {
	pools.Source
	paths []string
}

// read reads cluster.yaml and the names of variables. Secret variables
// may not be used there, so no keys are needed.
func read(r *render.Repo, env string) (sources, error) {
	e, err := r.Repository().ReadEnvironment(env)
	if err != nil {
		return sources{}, err
	}
	vars, err := e.Variables(&source.Secrets{Variables: e.SecretVariables()})
	file := e.File(source.ClusterFile)
	return sources{pools.Source{File: file, Text: e.Raw[file], Bases: e.Raw, Scope: &subst.Scope{Vars: vars}}, e.Paths}, err
}

// Render renders the environment as if the change were written.
func (c *Change) Render(ctx context.Context) (*render.Result, error) {
	edited := map[string][]byte{c.File: c.After}
	for _, file := range c.Unused {
		edited[file] = nil
	}
	return c.repo.WithEdited(edited).Render(ctx, c.Env, render.Options{})
}

// DeleteUnused deletes the patches that the change leaves without a pool or a node.
func (c *Change) DeleteUnused() error {
	for _, file := range c.Unused {
		at := c.repo.Repository().Files.Path(file)
		if err := os.Remove(at); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return diag.New(diag.Pos{File: file}, "cannot be deleted: %v", source.Reason(err)).WithCause(err)
		}
		_ = os.Remove(filepath.Dir(at)) // if it was the last one
	}
	return nil
}

// Write writes cluster.yaml, unless somebody has changed it since.
func (c *Change) Write() error {
	now, err := c.repo.Repository().Files.ReadFile(c.File)
	if err != nil {
		return diag.New(diag.Pos{File: c.File}, "cannot be read: %v", source.Reason(err)).WithCause(err)
	}
	if !bytes.Equal(now, c.Before) {
		return diag.New(diag.Pos{File: c.File}, "was changed by another program just now; nothing was written").
			WithHint("run the command again").WithCode(diag.Conflict)
	}
	if _, err := atomicfile.Write(c.repo.Repository().Files.Path(c.File), c.After, 0o644); err != nil {
		return diag.New(diag.Pos{File: c.File}, "cannot be written: %v", source.Reason(err)).WithCause(err)
	}
	return nil
}
