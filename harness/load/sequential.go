package load

import (
	"context"
	"fmt"

	"github.com/aituner/opprof/harness/workload"
	"github.com/aituner/opprof/results"
)

// Sequential sends requests one at a time over one connection and returns, in
// their order, the token ids and the records. It ends at the first request that
// fails: the returned error names it, and the slices hold what came before and,
// last, the failed one.
func Sequential(ctx context.Context, target Target, requests []workload.Request) ([][]int, []results.Request, error) {
	if err := target.check(); err != nil {
		return nil, nil, err
	}
	l := newLink(target)
	defer l.drop()
	tokens := make([][]int, 0, len(requests))
	records := make([]results.Request, 0, len(requests))
	for i, request := range requests {
		if err := ctx.Err(); err != nil {
			return tokens, records, fmt.Errorf("identity pass, before prompt %d: %w", i, context.Cause(ctx))
		}
		message := target.message(request)
		if err := l.ready(ctx); err != nil {
			return tokens, records, fmt.Errorf("identity pass, prompt %d: %w", i, err)
		}
		record := results.Request{Phase: workload.IdentityPhase, Index: request.Index,
			WantTokens: request.MaxTokens, CachedTokens: -1}
		s := l.exchange(ctx, target, message, &record)
		record.IntendedNS = record.SentNS
		tokens, records = append(tokens, s.tokens), append(records, record)
		if !record.OK() {
			return tokens, records, fmt.Errorf("identity pass, prompt %d: %s", i, record.Error)
		}
	}
	return tokens, records, nil
}
