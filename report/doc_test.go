package report_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/aituner/opprof/report/internal/forms"
	"github.com/aituner/opprof/report/internal/trial"
	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
	"github.com/aituner/opprof/results"
)

// row is one line of a table of doc.go.
type row struct {
	verdict stat.Verdict
	reason  view.Reason // "" where the table has "-"
	exit    int
	step    int // 0 where the table has "-"
}

// Reasons in the table that stand for many.
const (
	ruleOfRun  view.Reason = "rule of one run"
	ruleOfArms view.Reason = "rule of two arms"
)

// The reason has single spaces in it; between columns there is one after a reason
// that fills its own.
var tableRow = regexp.MustCompile(`(?m)^\t([A-Z]+) +(\S.*?) +(\d+) +(\d|-) +\S`)

// rowsOf reads the table below a heading.
func rowsOf(t *testing.T, doc, heading string) (rows []row) {
	t.Helper()
	_, section, found := strings.Cut(doc, "# "+heading+"\n")
	require.True(t, found, heading)
	section, _, _ = strings.Cut(section, "\n# ")
	for _, m := range tableRow.FindAllStringSubmatch(section, -1) {
		r := row{verdict: stat.Verdict(m[1]), reason: view.Reason(strings.TrimSuffix(m[2], "-"))}
		r.exit, _ = strconv.Atoi(m[3])
		r.step, _ = strconv.Atoi(m[4])
		rows = append(rows, r)
	}
	require.Len(t, rows, strings.Count(section, "\n\t")-1, "a line of the table is no row")
	return rows
}

// docText is the text of doc.go as go doc shows it.
func docText(t *testing.T) string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "doc.go", nil, parser.ParseComments)
	require.NoError(t, err)
	assert.Empty(t, f.Decls, "package report is documentation and nothing else")
	return f.Doc.Text()
}

// reasonsIn are the values of the constants of type Reason in a Go file.
func reasonsIn(t *testing.T, source string) (list []view.Reason) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "because.go", source, 0)
	require.NoError(t, err)
	constants := func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			typ, named := spec.Type.(*ast.Ident)
			require.True(t, named && typ.Name == "Reason", "a constant that is no Reason")
			text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			require.NoError(t, err)
			list = append(list, view.Reason(text))
		}
		return true
	}
	for _, d := range f.Decls {
		if group, ok := d.(*ast.GenDecl); ok && group.Tok == token.CONST {
			ast.Inspect(group, constants)
		}
	}
	return list
}

// withoutRow are reasons that the table lacks, withoutConstant what the table has and
// no constant says.
func withoutRow(rows []row, reasons []view.Reason) (withoutRow, withoutConstant []view.Reason) {
	for _, r := range reasons {
		if !slices.ContainsFunc(rows, func(x row) bool { return x.reason == r }) {
			withoutRow = append(withoutRow, r)
		}
	}
	known := append([]view.Reason{"", ruleOfRun, ruleOfArms}, reasons...)
	for _, x := range rows {
		if !slices.Contains(known, x.reason) {
			withoutConstant = append(withoutConstant, x.reason)
		}
	}
	return withoutRow, withoutConstant
}

// A reason that is added, renamed or dropped changes the table too.
func TestEveryReasonHasItsRow(t *testing.T) {
	source, err := os.ReadFile("view/because.go")
	require.NoError(t, err)
	rows := rowsOf(t, docText(t), "Results of a campaign")
	reasons := reasonsIn(t, string(source))
	require.Greater(t, len(reasons), 25)
	missing, unknown := withoutRow(rows, reasons)
	assert.Empty(t, missing, "no row in doc.go")
	assert.Empty(t, unknown, "no constant in view/because.go")
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	for _, r := range reasons {
		assert.Contains(t, string(readme), r, "a reader of reports looks it up in README.md")
	}
	for i, r := range rows {
		again := func(x row) bool { return x.verdict == r.verdict && x.reason == r.reason }
		assert.False(t, slices.ContainsFunc(rows[:i], again), "twice in doc.go: %v", r)
	}

	more := string(source) + "\nconst ReasonNew Reason = \"never heard of\"\n"
	missing, _ = withoutRow(rows, reasonsIn(t, more))
	assert.Equal(t, []view.Reason{"never heard of"}, missing)
	_, unknown = withoutRow(rows, reasons[1:])
	assert.Equal(t, reasons[:1], unknown)
}

