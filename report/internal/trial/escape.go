package trial

import (
	"strconv"
	"strings"
	"testing"

	"github.com/aituner/opprof/scenarios"
)

const HostileText = "a|b`c`<script>alert(1)</script> @someone #12 [x](javascript:y) ![i](u) **b** <!-- --> \x1b[31m\u202e\r\n# head\n```\n</title></svg>\" onload=\"x"

func Hostile(t *testing.T) *Trial {
	tr := New(t, 6)
	s := &tr.Scenario
	s.About, tr.file = HostileText, HostileText
	s.Engine.Model = "/m/" + strings.ReplaceAll(HostileText, "/", "_")
	s.Arms[0].Name, s.Arms[1].Name = "off"+strings.ReplaceAll(HostileText, "/", "_")[:30], "on"
	s.Compare[0].Baseline = s.Arms[0].Name
	for i := range s.Phases {
		s.Phases[i].Name = "p" + strconv.Itoa(i) + HostileText
	}
	s.Engine.Kind = scenarios.EngineVLLM
	tr.Edit = func(r *Recorded) {
		r.Env.CPUModel = HostileText
		r.Run.Server.Versions["vllm"] = HostileText
		r.Requests[2].Error = ""
		if r.Run.Key.Block == "0002" {
			r.Requests[2].Error = HostileText
		}
	}
	tr.Void = map[string]string{"0003": HostileText}
	return tr
}
