package evidence

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"

	"github.com/aituner/opprof/report/view"
)

// Said is what a campaign's verdict.json says, or why it says nothing.
type Said struct {
	view.Result
	Problem string
}

// String is the result, or the problem.
func (s Said) String() string {
	if s.Problem != "" {
		return s.Problem
	}
	return s.Text
}

// SaidBy is the result of a view.
func SaidBy(v *view.View) Said {
	if !v.Finished {
		return Said{Problem: v.Headline()}
	}
	return Said{Result: v.Result}
}

// Saved reads the result in a verdict.json of schema 1 or 2.
func Saved(path string) Said {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Said{Problem: "no verdict saved"}
	}
	var v struct {
		Schema   int    `json:"schema"`
		Kind     string `json:"kind"`
		Finished bool   `json:"finished"`
		view.Result
	}
	unreadable := err != nil || json.Unmarshal(data, &v) != nil || v.Kind != "verdict"
	switch {
	case !unreadable && v.Schema == 1 && v.Text != "": // it has the reason in the text only
		return Said{Result: view.Result{Verdict: v.Verdict, Text: v.Text}}
	case unreadable || v.Schema != view.VerdictSchema || v.Finished && v.Verdict == "":
		return Said{Problem: "verdict.json is not readable"}
	case !v.Finished:
		return Said{Problem: view.Unfinished}
	}
	return Said{Result: view.NewResult(v.Verdict, v.Reason)}
}
