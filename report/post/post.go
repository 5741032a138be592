// Package post puts a verdict where people look for it: a comment on a pull
// request, a check run, a commit status, the summary of a GitHub Actions job.
//
// Everything that is posted says to which campaign it belongs, so an older run
// never replaces a newer one, and posting the same thing twice changes nothing.
// Nothing here reads the environment, and no clock but the one that it is given.
package post

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/aituner/opprof/report/stat"
	"github.com/aituner/opprof/report/view"
)

// Target is where a result belongs.
type Target struct {
	Owner, Repo string
	PR          int    // number of the pull request; 0: none
	SHA         string // commit that was measured: the head of the pull request
}

// ParseRepository reads "owner/name".
func ParseRepository(text string) (owner, repo string, err error) {
	owner, repo, found := strings.Cut(text, "/")
	if !found || owner == "" || repo == "" || strings.ContainsAny(text, " \t\n?#%\\") || strings.Contains(repo, "/") {
		return "", "", fmt.Errorf("repository %q: want OWNER/NAME", text)
	}
	return owner, repo, nil
}

func (t Target) String() string { return fmt.Sprintf("%s/%s", t.Owner, t.Repo) }

// Result is what is posted.
type Result struct {
	View *view.View
	// Key tells the results of one pull request apart: one comment, one check run
	// for each. Usually the name of the scenario.
	Key   string
	Order Order
	// Link leads to the whole report or the job that made it; "" for none.
	Link string
	// Lenient lets INCONCLUSIVE count as success.
	Lenient bool
}

// Order says which of two results is newer.
type Order struct {
	End     time.Time `json:"end"`     // of the campaign, by its ledger
	Run     int64     `json:"run"`     // of the workflow that measured; 0 outside of one
	Attempt int       `json:"attempt"` // of that workflow run
}

// After reports whether o is newer than p.
func (o Order) After(p Order) bool {
	if a, b := o.End.Unix(), p.End.Unix(); a != b {
		return a > b
	}
	if o.Run != p.Run {
		return o.Run > p.Run
	}
	return o.Attempt > p.Attempt
}

// String is the order as it stands in a check run or status, in whole seconds.
func (o Order) String() string {
	return fmt.Sprintf("%s/%d.%d", o.End.UTC().Format(time.RFC3339), o.Run, o.Attempt)
}

// parseOrder reads the form of String; ok is false for anything else.
func parseOrder(text string) (o Order, ok bool) {
	end, run, found := strings.Cut(text, "/")
	if !found {
		return Order{}, false
	}
	var err error
	if o.End, err = time.Parse(time.RFC3339, end); err != nil {
		return Order{}, false
	}
	n, err := fmt.Sscanf(run, "%d.%d", &o.Run, &o.Attempt)
	return o, err == nil && n == 2 && o.String() == text
}

// Outcome says what became of one thing to post.
type Outcome struct {
	Did string // created, updated, unchanged, or why nothing was done
	URL string
}

// passes reports whether a required check may let the result through.
func (r Result) passes() bool {
	return r.View.Verdict == stat.Pass || r.View.Verdict == stat.Inconclusive && r.Lenient
}

// title is the first line of a check run.
func (r Result) title() string {
	title := r.result()
	if r.View.Reason != "" && !r.passes() {
		title += ": " + r.View.Sentence
	}
	return cut(title, longestTitle)
}

// longestTitle of a check run, in characters: GitHub shows one line.
const longestTitle = 250

// result is the verdict with what the caller makes of it.
func (r Result) result() string {
	title := r.View.Headline()
	if r.View.Verdict == stat.Inconclusive && r.Lenient {
		title += " (counts as passed)"
	}
	return title
}

// safeLink is a web address without what could end a Markdown link, or "".
func safeLink(link string) string {
	u, err := url.Parse(link)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || strings.ContainsAny(link, "()<>[] \"'`|\\\r\n\t") {
		return ""
	}
	return link
}

// sleep waits for a duration or the end of the context.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// cut is a text in one line of at most n characters, without control characters.
func cut(s string, n int) string {
	s = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || unicode.Is(unicode.Cf, c) {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(s, "?"))
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
