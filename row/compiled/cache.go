package compiled

import (
	"dbg/arch"
	"dbg/row"
)

// PlanCache makes plans of rows that are decoded one by one, and returns the same plan for equal
// rows. The zero value is empty. One goroutine may use a PlanCache.
type PlanCache struct {
	in    interner
	plans []*Plan
}

// maxCached is the maximum number of plans in a PlanCache. Beyond it the cache is cleared.
const maxCached = 8192

// Plan returns the plan of a row. The preserved registers keep their value if r has no rule for
// them. They must be the same in all calls.
func (p *PlanCache) Plan(a *arch.Arch, r *row.Row, preserved arch.RegSet) *Plan {
	if len(p.plans) >= maxCached {
		*p = PlanCache{}
	}
	n, _ := p.in.id(r, HashRow(r))
	if int(n) == len(p.plans) {
		p.plans = append(p.plans, NewPlan(a, p.in.rows[n], preserved))
	}
	return p.plans[n]
}
