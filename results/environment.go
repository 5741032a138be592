package results

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// Environment is the content of environment.json: the machine as the run
// found it. Fingerprint covers driver, GPU models, vLLM, torch, kernel and CPU
// model. Software and Group split the machine into what must be equal in all
// runs of a campaign and what makes a host group.
type Environment struct {
	Schema      int      `json:"schema"`
	Kind        string   `json:"kind"` // "environment"
	Host        string   `json:"host"` // digest of the host's name
	Kernel      string   `json:"kernel"`
	CPUModel    string   `json:"cpu_model"`
	Cores       int      `json:"cores"`
	MemoryBytes uint64   `json:"memory_bytes"`
	GPUs        []string `json:"gpus,omitempty"` // model names
	// Boards are digests of the UUIDs of the GPUs that the servers may use, as
	// GPU.ID; without CUDA_VISIBLE_DEVICES those of all GPUs.
	Boards      []string          `json:"boards,omitempty"`
	Driver      string            `json:"driver,omitempty"`
	Versions    map[string]string `json:"versions,omitempty"`
	Fingerprint string            `json:"fingerprint"`
}

// Software is what must be equal in all runs of a campaign: the versions of
// vLLM and what it stands on, the driver, and the GPU model.
func (e *Environment) Software() map[string]string {
	all := map[string]string{}
	for name, version := range e.Versions {
		all[name] = version
	}
	if e.Driver != "" {
		all["driver"] = e.Driver
	}
	if len(e.GPUs) > 0 {
		all["GPU model"] = strings.Join(slices.Compact(slices.Sorted(slices.Values(e.GPUs))), ", ")
	}
	return all
}

// Group identifies the host and its boards by a digest: runs of one group stand
// beside each other, those of several are pooled within groups.
func (e *Environment) Group() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %d %q", e.Host, e.Kernel, e.CPUModel, e.Cores, e.Boards))
	return hex.EncodeToString(sum[:6])
}
