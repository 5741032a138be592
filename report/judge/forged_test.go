package judge_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/internal/forms"
	"github.com/aituner/opprof/report/internal/trial"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
)

// forgery is an edited copy of a published campaign that passed, sealed again.
type forgery struct {
	name string
	edit func(t *testing.T, dir string, c *results.Campaign) // c: as it was
	want string                                              // headline
	say  string                                              // in what was found
}

// inArm edits the runs of an arm that count, and lets run.json say what the requests
// give then; "" is every arm.
func inArm(arm string, edit func(a *results.Attempt)) func(t *testing.T, dir string, c *results.Campaign) {
	return func(t *testing.T, dir string, c *results.Campaign) {
		trial.Forge(t, dir, c, func(a *results.Attempt) bool {
			if arm != "" && a.Key.Arm != arm || a.BurnIn {
				return false
			}
			edit(a)
			trial.Tell(a)
			return true
		})
	}
}

// inRun does so for one run, without telling run.json.
func inRun(name string, edit func(c *results.Campaign, a *results.Attempt)) func(t *testing.T, dir string, c *results.Campaign) {
	return func(t *testing.T, dir string, c *results.Campaign) {
		trial.Forge(t, dir, c, func(a *results.Attempt) bool {
			if a.Key.String() != name {
				return false
			}
			edit(c, a)
			return true
		})
	}
}

// eachOf edits the requests of a phase.
func eachOf(phase string, edit func(r *results.Request)) func(a *results.Attempt) {
	return func(a *results.Attempt) {
		for i := range a.Requests {
			if a.Requests[i].Phase == phase {
				edit(&a.Requests[i])
			}
		}
	}
}

// request edits one timed request of 0002/on.
func request(edit func(r *results.Request)) func(t *testing.T, dir string, c *results.Campaign) {
	return inRun("0002/on", func(_ *results.Campaign, a *results.Attempt) {
		eachOf("single", func(r *results.Request) {
			if r.Index == 8 {
				edit(r)
			}
		})(a)
	})
}

// fewer asks for 3 % fewer tokens and gets them.
func fewer(r *results.Request) {
	n := int(math.Round(0.97 * float64(r.WantTokens)))
	r.WantTokens, r.OutputTokens = n, n
}

func doubled(a *results.Attempt) {
	eachOf("wide", func(r *results.Request) {
		if r.Index%50 == 49 {
			r.Index--
		}
	})(a)
}

// swapLengths swaps what two timed requests of wide asked for, got, or both.
func swapLengths(wanted bool) func(a *results.Attempt) {
	return func(a *results.Attempt) {
		var two []*results.Request
		eachOf("wide", func(r *results.Request) {
			if r.Index == 300 || r.Index == 301 {
				two = append(two, r)
			}
		})(a)
		x, y := two[0], two[1]
		x.OutputTokens, y.OutputTokens = y.OutputTokens, x.OutputTokens
		if wanted {
			x.WantTokens, y.WantTokens = y.WantTokens, x.WantTokens
		}
	}
}

// swapRoles makes 100 warm-up requests timed, and as many timed ones warm-up.
func swapRoles(a *results.Attempt) {
	eachOf("wide", func(r *results.Request) {
		if r.Index >= 92 && r.Index < 292 {
			r.Warmup = !r.Warmup
		}
	})(a)
}

// inOneChunk takes the time per token from every tenth timed request.
func inOneChunk(a *results.Attempt) {
	eachOf("wide", func(r *results.Request) {
		if !r.Warmup && r.Index%10 == 0 {
			r.Chunks, r.FirstTokens, r.FirstNS = 1, r.OutputTokens, r.LastNS
			r.GapMedianNS, r.GapMaxNS, r.LongGaps = 0, 0, nil
		}
	})(a)
}

