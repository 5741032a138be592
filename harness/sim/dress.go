package sim

import (
	"bytes"
	"net/http"
	"time"
)

// send writes the chunk in the form that the faults ask for. False: the client
// is gone.
func (a *answer) send() bool {
	out := a.engine.faults.dress(a.buf)
	if cut := a.cut(len(out)); cut > 0 {
		if _, err := a.w.Write(out[:cut]); err != nil || a.flush.Flush() != nil {
			return false
		}
		time.Sleep(time.Microsecond) // the reader gets the first part alone
		out = out[cut:]
	}
	_, err := a.w.Write(out)
	return err == nil && a.flush.Flush() == nil
}

// cut is where the fault split-events splits a write of n bytes; 0: nowhere.
// The two factors have nothing in common, so that few requests reach all places.
func (a *answer) cut(n int) int {
	if !a.engine.faults.has(faultSplitEvents) {
		return 0
	}
	return (int(a.q.number)*31 + a.sent*17) % n
}

// breakOff commits the faults that leave a response half way.
func (a *answer) breakOff() {
	if a.sent < a.req.limit/2 {
		return
	}
	if a.strikes(faultCutBody) {
		panic(http.ErrAbortHandler)
	}
	if a.strikes(faultStalledStream) {
		a.engine.hang(a.r)
	}
}

// dress changes the form of events, not what they say: whatever reads by the
// standard gets the same data.
func (f *Faults) dress(events []byte) []byte {
	if f.has(faultMultiLine) { // a comma between two members: JSON allows a line end
		events = bytes.ReplaceAll(events, []byte(`,"object"`), []byte(",\ndata: \"object\""))
	}
	if f.has(faultComments) {
		events = bytes.ReplaceAll(append([]byte("\n\n"), events...), []byte("\n\ndata"),
			[]byte("\n\n: ping\n\n:\nevent: message\nid: 7\nretry: 3000\ndata"))[2:]
	}
	if f.has(faultNoSpace) {
		events = bytes.ReplaceAll(append([]byte("\n"), events...), []byte("\ndata: "), []byte("\ndata:"))[1:]
	}
	if f.has(faultCRLF) {
		events = bytes.ReplaceAll(events, []byte("\n"), []byte("\r\n"))
	}
	return events
}
