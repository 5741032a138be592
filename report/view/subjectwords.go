package view

import (
	"path/filepath"
	"strings"
)

// CampaignName is the run directory's own name, wherever it lies.
func CampaignName(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	return filepath.Base(dir)
}

// ShellWord quotes a word for a shell unless it is harmless.
func ShellWord(s string) string {
	harmless := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-/=", r)
	}
	if strings.TrimFunc(s, harmless) == "" && s != "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
