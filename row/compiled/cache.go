package compiled

import (
	"dbg/arch"
	"dbg/row"
)

// PlanCache makes plans of rows that are decoded one by one, and gives equal rows the same plan.
// The zero value is empty. A PlanCache is for one goroutine.
type PlanCache struct {
	in    interner
	plans []*Plan
}

// maxCached is how many plans a PlanCache holds. If there are more, it begins anew.
const maxCached = 8192

// Plan returns the plan of a row. The preserved registers keep their value where r has no rule
// for them. They must be the same in all calls.
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