// copyOf puts the times of another run into one, moved by some nanoseconds, and lets
// run.json follow.
func copyOf(from string, shift int64) func(c *results.Campaign, a *results.Attempt) {
	return func(c *results.Campaign, a *results.Attempt) {
		i := slices.IndexFunc(c.Attempts, func(x results.Attempt) bool { return x.Key.String() == from })
		a.Requests = slices.Clone(c.Attempts[i].Requests)
		for k := range a.Requests {
			r := &a.Requests[k]
			for _, at := range []*int64{&r.IntendedNS, &r.SentNS, &r.FirstNS, &r.LastNS, &r.EndNS} {
				*at += shift
			}
			r.LongGaps = slices.Clone(r.LongGaps)
			for g := range r.LongGaps {
				r.LongGaps[g][0], r.LongGaps[g][1] = r.LongGaps[g][0]+shift, r.LongGaps[g][1]+shift
			}
		}
		copyBounds(a, &c.Attempts[i], shift)
		trial.Tell(a)
	}
}

// copyBounds moves the phases of a run to where those of another stand in it.
func copyBounds(a, from *results.Attempt, shift int64) {
	apart := a.Run.Start.UnixNano() - from.Run.Start.UnixNano() + shift
	for p := range a.Run.Phases {
		to, of := &a.Run.Phases[p], &from.Run.Phases[p]
		to.WarmupStartNS, to.TimedStartNS, to.TimedEndNS = of.WarmupStartNS+apart, of.TimedStartNS+apart, of.TimedEndNS+apart
	}
}

// swapped gives two runs each other's requests, and what run.json says of them if so
// wished.
func swapped(x, y string, tell bool) func(t *testing.T, dir string, c *results.Campaign) {
	return func(t *testing.T, dir string, c *results.Campaign) {
		requests, phases := map[string][]results.Request{}, map[string][]results.Phase{}
		for _, a := range c.Attempts {
			requests[a.Key.String()], phases[a.Key.String()] = a.Requests, a.Run.Phases
		}
		other := map[string]string{x: y, y: x}
		trial.Forge(t, dir, c, func(a *results.Attempt) bool {
			from := other[a.Key.String()]
			if from == "" {
				return false
			}
			a.Requests = requests[from]
			if tell {
				a.Run.Phases = phases[from]
			}
			return true
		})
	}
}

// inPlan edits plan.json, leaves its hash and lets the ledger vouch for the file.
func inPlan(edit func(p *results.Plan)) func(t *testing.T, dir string, c *results.Campaign) {
	return func(t *testing.T, dir string, _ *results.Campaign) {
		p, err := results.ReadPlan(dir)
		require.NoError(t, err)
		before := p.FileSHA256
		edit(p)
		require.NoError(t, results.WriteJSON(filepath.Join(dir, results.PlanFile), p))
		p, err = results.ReadPlan(dir)
		require.NoError(t, err)
		ledger, err := os.ReadFile(results.LedgerPath(dir))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(results.LedgerPath(dir), []byte(strings.ReplaceAll(string(ledger), before, p.FileSHA256)), 0o644))
	}
}

// stripped takes all step files of the candidate away and lists them.
func stripped(vouch bool) func(t *testing.T, dir string, c *results.Campaign) {
	return func(t *testing.T, dir string, c *results.Campaign) {
		found, err := filepath.Glob(filepath.Join(dir, "blocks", "*", "on", "steps", "*"))
		require.NoError(t, err)
		require.NotEmpty(t, found)
		var names []string
		for _, path := range found {
			name, err := filepath.Rel(filepath.Join(dir, "blocks"), path)
			require.NoError(t, err)
			names = append(names, filepath.ToSlash(name))
		}
		if vouch {
			trial.LeaveOut(t, dir, names...)
			return
		}
		for _, path := range found {
			require.NoError(t, os.Remove(path))
		}
		list, err := json.Marshal(names)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "thinned.json"), list, 0o644))
	}
}

