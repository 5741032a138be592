package bench

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aituner/opprof/report/page"
	"github.com/aituner/opprof/report/post"
)

// postFlags are what to post, where, and what of it may fail.
type postFlags struct {
	repo, sha, key, author, api, link string
	pr                                int

	comment, check, status, summary bool
	dry, failOnError                bool
	open                            leniency
}

func (a *app) postCommand() *cobra.Command {
	var f postFlags
	c := &cobra.Command{
		Use: "post DIR", Short: "Post a verdict to a pull request: comment, check run, commit status, job summary",
		Long: `post saves the report into DIR (verdict.json, report.md, report.html), then posts
it. The comment of a scenario is made once and edited afterwards; an older
campaign never replaces a newer one. Nothing is posted as a comment if SHA is not
the pull request's head.

In a GitHub Actions job everything is taken from GITHUB_* and the event:
repository, number, head commit, link. GITHUB_TOKEN is the token. Without one of
--comment, --check, --status and --summary it posts all that it knows a place for.
A check run that the token has no right to becomes a commit status. INCONCLUSIVE
fails a check unless --inconclusive=pass. FAIL metrics become annotations.

The pull request of a fork has a token that may only read: the summary is written,
the rest has to come from a second workflow (.github/workflows/bench-post.yml).

Exit codes: the verdict's, as opbench gate gives it, whatever becomes of the
posting: 0 PASS, 10 FAIL, 11 INCONCLUSIVE, 12 INVALID, 14 not finished. 2 for a
wrong command or a folder that is no run directory, 13 if DIR can't be written.
With --fail-on-post-error also 13 if something could not be posted, whatever the
verdict: for a job that only posts.`,
		Example: "opbench post --repo owner/name --pr 7 --sha $(git rev-parse HEAD) --comment --dry-run results/campaigns/vllm-cpu-r1",
		Args:    usage(cobra.ExactArgs(1)),
		RunE:    func(_ *cobra.Command, args []string) error { return a.post(args[0], f) },
	}
	c.Flags().StringVar(&f.repo, "repo", "", "repository, OWNER/NAME (default: GITHUB_REPOSITORY)")
	c.Flags().IntVar(&f.pr, "pr", 0, "number of the pull request (default: from the event)")
	c.Flags().StringVar(&f.sha, "sha", "", "commit that was measured (default: the head in the event, else GITHUB_SHA)")
	c.Flags().BoolVar(&f.comment, "comment", false, "post or edit the comment of this scenario")
	c.Flags().BoolVar(&f.check, "check", false, "set the check run of this scenario; a commit status where that is forbidden")
	c.Flags().BoolVar(&f.status, "status", false, "set the commit status of this scenario")
	c.Flags().BoolVar(&f.summary, "summary", false, "append to the job's summary (GITHUB_STEP_SUMMARY)")
	c.Flags().StringVar(&f.key, "key", "", "what tells this result from others of the same pull request (default: the scenario's name)")
	c.Flags().StringVar(&f.author, "author", "", "login that owns the token (default: asked for; github-actions[bot] in a job)")
	c.Flags().StringVar(&f.api, "api-url", "", "API of GitHub Enterprise (default: GITHUB_API_URL, else github.com)")
	c.Flags().StringVar(&f.link, "link", "", "address of the whole report (default: the job)")
	c.Flags().BoolVar(&f.dry, "dry-run", false, "print the comment; save and post nothing")
	c.Flags().BoolVar(&f.failOnError, "fail-on-post-error", false, "exit code 13 if something could not be posted, whatever the verdict")
	f.open.bind(c)
	return c
}

// post gives the verdict of a run directory as gate does, and tells GitHub.
func (a *app) post(dir string, f postFlags) error {
	campaign, v, err := a.judge(dir)
	if err != nil {
		return err
	}
	target, result, err := a.address(&f, campaign, v)
	if err != nil {
		return usageError(err)
	}
	if f.dry {
		if _, err := fmt.Fprint(a.stdout, result.Comment(target)); err != nil {
			return err
		}
		return a.lenient(f.open, exitWith(v.ExitCode))
	}
	if err := page.Save(dir, v); err != nil { // first: what follows depends on a network
		return infrastructureError(err)
	}
	// One line: a line of a run's text must not become a workflow command.
	if _, err := fmt.Fprintf(a.stdout, "%s  %s\n", v.Headline(), strings.Join(strings.Fields(v.Sentence), " ")); err != nil {
		return err
	}
	failed := a.postAll(f, target, result)
	if failed != nil {
		fmt.Fprintf(a.stderr, "opbench: not everything was posted, the verdict stands:\n%v\n", failed)
	}
	if failed != nil && f.failOnError {
		return exitWith(exitInfrastructure)
	}
	return a.lenient(f.open, exitWith(v.ExitCode))
}

// postAll tries everything that was asked for; one failure does not stop the next.
func (a *app) postAll(f postFlags, t post.Target, r post.Result) error {
	var failed []error
	if f.summary {
		failed = append(failed, r.Summary(a.variable("GITHUB_STEP_SUMMARY")))
	}
	if path := a.variable("GITHUB_OUTPUT"); path != "" {
		failed = append(failed, r.Output(path))
	}
	if a.variable("GITHUB_ACTIONS") == "true" {
		failed = append(failed, r.Annotate(a.stdout))
	}
	if f.comment || f.check || f.status {
		failed = append(failed, a.postToGitHub(f, t, r)...)
	}
	return errors.Join(failed...)
}

// postToGitHub does what needs a token.
func (a *app) postToGitHub(f postFlags, t post.Target, r post.Result) (failed []error) {
	ctx, cancel := a.interruptible()
	defer cancel()
	say := func(format string, args ...any) { fmt.Fprintf(a.stderr, format+"\n", args...) }
	g, err := post.New(post.GitHub{API: f.api, Token: a.variable("GITHUB_TOKEN"), Author: f.author, Sleep: a.sleep, Log: say})
	if err != nil {
		return []error{err}
	}
	do := func(what string, step func(context.Context, post.Target, post.Result) (post.Outcome, error)) error {
		out, err := step(ctx, t, r)
		if err == nil {
			say("%s %s %s", what, out.Did, out.URL)
		}
		return err
	}
	if f.comment {
		failed = append(failed, do("comment", g.Comment))
	}
	if f.check {
		err := do("check run", g.Check)
		if errors.Is(err, post.ErrNoCheckRuns) {
			say("%v; a commit status instead", err)
			f.status, err = true, nil
		}
		failed = append(failed, err)
	}
	if f.status {
		failed = append(failed, do("commit status", g.Status))
	}
	return failed
}