// exits are the exit codes of everything that is no verdict of stat.
var exits = map[stat.Verdict]int{
	view.Unfinished: view.ExitUnfinished, view.Equal: view.ExitPass, view.Bias: view.ExitInvalid, view.Underpowered: view.ExitUnderpowered,
}

// wrongExits are the rows whose exit code is not that of the code.
func wrongExits(rows []row) (wrong []row) {
	for _, r := range rows {
		want, own := exits[r.verdict]
		if !own {
			want = view.ExitCodeOf(r.verdict)
		}
		if r.exit != want {
			wrong = append(wrong, r)
		}
	}
	return wrong
}

func TestExitCodesOfTheTables(t *testing.T) {
	doc := docText(t)
	for _, heading := range []string{"Results of a campaign", "Results of opbench aa"} {
		assert.Empty(t, wrongExits(rowsOf(t, doc, heading)), heading)
	}
	assert.Len(t, wrongExits([]row{{verdict: stat.Fail, exit: 11}, {verdict: view.Unfinished, exit: 12}, {verdict: stat.Pass}}), 2)
}

// misplaced are the rows below one that they outrank by stat.Overall. UNFINISHED is
// no verdict and ranks nowhere.
func misplaced(rows []row) (wrong []row) {
	rows = slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return r.verdict == view.Unfinished })
	for i, low := range rows {
		for _, high := range rows[:i] {
			if stat.Overall([]stat.Verdict{high.verdict, low.verdict}, stat.Conditions{}) != high.verdict {
				wrong = append(wrong, low)
				break
			}
		}
	}
	return wrong
}

func TestRowsOutrankThoseBelow(t *testing.T) {
	rows := rowsOf(t, docText(t), "Results of a campaign")
	assert.Empty(t, misplaced(rows))
	assert.True(t, slices.IsSortedFunc(ofVerdict(rows, stat.Invalid), func(a, b row) int { return a.step - b.step }))

	pass, fail := row{verdict: stat.Pass}, row{verdict: stat.Fail}
	assert.Equal(t, []row{fail}, misplaced([]row{pass, fail, pass}))
}

func ofVerdict(rows []row, v stat.Verdict) []row {
	return slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return r.verdict != v })
}

// A campaign in which much is wrong at once tells it in the order of the steps, and
// what comes first is its reason.
func TestFindingsComeInTheOrderOfTheSteps(t *testing.T) {
	t.Parallel()
	steps := map[view.Reason]int{"request failed": 0, "compile cache": 0}
	for _, r := range ofVerdict(rowsOf(t, docText(t), "Results of a campaign"), stat.Invalid) {
		steps[r.reason] = r.step
	}
	steps["request failed"], steps["compile cache"] = steps[ruleOfRun], steps[ruleOfArms]
	tr := trial.New(t, 6)
	tr.SameOrder, tr.Scenario.Gate.RequireAA, tr.Void = true, true, map[string]string{"0002": "noise"}
	tr.Edit = spoil
	tr.After = func(dir string) {
		trial.LedgerEntry(t, dir, results.Entry{Event: results.EventBlockValid, Block: "0002", Attempt: 1})
		trial.LedgerEntry(t, dir, results.Entry{Event: results.EventRunStart, Block: "0006", Attempt: 2, Arm: "on"})
	}
	v := forms.Build(t, tr.Write(t.TempDir()))
	var found []view.Reason
	for _, f := range v.Comparisons[0].Invalid {
		require.Contains(t, steps, f.Name)
		found = append(found, f.Name)
	}
	assert.True(t, slices.IsSortedFunc(found, func(a, b view.Reason) int { return steps[a] - steps[b] }), found)
	for _, want := range []view.Reason{
		view.ReasonExtension, view.ReasonTwoAccepted, view.ReasonOrder, view.ReasonSoftware, view.ReasonAAMissing, "request failed",
		view.ReasonRecomputation, "compile cache", view.ReasonUnbalanced, view.ReasonProbeLag,
	} {
		assert.Contains(t, found, want)
	}
	assert.True(t, v.Is(stat.Invalid, found[0]), v.Text)
}

