package session

import (
	"errors"
	"strings"
	"time"

	"dbg/eval"
	"dbg/symbols/lang"
)

// maxSuggestTime bounds the search for the name that a user may have meant.
const maxSuggestTime = 3 * time.Millisecond

// SuggestionError is an error about a name that is not there, with the nearest name that is.
type SuggestionError struct {
	err     error
	Nearest string
}

func (e *SuggestionError) Error() string { return e.err.Error() + eval.DidYouMean(e.Nearest) }

// Unwrap returns the error without the suggestion.
func (e *SuggestionError) Unwrap() error { return e.err }

// suggest adds the nearest name to an error about a name that is not there. Variables of the frame come
// first, then members of the method's object, then globals.
func (e *env) suggest(err error) error {
	var missing *eval.NotFoundError
	if !errors.As(err, &missing) || error(missing) != err || missing.Name == "" || missing.Name[0] == '$' {
		return err
	}
	if name := e.nearestName(missing.Name); name != "" {
		return &SuggestionError{err, name}
	}
	return err
}

func (e *env) nearestName(name string) string {
	n := eval.NewNearest(name)
	for _, v := range e.variables() {
		if v.Name == "this" && e.Language() == lang.CPlusPlus && v.Type != nil {
			eval.AddMembers(n, v.Type.Strip().Elem(), 0)
		}
		if !n.Add(strings.TrimPrefix(v.Name, "&")) {
			break
		}
	}
	if n.Best() != "" {
		return n.Best()
	}
	return e.s.nearest.find(name, len(e.s.searchList()), e.nearestGlobal)
}

// nearestNames keeps the nearest global names: an editor asks for a watched expression at each step.
type nearestNames struct {
	files int // how many files were searched
	names map[string]string
}

// maxNearestNames bounds the names that are kept.
const maxNearestNames = 256

func (n *nearestNames) find(name string, files int, search func(string) string) string {
	if n.names == nil || n.files != files || len(n.names) >= maxNearestNames {
		n.files, n.names = files, map[string]string{}
	}
	near, ok := n.names[name]
	if !ok {
		near = search(name)
		n.names[name] = near
	}
	return near
}

// nearestGlobal searches the files of the program, for a limited time.
func (e *env) nearestGlobal(name string) string {
	scope, last := scopeAndName(name)
	end := time.Now().Add(maxSuggestTime)
	for _, f := range e.s.searchList() {
		left := time.Until(end)
		if left <= 0 || e.s.ctx.Err() != nil {
			break
		}
		near := f.sym.NearName(last, left)
		if near == "" || scope == "" {
			if near != "" {
				return near
			}
			continue
		}
		full := scope + "::" + near
		if len(f.sym.Global(full)) > 0 || len(f.sym.FunctionsByName(full)) > 0 || f.sym.Type(full) != nil {
			return full
		}
	}
	return ""
}