// exchanged swaps the folders of two runs, seals and all.
func exchanged(x, y string) func(t *testing.T, dir string, c *results.Campaign) {
	return func(t *testing.T, dir string, c *results.Campaign) {
		path := func(name string) string { return filepath.Join(dir, "blocks", filepath.FromSlash(name)) }
		require.NoError(t, os.Rename(path(x), path("aside")))
		require.NoError(t, os.Rename(path(y), path(x)))
		require.NoError(t, os.Rename(path("aside"), path(y)))
		ledger, err := os.ReadFile(results.LedgerPath(dir))
		require.NoError(t, err)
		entries, err := results.ReadLedger(results.LedgerPath(dir))
		require.NoError(t, err)
		var sums []string
		for _, e := range entries {
			if e.Event == results.EventRunEnd && (e.Key().String() == x || e.Key().String() == y) {
				sums = append(sums, e.SumsSHA256)
			}
		}
		require.Len(t, sums, 2)
		swap := strings.NewReplacer(sums[0], sums[1], sums[1], sums[0])
		require.NoError(t, os.WriteFile(results.LedgerPath(dir), []byte(swap.Replace(string(ledger))), 0o644))
	}
}

// moved moves the wall times of the first phase of 0002/on.
func moved(edit func(p *results.Phase)) func(t *testing.T, dir string, c *results.Campaign) {
	return inRun("0002/on", func(_ *results.Campaign, a *results.Attempt) { edit(&a.Run.Phases[0]) })
}

const work, recomputation, damaged = "INVALID(work differs)", "INVALID(recomputation differs)", "INVALID(damaged)"

