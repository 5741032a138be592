package export

import "encoding/xml"

// The elements of JUnit XML as Jenkins, GitLab, Buildkite and GitHub's readers
// know them. There is no schema that all of them follow; these names are in
// every one. encoding/xml replaces what XML cannot hold.

type xmlSuites struct {
	XMLName xml.Name `xml:"testsuites"`
	Name    string   `xml:"name,attr"`
	xmlCounts
	Suites []xmlSuite `xml:"testsuite"`
}

type xmlCounts struct {
	Tests    int `xml:"tests,attr"`
	Failures int `xml:"failures,attr"`
	Errors   int `xml:"errors,attr"`
	Skipped  int `xml:"skipped,attr"`
}

type xmlSuite struct {
	Name      string `xml:"name,attr"`
	Timestamp string `xml:"timestamp,attr,omitempty"`
	xmlCounts
	Properties *xmlProperties `xml:"properties"`
	Cases      []xmlCase      `xml:"testcase"`
}

type xmlProperties struct {
	List []xmlProperty `xml:"property"`
}

type xmlProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

// xmlCase has at most one of Error, Failure and Skipped; none is a pass.
type xmlCase struct {
	Class      string         `xml:"classname,attr"`
	Name       string         `xml:"name,attr"`
	Properties *xmlProperties `xml:"properties"`
	Error      *xmlOutcome    `xml:"error"`
	Failure    *xmlOutcome    `xml:"failure"`
	Skipped    *xmlOutcome    `xml:"skipped"`
	Out        string         `xml:"system-out,omitempty"`
}

type xmlOutcome struct {
	Type    string `xml:"type,attr,omitempty"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

func (t *xmlCase) skip(why string) { t.Skipped = &xmlOutcome{Message: line(why)} }

// reason is why the case did not pass, nil if it did.
func (t *xmlCase) reason() *xmlOutcome {
	for _, o := range []*xmlOutcome{t.Error, t.Failure, t.Skipped} {
		if o != nil {
			return o
		}
	}
	return nil
}

// add counts a suite into the document.
func (d *xmlSuites) add(s xmlSuite) {
	for i := range s.Cases {
		s.Tests++
		switch t := &s.Cases[i]; {
		case t.Error != nil:
			s.Errors++
		case t.Failure != nil:
			s.Failures++
		case t.Skipped != nil:
			s.Skipped++
		}
	}
	d.Tests += s.Tests
	d.Failures += s.Failures
	d.Errors += s.Errors
	d.Skipped += s.Skipped
	d.Suites = append(d.Suites, s)
}

// properties makes a list of name, value, name, value; empty values are left out.
func properties(pairs ...string) *xmlProperties {
	var p xmlProperties
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			p.List = append(p.List, xmlProperty{pairs[i], line(pairs[i+1])})
		}
	}
	return &p
}
