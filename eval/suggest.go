package eval

import (
	"strings"

	"dbg/symbols/types"
)

// Limits of the search for the nearest name.
const (
	maxNameLength  = 64   // of a name that is compared
	maxCandidates  = 4096 // names that are compared for one suggestion
	maxSuggestions = 20   // nesting of bases and anonymous members
)

// Nearest finds the name that a user may have meant by one that is not there.
type Nearest struct {
	name  string
	best  string
	cost  int // the edits from name to best
	tried int
}

// NewNearest begins a search. Add offers names to it.
func NewNearest(name string) *Nearest {
	limit := (len(name) + 2) / 3 // one edit for names up to 3 letters, 2 up to 6, …
	if len(name) < 2 || len(name) > maxNameLength {
		limit = 0
	}
	return &Nearest{name: name, cost: limit + 1}
}

// Add compares a candidate. It returns false when enough names were compared.
func (n *Nearest) Add(candidate string) bool {
	n.tried++
	if candidate == "" || candidate == n.name || len(candidate) > maxNameLength {
		return n.tried < maxCandidates
	}
	if strings.HasPrefix(candidate, "_vptr") {
		return n.tried < maxCandidates
	}
	if strings.EqualFold(candidate, n.name) {
		n.best, n.cost = candidate, 0
	} else if c := edits(n.name, candidate, n.cost-1); c < n.cost && c < len(candidate) {
		n.best, n.cost = candidate, c
	}
	return n.tried < maxCandidates
}

// Best returns the nearest of the names, or "" if none is near.
func (n *Nearest) Best() string { return n.best }

// edits returns the number of inserted, deleted, replaced and exchanged letters between two names
// (the optimal string alignment distance), or limit+1 if there are more than limit.
func edits(a, b string, limit int) int {
	if d := len(a) - len(b); d > limit || -d > limit || limit < 1 {
		return limit + 1
	}
	var rows [3][maxNameLength + 1]int
	before, last, row := &rows[0], &rows[1], &rows[2]
	for j := range len(b) + 1 {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			least = min(least, row[j])
		}
		if least > limit {
			return limit + 1
		}
		before, last, row = last, row, before
	}
	return min(last[len(b)], limit+1)
}

// DidYouMean returns the sentence that follows an error about a name, or "" if there is no suggestion.
func DidYouMean(name string) string {
	if name == "" {
		return ""
	}
	return " Did you mean \"" + name + "\"?"
}

// suggestMember suggests a member of v in place of one that is not there.
func suggestMember(v Value, name string) string {
	n := NewNearest(name)
	AddMembers(n, v.Type, 0)
	return DidYouMean(n.Best())
}

// AddMembers offers the members of a class, with those of its bases and anonymous members.
func AddMembers(n *Nearest, t *types.Type, depth int) bool {
	if t == nil || depth > maxSuggestions {
		return true
	}
	for _, f := range t.Strip().Fields() {
		if f.Base || f.Name == "" {
			if !AddMembers(n, f.Type, depth+1) {
				return false
			}
		} else if !n.Add(f.Name) {
			return false
		}
	}
	return true
}
