package hetznersim

import (
	"net/http"
	"slices"
	"time"
)

// edits begins an action that changes an RRSet when it ends.
func (c *call) edits(command string, z *zone, r *rrset, change func(*rrset)) (reply, error) {
	if r.Protected {
		return reply{}, fail("protected", "RRSet(s) is/are change protected")
	}
	if err := c.lock(z.ref()); err != nil {
		return reply{}, err
	}
	return c.acted(c.begin(job{command: command, on: []ref{z.ref()}, finish: func(st *state, _ time.Time) {
		if next := st.rrsets.change(r.ID, change); next != nil && len(next.Records) == 0 {
			st.rrsets.drop(r.ID) // one without records is none
		}
	}}))
}

// editRecords changes the records of an RRSet by those of the request.
func editRecords(command string, edit func(have, in []record) []record) func(*call, *zone, *rrset) (reply, error) {
	return func(c *call, z *zone, r *rrset) (reply, error) {
		in, err := decode[struct {
			Records []record `json:"records"`
		}](c)
		if err != nil {
			return reply{}, err
		}
		var v invalid
		checkRecords(&v, r.Type, in.Records)
		if err := v.err(); err != nil {
			return reply{}, err
		}
		return c.edits(command, z, r, func(r *rrset) { r.Records = edit(r.Records, in.Records) })
	}
}

// okInstead answers 200 where other actions answer 201, as update_records does.
func okInstead(do func(*call, *zone, *rrset) (reply, error)) func(*call, *zone, *rrset) (reply, error) {
	return func(c *call, z *zone, r *rrset) (reply, error) {
		answer, err := do(c, z, r)
		answer.status = http.StatusOK
		return answer, err
	}
}

func withoutRecords(have, in []record) []record {
	return keep(have, func(r record) bool {
		return !slices.ContainsFunc(in, func(o record) bool { return o.Value == r.Value })
	})
}

func commentRecords(have, in []record) []record {
	next := slices.Clone(have)
	for i := range next {
		for _, o := range in {
			if o.Value == next[i].Value {
				next[i].Comment = o.Comment
			}
		}
	}
	return next
}

// addRecords adds records to an RRSet, which it creates if there is none.
func addRecords(c *call, z *zone) (reply, error) {
	in, err := decode[rrsetInput](c)
	if err != nil {
		return reply{}, err
	}
	in.Name, in.Type = c.vars[1], c.vars[2]
	r := c.st.rrset(z.ID, in.Name, in.Type)
	if r == nil {
		if err := c.lock(z.ref()); err != nil {
			return reply{}, err
		}
		if _, err := c.putRRSet(z, in); err != nil {
			return reply{}, err
		}
		return c.acted(c.begin(job{command: "add_rrset_records", on: []ref{z.ref()}}))
	}
	all := append(slices.Clone(r.Records), in.Records...)
	var v invalid
	checkRecords(&v, r.Type, all)
	if err := v.err(); err != nil {
		return reply{}, err
	}
	return c.edits("add_rrset_records", z, r, func(r *rrset) { r.Records = all })
}

func updateRRSet(c *call, _ *zone, r *rrset) (reply, error) {
	in, err := decode[update](c)
	if err != nil {
		return reply{}, err
	}
	in.Name = nil
	if r, err = apply(in, "rrset", &c.st.rrsets, r); err != nil {
		return reply{}, err
	}
	return ok(obj{"rrset": viewRRSet(r)})
}

func deleteRRSet(c *call, z *zone, r *rrset) (reply, error) {
	return c.edits("delete_rrset", z, r, func(r *rrset) { r.Records = nil })
}

func changeRRSetTTL(c *call, z *zone, r *rrset) (reply, error) {
	in, err := decode[struct {
		TTL *int `json:"ttl"`
	}](c)
	if err != nil {
		return reply{}, err
	}
	var v invalid
	checkTTL(&v, in.TTL)
	if err := v.err(); err != nil {
		return reply{}, err
	}
	return c.edits("change_rrset_ttl", z, r, func(r *rrset) { r.TTL = in.TTL })
}

func protectRRSet(c *call, z *zone, r *rrset) (reply, error) {
	in, err := decode[struct {
		Change *bool `json:"change"`
	}](c)
	if err != nil {
		return reply{}, err
	}
	if in.Change == nil {
		return reply{}, badField("change", missing)
	}
	c.st.rrsets.change(r.ID, func(r *rrset) { r.Protected = *in.Change })
	return c.acted(c.done("change_rrset_protection", z.ref()))
}
