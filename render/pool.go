package render

import (
	"bytes"
	"context"

	"github.com/talosgen/talosgen/internal/atomicfile"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/config"
	"github.com/talosgen/talosgen/render/internal/pools"
	"github.com/talosgen/talosgen/render/internal/source"
	"github.com/talosgen/talosgen/render/internal/subst"
	"github.com/talosgen/talosgen/schemas"
)

// Pool is a pool of an environment, with its nodes.
type Pool struct {
	Name   string     `json:"name"`
	Role   string     `json:"role"`
	Type   string     `json:"type,omitempty"`   // of its servers
	Subnet string     `json:"subnet,omitempty"` // of their addresses
	Offset *int       `json:"offset,omitempty"` // of these in the subnet
	Nodes  []PoolNode `json:"nodes,omitempty"`

	Autoscaled bool `json:"autoscaled,omitempty"`
	Min        int  `json:"min,omitempty"` // of servers that the autoscaler makes
	Max        int  `json:"max,omitempty"`
}

// PoolNode is a node of a pool.
type PoolNode struct {
	Name    string `json:"name"`
	Index   int    `json:"index,omitempty"`
	Address string `json:"address,omitempty"`
}

// NewPool describes a pool to add.
type NewPool = pools.New

// PoolChange is a cluster.yaml with other pools. Nothing is written yet.
type PoolChange struct {
	Env           string
	File          string // from the root of the repository
	Before, After []byte
	Notes         []string // what whoever makes the change should know

	repo *Repo
}

// Pools lists the pools of an environment. It needs no keys.
func (r *Repo) Pools(env string) ([]Pool, error) {
	source, err := r.poolSource(env)
	if err != nil {
		return nil, err
	}
	c, err := config.Load(source.File, source.Text, source.Scope)
	if err != nil {
		return nil, err
	}
	var list []Pool
	for _, p := range c.Pools() {
		list = append(list, describePool(c, p))
	}
	return list, nil
}

func describePool(c *config.Config, p config.Pool) Pool {
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
		if n.Address.IsValid() {
			at = n.Address.Addr()
		}
		described := PoolNode{Name: n.Name, Index: n.Index}
		if at.IsValid() {
			described.Address = at.String()
		}
		pool.Nodes = append(pool.Nodes, described)
	}
	return pool
}

// AddPool adds a pool at a free offset.
func (r *Repo) AddPool(env string, p NewPool) (*PoolChange, error) {
	return r.changePools(env, func(s pools.Source) (*pools.Result, error) { return pools.Add(s, p) })
}

// RemovePool takes a pool out, or nodes of it if any are named.
func (r *Repo) RemovePool(env, name string, nodes []string) (*PoolChange, error) {
	return r.changePools(env, func(s pools.Source) (*pools.Result, error) {
		if len(nodes) == 0 {
			return pools.Remove(s, name)
		}
		return pools.RemoveNodes(s, name, nodes)
	})
}

// ScalePool changes how many nodes a pool has. Those that stay keep their names
// and addresses.
func (r *Repo) ScalePool(env, name string, count int) (*PoolChange, error) {
	return r.changePools(env, func(s pools.Source) (*pools.Result, error) { return pools.Scale(s, name, count) })
}

// ScalePoolLimits changes how few and how many servers the autoscaler makes for
// a pool; nil leaves a limit as it is.
func (r *Repo) ScalePoolLimits(env, name string, least, most *int) (*PoolChange, error) {
	return r.changePools(env, func(s pools.Source) (*pools.Result, error) { return pools.ScaleLimits(s, name, least, most) })
}

// PlacePools gives the pools that are named other offsets, which are free;
// without names it records the offsets that the file leaves out.
func (r *Repo) PlacePools(env string, names []string) (*PoolChange, error) {
	return r.changePools(env, func(s pools.Source) (*pools.Result, error) { return pools.Place(s, names) })
}

func (r *Repo) changePools(env string, change func(pools.Source) (*pools.Result, error)) (*PoolChange, error) {
	source, err := r.poolSource(env)
	if err != nil {
		return nil, err
	}
	result, err := change(source)
	if err != nil {
		return nil, err
	}
	return &PoolChange{
		Env: env, File: source.File, Before: source.Text, After: result.Text, Notes: result.Notes, repo: r,
	}, nil
}

// poolSource reads cluster.yaml and the names of variables. Secret variables
// may not be used there, so no keys are needed.
func (r *Repo) poolSource(env string) (pools.Source, error) {
	e, err := r.src.ReadEnvironment(env)
	if err != nil {
		return pools.Source{}, err
	}
	vars, err := e.Variables(&source.Secrets{Variables: e.SecretVariables()})
	file := e.File(source.ClusterFile)
	return pools.Source{File: file, Text: e.Raw[file], Scope: &subst.Scope{Vars: vars}}, err
}

// Render renders the environment as if the change were written.
func (c *PoolChange) Render(ctx context.Context) (*Result, error) {
	return c.repo.WithEdited(map[string][]byte{c.File: c.After}).Render(ctx, c.Env, Options{})
}

// Write writes cluster.yaml, unless somebody has changed it since.
func (c *PoolChange) Write() error {
	now, err := c.repo.src.Files.ReadFile(c.File)
	if err != nil {
		return diag.New(diag.Pos{File: c.File}, "cannot be read: %v", source.Reason(err)).WithCause(err)
	}
	if !bytes.Equal(now, c.Before) {
		return diag.New(diag.Pos{File: c.File}, "was changed by somebody else just now; nothing was written").
			WithHint("run the command again").WithCode(diag.Conflict)
	}
	if _, err := atomicfile.Write(c.repo.src.Files.Path(c.File), c.After, 0o644); err != nil {
		return diag.New(diag.Pos{File: c.File}, "cannot be written: %v", source.Reason(err)).WithCause(err)
	}
	return nil
}