// forgeries of a publication whose plan does not have the shapes.
var forgeries = []forgery{
	// The work.
	{"request twice in the candidate", inArm("on", doubled), work, "request 48 is there twice"},
	{"request twice in the baseline", inArm("off", doubled), work, "request 48 is there twice"},
	{"two outputs swapped", inArm("on", swapLengths(false)), "FAIL(reliability)", "ended early"},
	{"two lengths swapped", inArm("on", swapLengths(true)), work, "2 of 832 requests differ"},
	{"baseline asks for less", inArm("off", eachOf("wide", fewer)), work, "asks for"},
	{"candidate asks for less", inArm("on", eachOf("wide", fewer)), work, "asks for"},
	{"baseline has longer prompts", inArm("off", eachOf("wide", func(r *results.Request) { r.PromptTokens *= 2 })), work, "832 of 832 requests differ"},
	{"one run asks for less", inRun("0003/off", func(_ *results.Campaign, a *results.Attempt) {
		fewer(&a.Requests[500])
	}), work, "1 of 832 requests differ"},
	{"warm-up and timed swapped in the baseline", inArm("off", swapRoles), work, "request 92 is timed, and is planned to be warm-up"},

	// What run.json says.
	{"no time per token, told", inArm("on", inOneChunk), "INVALID(primary undefined)", "undefined for 64 of 640 requests"},
	{"no time per token, not told", func(t *testing.T, dir string, c *results.Campaign) {
		trial.Forge(t, dir, c, func(a *results.Attempt) bool {
			if a.Key.Arm == "on" && !a.BurnIn {
				inOneChunk(a)
				trial.Tell(a)
				a.Run.Phases[1].Undefined = nil
			}
			return a.Key.Arm == "on"
		})
	}, "INVALID(primary undefined)", "tpot_p50 is undefined for 0 requests in run.json, for 64 of the requests"},
	{"fewer streams", inRun("0002/on", func(_ *results.Campaign, a *results.Attempt) { a.Run.Phases[1].MeanLive = 70 }), recomputation, "mean_live is 70 in run.json"},
	{"more streams than there were", inRun("0002/on", fewerStreams), "INVALID(concurrency)", "mean_live is"},

	// Whose data they are.
	{"requests of two arms swapped", swapped("0002/off", "0002/on", false), recomputation, "the requests give"},
	{"records of two arms swapped", swapped("0002/off", "0002/on", true), recomputation, "of the run"},
	{"copy of its own arm", inRun("0005/on", copyOf("0002/on", 0)), damaged, "to the nanosecond"},
	{"copy of the baseline", inRun("0002/on", copyOf("0002/off", 0)), damaged, "832 of 832 requests of phase wide"},
	{"copy of another block, moved", inRun("0004/on", copyOf("0001/off", 123_456)), damaged, "as in 0001/off"},
	{"copy of a burn-in", inRun("0004/on", copyOf("burnin-1/off", 1)), damaged, "as in burnin-1/off"},
	{"copy in another order", inRun("0004/on", reordered), damaged, "as in 0001/off"},

	// The outputs.
	{"one token in all runs", inArm("", outputs(func(tokens [][]int) {
		for i := range tokens {
			tokens[i] = tokens[i][:1]
		}
	})), "INVALID(identity)", "answered with 1 token, 32 were asked for"},
	{"15 of 16 constant", inArm("", outputs(func(tokens [][]int) {
		for i := range tokens[1:] {
			tokens[i] = slices.Repeat([]int{7}, 32)
		}
	})), "INVALID(identity)", "only 2 of 16 differ from each other"},
	{"a constant for each prompt", inArm("", outputs(func(tokens [][]int) {
		for i := range tokens {
			tokens[i] = slices.Repeat([]int{i}, 32)
		}
	})), "INVALID(identity)", "only 0 of 16 have at least 4 distinct tokens"},
	{"one token of one prompt in one run", inRun("0002/on", func(_ *results.Campaign, a *results.Attempt) {
		outputs(func(tokens [][]int) { tokens[5][9]++ })(a)
	}), "FAIL(identity)", "0002/on against 0001/off: prompt 5 differs first at position 9"},
	{"all outputs of requests", inArm("on", timedOutputs), "FAIL(identity)", "of phase single differs in 6 of 6 runs of on"},
	{"all outputs of requests in one run", inRun("0003/on", func(_ *results.Campaign, a *results.Attempt) { timedOutputs(a) }),
		"INVALID(identity not reproduced)", "differs in 0003/on and in no other of 6 runs of on"},
	{"digests of the candidate removed", inArm("on", func(a *results.Attempt) {
		eachOf("single", func(r *results.Request) { r.OutputSHA256 = "" })(a)
	}), "FAIL(identity)", "of phase single differs in 6 of 6 runs of on"},

	// The plan, and what was left out.
	{"margin of 20 %, candidate 8 % slower", func(t *testing.T, dir string, c *results.Campaign) {
		inPlan(func(p *results.Plan) { p.Scenario.Gate.Margin = 0.2 })(t, dir, c)
		inArm("on", slower)(t, dir, c)
	}, damaged, "plan.json has the hash of plan c2cad3f7"},
	{"step files taken away and listed", stripped(false), damaged, "publishing did not write it"},
	{"the same with a word in the ledger", stripped(true), damaged, "leaves no run of arm on its step files"},
}

// outputs edits those of the identity pass.
func outputs(edit func(tokens [][]int)) func(a *results.Attempt) {
	return func(a *results.Attempt) {
		id := *a.Identity
		id.Tokens = slices.Clone(id.Tokens)
		for i := range id.Tokens {
			id.Tokens[i] = slices.Clone(id.Tokens[i])
		}
		edit(id.Tokens)
		a.Identity = &id
	}
}

// timedOutputs changes the digest of every request, timed or not.
func timedOutputs(a *results.Attempt) {
	for i := range a.Requests {
		a.Requests[i].OutputSHA256 = strings.Repeat("0", 64)
	}
}

// fewerStreams ends 120 requests early and leaves mean_live as it was.
func fewerStreams(c *results.Campaign, a *results.Attempt) {
	was := a.Run.Phases[1].MeanLive
	eachOf("wide", func(r *results.Request) {
		if r.Index >= 300 && r.Index < 420 {
			r.LastNS = r.FirstNS + (r.LastNS-r.FirstNS)/9
			r.EndNS, r.GapMaxNS, r.GapMedianNS, r.LongGaps = r.LastNS, 0, 0, nil
		}
	})(a)
	trial.Tell(a)
	a.Run.Phases[1].MeanLive = was
}

