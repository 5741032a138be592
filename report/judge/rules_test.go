package judge_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/aituner/opprof/report/internal/forms"
	"github.com/aituner/opprof/report/internal/trial"
	"github.com/aituner/opprof/report/render"
	"github.com/aituner/opprof/results"
)

// A plan of earlier rules is judged by today's, and says so with the result that
// it would have had: for every kind of verdict.
func TestPlanOfEarlierRules(t *testing.T) {
	for _, c := range trial.Cases {
		if c.Name == "unfinished" {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			tr := c.Make(t)
			tr.Rules = "2"
			v := forms.Build(t, tr.Write(t.TempDir()))
			assert.Equal(t, results.RulesVersion, v.Rules)
			said := "planned under rules 2, judged under " + results.RulesVersion + "; under 2: " + v.Planned.String()
			assert.Contains(t, strings.Join(v.Notes, "\n"), said)
			assert.Contains(t, trial.OneLine(forms.Render(t, v, render.WriteText)), "rules "+results.RulesVersion+", planned under 2")
			assert.Equal(t, c.Result, v.Planned.String())
		})
	}
}

// A plan of today's rules says nothing of others.
func TestPlanOfTodaysRules(t *testing.T) {
	t.Parallel()
	v := forms.Build(t, trial.New(t, 6).Write(t.TempDir()))
	assert.Nil(t, v.Planned)
	assert.NotContains(t, strings.Join(v.Notes, "\n"), "planned under")
}
