package bench

import (
	"regexp"
	"runtime/debug"
	"strings"

	"github.com/aituner/opprof/results"
)

// release is the version that all builds since the last tag share.
const release = "0.1.0"

// build is the source that a binary was made from.
type build struct {
	Version string `json:"version"` // stamps plans and reports; results.ToolVersion has its form
	Commit  string `json:"commit"`  // 40 digits, 12 from a module proxy, or "unknown"
	Dirty   bool   `json:"dirty"`   // with changes that were not committed
	Go      string `json:"go"`      // version of the toolchain
}

// thisBuild is what the go command wrote into the running binary.
func thisBuild() build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return buildOf(info)
}

// pseudoVersion ends in the commit of a version that has no tag
// (https://go.dev/ref/mod#pseudo-versions).
var pseudoVersion = regexp.MustCompile(`[-.]\d{14}-([0-9a-f]{12})$`)

// buildOf takes the commit from the checkout that was built or, after go install
// PATH@VERSION, from the version of the module. A tag is a version of its own.
func buildOf(info *debug.BuildInfo) build {
	b := build{Go: info.GoVersion}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.modified":
			b.Dirty = s.Value == "true"
		}
	}
	m := pseudoVersion.FindStringSubmatch(info.Main.Version)
	switch tag, isTag := strings.CutPrefix(info.Main.Version, "v"); {
	case b.Commit != "":
	case m != nil:
		b.Commit = m[1]
	case isTag:
		b.Version, b.Commit = tag, results.UnknownCommit
		return b
	default:
		b.Commit = results.UnknownCommit
	}
	b.Version = results.ToolVersion(release, b.Commit, b.Dirty)
	return b
}