// reordered copies another run, and gives each request the times of its neighbour.
func reordered(c *results.Campaign, a *results.Attempt) {
	copyOf("0001/off", 5)(c, a)
	from := slices.Clone(a.Requests)
	for i := 24; i < len(from); i++ {
		x, y := &a.Requests[i], from[24+(i-23)%(len(from)-24)]
		x.IntendedNS, x.SentNS, x.FirstNS, x.LastNS, x.EndNS = y.IntendedNS, y.SentNS, y.FirstNS, y.LastNS, y.EndNS
		x.GapMaxNS, x.GapMedianNS, x.LongGaps = y.GapMaxNS, y.GapMedianNS, y.LongGaps
	}
}

// slower makes every token take 8 % longer.
func slower(a *results.Attempt) {
	for i := range a.Requests {
		r := &a.Requests[i]
		r.LastNS = r.FirstNS + (r.LastNS-r.FirstNS)*108/100
		r.EndNS = max(r.EndNS, r.LastNS)
	}
}

// smallForgeries are of a small campaign whose plan has the shapes.
var smallForgeries = []forgery{
	{"all runs ask for less", inArm("", eachOf("single", func(r *results.Request) { r.WantTokens, r.OutputTokens = 15, 15 })), work, "the lengths of prompts or of wanted outputs are others"},
	{"all prompts are longer", inArm("", eachOf("single", func(r *results.Request) { r.PromptTokens++ })), work, "the lengths of prompts or of wanted outputs are others"},
	{"warm-up and timed swapped everywhere", inArm("", eachOf("single", func(r *results.Request) { r.Warmup = r.Index == 3 })), work,
		"request 0 is timed, and is planned to be warm-up"},
	{"warm-up lost", inRun("0001/off", func(_ *results.Campaign, a *results.Attempt) { a.Requests = a.Requests[1:] }), work, "request 0 is missing"},

	{"undefined values that are none", inRun("0002/on", func(_ *results.Campaign, a *results.Attempt) {
		a.Run.Phases[0].Undefined = map[string]int{"tpot_p50": 1}
	}), recomputation,
		"tpot_p50 is undefined for 1 request in run.json, for 0 of the requests"},
	{"lateness in a closed loop", moved(func(p *results.Phase) { p.Client.SendLateP99 = 1e-9 }), recomputation, "send_late_p99_s is 1e-09 in run.json"},
	{"lateness of an open loop hidden", inRun("0002/on", func(c *results.Campaign, a *results.Attempt) {
		eachOf("arrivals", func(r *results.Request) { r.IntendedNS -= 5e6 })(a)
		trial.Tell(a)
	}), "INVALID(send late)", "send_late_p99_s is 0 in run.json, the requests give 0.005"},
	{"other counts", moved(func(p *results.Phase) { p.Failed = 3 }), recomputation, "failed is 3 in run.json"},
	{"timed part begins later", moved(func(p *results.Phase) { p.TimedStartNS += 2e9 }), recomputation,
		"the wall time of the first timed send in run.json is 2s from where the requests have it"},
	{"timed part ends earlier", moved(func(p *results.Phase) { p.TimedEndNS -= 2e9 }), recomputation, "the wall time of the last timed token"},
	{"phase before its run", moved(func(p *results.Phase) { p.WarmupStartNS -= 3e9 }), recomputation, "before the start of the run"},
	{"phase after its run", moved(func(p *results.Phase) { p.TimedEndNS += 36e11 }), recomputation, "after the end of the run"},
	{"run folders of two arms swapped", exchanged("0002/off", "0002/on"), "INVALID(damaged run)", "is the record of run"},

	{"token before its send", request(func(r *results.Request) { r.FirstNS = r.SentNS - 1 }), damaged, "request 8 has its first token 1ns before its send"},
	{"last token before the first", request(func(r *results.Request) { r.LastNS, r.GapMaxNS = r.FirstNS-5, 0 }), damaged, "has its last token 5ns before its first"},
	{"end before the last token", request(func(r *results.Request) { r.EndNS = r.LastNS - 1000 }), damaged, "ended 1µs before"},
	{"sent before its time", request(func(r *results.Request) { r.IntendedNS = r.SentNS + 7 }), damaged, "was sent 7ns before its time"},
	{"schedule in a closed loop", request(func(r *results.Request) { r.IntendedNS-- }), damaged, "of a closed loop was sent 1ns after its time"},
	{"before the run", request(func(r *results.Request) { r.IntendedNS = -1 }), damaged, "has a time before the run began"},
	{"success without an end", request(func(r *results.Request) { r.EndNS = 0 }), damaged, "succeeded without a time"},
	{"negative gap", request(func(r *results.Request) { r.GapMedianNS = -1 }), damaged, "negative gap"},
	{"median above the largest gap", request(func(r *results.Request) { r.GapMedianNS = r.GapMaxNS + 1 }), damaged, "and none above"},
	{"gap longer than its request", request(func(r *results.Request) { r.GapMaxNS = r.LastNS }), damaged, "has a gap of"},
	{"stall that is not listed", request(func(r *results.Request) { r.GapMaxNS = 6e7 }), damaged, "not in its list of long ones"},
	{"gap that ends before it begins", request(func(r *results.Request) { r.LongGaps = [][2]int64{{9, 8}} }), damaged, "ends 1ns before it begins"},

	{"wider margin", inPlan(func(p *results.Plan) { p.Scenario.Gate.Margin = 0.2 }), damaged, "plan.json has the hash of plan"},
	{"another seed", inPlan(func(p *results.Plan) { p.Scenario.Design.Seed++ }), damaged, "get the original back"},
	{"another workload", inPlan(func(p *results.Plan) { p.WorkloadSHA256 = strings.Repeat("0", 64) }), damaged, "get the original back"},
	{"another order", inPlan(func(p *results.Plan) { slices.Reverse(p.Blocks[1].Order) }), damaged, "get the original back"},
	{"a primary metric less", inPlan(func(p *results.Plan) { p.Scenario.Phases[1].Primary = p.Scenario.Phases[1].Primary[:1] }), damaged, "get the original back"},
	{"shapes taken out", inPlan(func(p *results.Plan) { p.ShapeSHA256 = nil }), damaged, "get the original back"},
}

