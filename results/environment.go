package results

// Environment is the content of environment.json: the machine as the run
// found it. Fingerprint covers what makes two hosts comparable: driver, GPU
// model, vLLM, torch, kernel and CPU model.
type Environment struct {
	Schema      int               `json:"schema"`
	Kind        string            `json:"kind"` // "environment"
	Host        string            `json:"host"` // digest of the host's name
	Kernel      string            `json:"kernel"`
	CPUModel    string            `json:"cpu_model"`
	Cores       int               `json:"cores"`
	MemoryBytes uint64            `json:"memory_bytes"`
	GPUs        []string          `json:"gpus,omitempty"` // model names
	Driver      string            `json:"driver,omitempty"`
	Versions    map[string]string `json:"versions,omitempty"`
	Fingerprint string            `json:"fingerprint"`
}
