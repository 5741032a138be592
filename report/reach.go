package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Reach says which metrics can carry the margin on a host. A metric is carried
// by a campaign with at least its blocks: then it passes with 90 % power if the
// true effect is 0 and the spread is at its 80 % upper value.
type Reach struct {
	// Shown were shown equal with the blocks of this A/A.
	Shown []Carried `json:"shown"`
	// Within can be carried by a campaign of practical length.
	Within []Carried `json:"within"`
	// Beyond cannot, unless the host gets quieter or the phases longer.
	Beyond []Carried `json:"beyond"`
	// Blocks is the plan that carries all of Within; 0 if there are none.
	Blocks int `json:"blocks,omitempty"`
	// Limit is the length up to which a campaign counts as practical.
	Limit     int     `json:"practical_blocks"`
	MarginPct float64 `json:"margin_pct"`
}

// Carried is a metric with the blocks that its gate needs; 0: no number of blocks
// is enough.
type Carried struct {
	Phase  string `json:"phase"`
	Name   string `json:"name"`
	Label  string `json:"label"`
	Blocks int    `json:"blocks"`
}

func (c Carried) String() string {
	if c.Blocks == 0 || c.Blocks > mostBlocks {
		return fmt.Sprintf("%s of %s (more than %d)", c.Label, c.Phase, mostBlocks)
	}
	return fmt.Sprintf("%s of %s (%d)", c.Label, c.Phase, c.Blocks)
}

// newReach sorts the metrics that were judged. It is nil if there are none. Where
// several comparisons judge one metric, the noisiest counts.
func newReach(list []EqualArms, marginPct float64) *Reach {
	r := &Reach{Limit: practicalBlocks, MarginPct: marginPct, Shown: []Carried{}, Within: []Carried{}, Beyond: []Carried{}}
	for _, x := range judged(list) {
		c := Carried{x.Phase, x.Name, x.Label, x.Gate.Upper}
		if x.Result == resultEqual {
			r.Shown = append(r.Shown, c)
		}
		if c.Blocks == 0 || c.Blocks > r.Limit {
			r.Beyond = append(r.Beyond, c)
			continue
		}
		r.Within = append(r.Within, c)
		r.Blocks = max(r.Blocks, c.Blocks)
	}
	if len(r.Within)+len(r.Beyond) == 0 {
		return nil
	}
	fewest := func(x, y Carried) int { return cmp.Compare(x.Blocks, y.Blocks) }
	slices.SortStableFunc(r.Within, fewest)
	return r
}

// judged are the metrics with a statement, each once.
func judged(list []EqualArms) (out []EqualMetric) {
	for _, c := range list {
		for _, m := range c.Metrics {
			if equalRank(m.Result) == rankInvalid {
				continue
			}
			same := func(x EqualMetric) bool { return x.Phase == m.Phase && x.Name == m.Name }
			switch i := slices.IndexFunc(out, same); {
			case i < 0:
				out = append(out, m)
			case m.SD > out[i].SD:
				out[i] = m
			}
		}
	}
	return out
}

// lines are the reach in words.
func (r *Reach) lines() []string {
	margin := plainNumber(r.MarginPct) + " %"
	var out []string
	if len(r.Shown) == 0 {
		out = append(out, "with these blocks no metric is shown to carry a margin of "+margin)
	} else {
		out = append(out, "with these blocks a margin of "+margin+" is carried by "+names(r.Shown, Carried.name))
	}
	if r.Blocks > 0 {
		out = append(out, fmt.Sprintf("plan design.blocks: %d; a gate of %s then has 90 %% power on each of: %s",
			r.Blocks, margin, names(r.Within, Carried.String)))
	}
	if len(r.Beyond) > 0 {
		out = append(out, fmt.Sprintf("more than %d blocks: %s. Longer phases or a quieter host, or leave them out of the primary metrics",
			r.Limit, names(r.Beyond, Carried.String)))
	}
	return out
}

func (c Carried) name() string { return c.Label + " of " + c.Phase }

func names(list []Carried, say func(Carried) string) string {
	var parts []string
	for _, c := range list {
		parts = append(parts, say(c))
	}
	return strings.Join(parts, ", ")
}
