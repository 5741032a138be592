package results

import "slices"

// Sent says whether a timed request of an aborted run had been sent.
type Sent string

// What is known of the timed requests of an aborted run. What is not known may have
// been sent, and so do all that an older ledger says nothing of.
const (
	SentYes     Sent = "yes"
	SentNo      Sent = "no"
	SentUnknown Sent = "unknown" // the harness was killed before it wrote any of them
)

// SealAborted seals what a run that was aborted left in its folder, as Seal does, and
// says whether it sent a timed request. A run that was stopped in an orderly way has all
// of its records; one whose harness was killed has those of the phases that had ended.
func SealAborted(dir string) (sums string, timed Sent, err error) {
	timed = timedSent(folder(dir))
	sums, err = Seal(dir)
	return sums, timed, err
}

func timedSent(f files) Sent {
	var a Attempt
	if err := readRun(f, &a); err != nil {
		return SentUnknown
	}
	for _, p := range a.Run.Phases {
		if slices.ContainsFunc(a.Requests, func(r Request) bool { return r.Phase == p.Name && !r.Warmup && r.SentNS > 0 }) {
			return SentYes
		}
	}
	if a.Run.End.IsZero() {
		return SentUnknown
	}
	return SentNo
}
