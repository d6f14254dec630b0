package view

import (
	"regexp"
	"strings"
)

// versioned matches the inline namespaces in which libraries put one version of themselves: Abseil's
// absl::lts_20220623, fmt's fmt::v9, nlohmann::json_abi_v3_11_2. People do not write them, and views are
// for all versions.
var versioned = regexp.MustCompile(`\b(absl|fmt|nlohmann|spdlog)::(lts_\d+|v\d+|json_abi\w*)::`)

// withoutVersion returns a type's name without the namespaces that tell a version of a library.
func withoutVersion(name string) string {
	if !strings.Contains(name, "::lts_") && !strings.Contains(name, "::v") && !strings.Contains(name, "::json_abi") {
		return name
	}
	return versioned.ReplaceAllString(name, "$1::")
}
