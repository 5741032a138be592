package validity

import (
	"maps"
	"slices"
)

// recorderPresence: an arm records exactly if it says so.
func recorderPresence(s *subject) {
	st := s.run.Steps
	switch {
	case s.arm.Records() && (st == nil || len(st.Files) == 0):
		s.add(finding(ruleRecorderMissing, CauseRecorder, "arm %s records but left no step file; is the patch applied and its folder writable?", s.arm.Name))
	case s.arm.Records() && st.Records == 0:
		s.add(finding(ruleRecorderMissing, CauseRecorder, "arm %s records but its %s no record; look at the server's log", s.arm.Name, counted(len(st.Files), "step file holds", "step files hold")))
	case !s.arm.Records() && st != nil && (len(st.Files) > 0 || st.Records > 0):
		s.add(finding(ruleRecorderUnexpected, CauseHarness, "arm %s does not record but left %s; does its environment set the recorder's variable?", s.arm.Name, counted(len(st.Files), "step file", "step files")))
	}
}

// recorderRevision: the recorder that wrote is the one of the arm's patch, from
// the files that the link tree holds. Other engines have no patch.
func recorderRevision(s *subject) {
	st, srv := s.run.Steps, &s.run.Server
	if !s.arm.Records() || st == nil || st.Records == 0 || !srv.Engine.Capabilities().Patchable {
		return
	}
	if st.Revision != s.arm.Revision() {
		s.add(finding(ruleRecorderRevision, CauseHarness, "the step records are by %q, the arm's patch is %s; which tree did the server import?", st.Revision, s.arm.Patch))
	}
	for _, path := range slices.Sorted(maps.Keys(st.Blobs)) {
		if st.Blobs[path] != srv.Blobs[path] {
			s.add(finding(ruleRecorderRevision, CauseHarness, "the recorder imported %s as blob %.12s, the tree of %s has %.12s", path, st.Blobs[path], s.arm.Patch, srv.Blobs[path]))
		}
	}
}

// ruleOfCheck names the checks that have a rule of their own.
var ruleOfCheck = map[string]Rule{"torn-tail": ruleTornTail, "footer": ruleNoFooter}

// stepChecks: every correctness check of the step records holds. A warning is a
// footer that a normal stop above TP1 may lose.
func stepChecks(s *subject) {
	st := s.run.Steps
	if !s.arm.Records() || st == nil || len(st.Files) == 0 {
		return
	}
	if len(st.Checks) == 0 {
		s.add(finding(ruleStepCheck, CauseHarness, "the step records were not checked; repeat the block"))
	}
	for _, c := range st.Checks {
		if c.Failed == 0 || c.Warning {
			continue
		}
		rule := ruleOfCheck[c.ID]
		if rule == "" {
			rule = ruleStepCheck
		}
		s.add(finding(rule, CauseRecorder, "check %s failed %d of %s, the first is %s", c.ID, c.Failed, counted(int(max(c.Checked, c.Failed)), "time", "times"), c.First))
	}
}

func droppedRecords(s *subject) {
	if limit := int64(s.scenario.Design.MaxDropped); s.run.Steps != nil && s.run.Steps.Dropped > limit {
		s.add(finding(ruleDroppedRecords, CauseRecorder, "%s dropped, design.max_dropped allows %d; is the disk slow or full?", counted(int(s.run.Steps.Dropped), "step record was", "step records were"), limit))
	}
}