// spoil puts something wrong into several runs.
func spoil(r *trial.Recorded) {
	switch r.Run.Key.String() {
	case "0001/off":
		r.Requests[3].Error = "reset"
	case "0003/on":
		r.Env.Driver = "580.1"
	case "0004/off":
		r.Run.Position = 1
	case "0005/on":
		r.Run.Phases[0].Metrics["tpot_p50"] *= 1.001
		r.Run.Server.Backends["compile_cache"] = "other"
	}
	if r.Run.Key.Arm == "on" {
		r.Run.Phases[0].Client.ProbeLagMean += (900 * time.Microsecond).Seconds()
	}
}

// Of an INVALID comparison only outputs and reliability are still a FAIL, and a FAIL
// of a metric outranks the INVALID of another one.
func TestFailBesideInvalid(t *testing.T) {
	for _, c := range []struct {
		want string
		edit func(*trial.Trial)
	}{
		{"INVALID(compile cache)", func(tr *trial.Trial) {
			tr.Effect["tpot"] = 0.2
			tr.Edit = trial.OnRun("0005/on", func(r *trial.Recorded) { r.Run.Server.Backends["compile_cache"] = "other" })
		}},
		{"FAIL(identity)", func(tr *trial.Trial) {
			tr.Effect["tpot"] = 0.2
			tr.Edit = func(r *trial.Recorded) {
				if r.Run.Key.String() == "0003/on" {
					r.Outputs.Tokens[1][1] = 7
					r.Run.Server.Backends["compile_cache"] = "other"
				}
			}
		}},
	} {
		t.Run(c.want, func(t *testing.T) {
			t.Parallel()
			tr := trial.New(t, 6)
			c.edit(tr)
			assert.Equal(t, c.want, forms.Build(t, tr.Write(t.TempDir())).Headline())
		})
	}
	other := []stat.Verdict{stat.Invalid, stat.Fail}
	assert.Equal(t, stat.Fail, stat.Overall(other, stat.Conditions{}))
}

// funcIn reports whether a file declares a function or type of that name.
func funcIn(path, name string) bool {
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		return false
	}
	found := false
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			found = found || d.Name.Name == name
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if typ, ok := s.(*ast.TypeSpec); ok {
					found = found || typ.Name.Name == name
				}
			}
		}
	}
	return found
}

var named = regexp.MustCompile(`(\w+)\s+\(([\w/]+\.go)\)`)

// notThere are the functions of a text that are not in the file beside them.
func notThere(text string) (wrong []string) {
	for _, m := range named.FindAllStringSubmatch(text, -1) {
		if !funcIn(m[2], m[1]) {
			wrong = append(wrong, fmt.Sprintf("%s (%s)", m[1], m[2]))
		}
	}
	return wrong
}

// The steps name functions that exist, where they exist.
func TestStepsNameWhatIsThere(t *testing.T) {
	doc := docText(t)
	require.Greater(t, len(named.FindAllString(doc, -1)), 20)
	assert.Empty(t, notThere(doc))
	assert.Equal(t, []string{"Biuld (judge/build.go)", "Build (judge/gone.go)"},
		notThere("Biuld (judge/build.go), Build (judge/gone.go), Build\n(judge/build.go)"))
}
