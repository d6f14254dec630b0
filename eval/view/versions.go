package view

import (
	"regexp"
	"strings"

	"dbg/eval/natvis"
)

// versioned matches the inline namespaces in which libraries put one version of themselves: Abseil's
// absl::lts_20220623 (in Debian absl::debian3), fmt's fmt::v9, nlohmann::json_abi_v3_11_2. People do not write
// them, and views are for all versions.
var versioned = regexp.MustCompile(`\b(absl|fmt|nlohmann)::(lts_\d+|debian\d+|head|v\d+|json_abi\w*)::`)

// maybeVersioned are the beginnings of names that may have such a namespace.
var maybeVersioned = []string{"absl::", "fmt::v", "nlohmann::json_abi"}

// withoutVersion returns a type's name without the namespaces that tell a version of a library.
func withoutVersion(name string) string {
	for _, start := range maybeVersioned {
		if strings.Contains(name, start) {
			return versioned.ReplaceAllString(name, "$1::")
		}
	}
	return name
}

// matches returns the views for a type's name, and after them those for its name without versions.
func (s *Set) matches(name string) []natvis.Match {
	found := s.natvis.Match(name)
	if neutral := withoutVersion(name); neutral != name {
		found = append(found, s.natvis.Match(neutral)...)
	}
	return found
}
