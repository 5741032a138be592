package results

import (
	"fmt"
	"regexp"
)

// UnknownCommit stands for the commit of an opbench that was built without git.
const UnknownCommit = "unknown"

// ToolVersion is how opbench names itself in plans, ledgers and reports:
// release+commit, with 12 digits of the commit, and .dirty if the source had
// changes that were not committed. It is a version with build metadata of
// https://semver.org. Up to the first published campaigns it was the release alone.
func ToolVersion(release, commit string, dirty bool) string {
	v := fmt.Sprintf("%s+%.12s", release, commit)
	if dirty {
		v += ".dirty"
	}
	return v
}

// firstRelease had no commit in its version.
const firstRelease = "0.1.0"

var toolVersion = regexp.MustCompile(`^(\d+\.\d+\.\d+)(?:\+([0-9a-f]{12}|unknown)(\.dirty)?)?$`)

// maker names the opbench of a version, and how to get it back as far as that tells.
func maker(tool string) string {
	m := toolVersion.FindStringSubmatch(tool)
	if m == nil {
		return fmt.Sprintf("opbench %q, of which nothing else is known", tool)
	}
	release, commit, dirty := m[1], m[2], m[3] != ""
	switch {
	case commit == UnknownCommit:
		return fmt.Sprintf("opbench %s, built without git: its commit is not known", release)
	case dirty:
		return fmt.Sprintf("opbench %s of commit %s with changes that were never committed", release, commit)
	case commit != "":
		return fmt.Sprintf("opbench %s of commit %s (git checkout %[2]s && make build)", release, commit)
	case release == firstRelease:
		return fmt.Sprintf("opbench %s, before commits were recorded", release)
	}
	return fmt.Sprintf("opbench %s (git checkout v%[1]s && make build)", release)
}
