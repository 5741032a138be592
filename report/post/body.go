package post

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aituner/opprof/report/render"
)

// Budgets in bytes. GitHub takes 65 536 characters in a comment or a check run
// and 1 MiB in a job's summary.
const (
	CommentBudget = 60_000
	SummaryBudget = 1_000_000
)

// fit joins sections up to a budget. Whole sections are left out, those first
// that matter least, and named at the end; the verdict always stays.
func fit(all []render.Section, link string, budget int) string {
	kept := slices.Clone(all)
	var out []string
	for size(kept, out, link) > budget {
		i := leastKept(kept)
		if i < 0 {
			break
		}
		if title := kept[i].Title; !slices.Contains(out, title) {
			out = append(out, title)
		}
		kept = slices.Delete(kept, i, i+1)
	}
	var b strings.Builder
	for _, s := range kept {
		b.WriteString(s.Text)
	}
	return b.String() + leftOut(out, link)
}

func size(kept []render.Section, out []string, link string) int {
	n := len(leftOut(out, link))
	for _, s := range kept {
		n += len(s.Text)
	}
	return n
}

// leastKept is the last of the sections of the lowest rank, or -1.
func leastKept(kept []render.Section) int {
	least := -1
	for i, s := range kept {
		if s.Keep > 0 && (least < 0 || s.Keep <= kept[least].Keep) {
			least = i
		}
	}
	return least
}

func leftOut(titles []string, link string) string {
	if len(titles) == 0 {
		return ""
	}
	where := "report.html of the run directory"
	if link != "" {
		where = fmt.Sprintf("[the job](%s)", link)
	}
	return fmt.Sprintf("\n_Left out to keep this short: %s. The whole report: %s._\n", strings.Join(titles, "; "), where)
}

// Comment is the body of the pull request's comment, at most CommentBudget bytes:
// the report, where it is from, and last the mark.
func (r Result) Comment(t Target) string { return r.comment(t, CommentBudget) }

func (r Result) comment(t Target, budget int) string {
	link := safeLink(r.Link)
	foot := "\n" + r.origin(t, link)
	mark := mark{Key: r.Key, Order: r.Order, SHA: t.SHA, Plan: r.View.Subject.PlanHash}
	room := budget - len(foot) - markRoom
	body := fit(render.Sections(r.View), link, room) + foot
	return body + mark.seal(body)
}

// origin says which commit was measured and where.
func (r Result) origin(t Target, link string) string {
	var parts []string
	if t.SHA != "" {
		parts = append(parts, fmt.Sprintf("measured at `%.12s`", t.SHA))
	}
	if !r.Order.End.IsZero() {
		parts = append(parts, "ended "+r.Order.End.UTC().Format("2006-01-02 15:04 MST"))
	}
	if link != "" {
		parts = append(parts, fmt.Sprintf("[job](%s)", link))
	}
	if len(parts) == 0 {
		return ""
	}
	return "<sub>" + strings.Join(parts, " · ") + "</sub>\n"
}