// Whoever edits a campaign and seals it again gets no verdict for what can be computed
// or cannot have been measured. The copies differ from one that passes, also when it
// is sealed again, in nothing else.
func TestForgedCampaigns(t *testing.T) {
	t.Parallel()
	for _, of := range []struct {
		name      string
		dir       string
		forgeries []forgery
	}{
		{"published", trial.Unpack(t, "h200-r2"), forgeries},
		{"small", trial.New(t, 6).Write(t.TempDir()), smallForgeries},
	} {
		c := trial.Loaded(t, of.dir)
		honest := forgery{"nothing", inArm("", func(*results.Attempt) {}), "PASS", ""}
		for _, f := range append(of.forgeries, honest) {
			t.Run(of.name+"/"+f.name, func(t *testing.T) {
				t.Parallel()
				dir := filepath.Join(t.TempDir(), "copy")
				require.NoError(t, os.CopyFS(dir, os.DirFS(of.dir)))
				f.edit(t, dir, c)
				v := forms.Build(t, dir)
				assert.Equal(t, f.want, v.Headline(), v.Sentence)
				assert.Contains(t, everyFinding(v), f.say)
			})
		}
	}
}

// everyFinding is what speaks against the comparisons of a campaign, as text.
func everyFinding(v *view.View) string {
	var all []string
	for _, c := range v.Comparisons {
		for _, f := range slices.Concat(c.Invalid, c.Failed) {
			all = append(all, f.String())
		}
	}
	return strings.Join(all, "\n")
}
