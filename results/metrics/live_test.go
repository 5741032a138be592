package metrics

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/aituner/opprof/results"
)

// Warm-up requests are in flight like others and bound nothing. What is live after
// the last send counts only where the drain does.
func TestMeanLiveByHand(t *testing.T) {
	requests := []results.Request{
		{SentNS: 10, EndNS: 30, Warmup: true}, {SentNS: 20, LastNS: 39, EndNS: 40}, {SentNS: 60, LastNS: 80, EndNS: 90}, {Error: "not sent"},
	}
	assert.Equal(t, []Window{{First: 20, LastSend: 60, LastToken: 80, End: 90}}, Windows(requests))
	assert.InDelta(t, 30.0/40, MeanLive(requests), 1e-12)
	assert.InDelta(t, 50.0/60, MeanLiveWithDrain(requests), 1e-12)
	assert.Equal(t, 2.0, MeanLive(requests[:2]), "one instant: the warm-up is in flight")
	assert.Equal(t, 0.0, MeanLive(requests[:1]))
	assert.Equal(t, 0.0, MeanLiveWithDrain([]results.Request{{SentNS: 5, Error: "no token"}}), "it ended at once")
}

// The times between the slices of an interleaved phase belong to other arms.
func TestMeanLiveOfSlices(t *testing.T) {
	requests := []results.Request{
		{Slice: 1, SentNS: 10, LastNS: 20, EndNS: 20}, {Slice: 1, SentNS: 20, LastNS: 30, EndNS: 30},
		{Slice: 2, SentNS: 1000, LastNS: 1030, EndNS: 1040}, {Slice: 2, SentNS: 1020, LastNS: 1040, EndNS: 1040},
	}
	assert.Len(t, Windows(requests), 2)
	assert.InDelta(t, 1.0, MeanLive(requests), 1e-12, "10 ns of one request, 20 of one")
	assert.InDelta(t, (10+10+40+20)/60.0, MeanLiveWithDrain(requests), 1e-12)
}

// An open loop's client is late against the schedule, of timed requests only.
func TestSendLatenessByHand(t *testing.T) {
	requests := []results.Request{{IntendedNS: 1, SentNS: 9e9, Warmup: true}, {IntendedNS: 5}}
	assert.Equal(t, 0.0, SendLateP99(requests))
	for late := range int64(101) {
		requests = append(requests, results.Request{IntendedNS: 100, SentNS: 100 + late*1e6})
	}
	assert.InDelta(t, 0.099, SendLateP99(requests), 1e-12)
}
