// Package report says what a campaign means. It holds this text and nothing else; its
// rooms are view (the report as data), judge (from a run directory to a view), sizing,
// revisions, render, page, and beside them stat, publish, export and post.
//
// # The steps of a verdict
//
// Build (judge/build.go) takes these steps. Each takes values and returns what it
// found; nothing that the harness concluded is believed. A finding is a reason with
// what was seen, and where.
//
//  1. Ask. ask (judge/build.go) reads the campaign: results.Load
//     computes the hash of the plan again and looks whether publishing left out what
//     thinned.json says, level (judge/build.go) gives the one-sided error of each bound,
//     Examine (judge/accept/examine.go) computes the numbers, step summaries and rules
//     of every run again, checkStamps (judge/accept/stamps.go) and checkCopies
//     (judge/accept/copies.go) ask whether they were measured at all, Selection
//     (judge/accept/selection.go) asks whether runs may have been chosen, FindNearby
//     (judge/evidence/neighbours.go) looks for other campaigns beside it, CheckPilot
//     (judge/accept/pilot.go) does a control's pilot again.
//  2. Accept. Blocks (judge/accept/accepted.go) takes the accepted attempt of every
//     planned block, separateHosts (judge/accept/hostgroups.go) groups them by host.
//  3. The campaign as a whole. countBlocks (judge/build.go) counts them, requireAA
//     (judge/requireaa.go) asks for the A/A that the scenario requires, checkLooks
//     (judge/looks.go) judges the looks before the last one again.
//  4. Compare, the runs. compare (judge/comparison.go) takes each pair of arms by
//     itself, with all that was found so far; examineRuns (judge/comparison.go) adds
//     what speaks against an accepted run.
//  5. Compare, the arms. examinePair (judge/comparison.go) applies the rules of two
//     arms, compares their outputs, those of the timed requests in timedOutputs
//     (judge/outputs.go), and asks whether only the candidate breaks.
//  6. Compare, the effects. After checkBalance (judge/comparison.go) and probeLag
//     (judge/lag.go) every metric gets its interval and, if it is primary, a verdict:
//     metric (judge/metric.go), by Analyze (stat/estimate.go) and Judge
//     (stat/verdict.go), which putBack (judge/worst.go) holds to the attempts that do
//     not count. Then bias (judge/order.go) for equal arms and stalls
//     (judge/stalls.go). What the order of runs, growth and CPU time show decides
//     nothing. A correctness campaign has no effects.
//  7. Settle. settle (judge/settle.go) joins the metrics and the findings of a
//     comparison by Overall (stat/verdict.go); settleControl (judge/control.go) turns
//     the rule around for a positive control. Adjust (judge/rates/adjust.go) keeps the
//     FAIL of all metrics of all comparisons together at the error of one interval:
//     where none holds, they stay FAIL(unadjusted) and the campaign is INCONCLUSIVE.
//  8. Conclude. conclude (judge/conclude.go) joins the comparisons that count and
//     gives result, exit code, sentence and advice; earlyStop (judge/conclude.go)
//     refuses an end at a look that did not decide.
//
// Evidence stands beside these steps: describe (judge/build.go) puts together what
// package judge/evidence says of runs, machines, recorders and plots. Of all that only
// the required A/A bears on the verdict.
//
// # Results of a campaign
//
// Result (view/result.go) is a verdict with a reason, ExitCodeOf (view/result.go) its
// exit code, and "-" stands for no reason. step is the one above that finds it. A row
// outranks those below it:
//
//	verdict       reason                  exit  step  when
//	FAIL          identity                10    5     the candidate's outputs differ
//	FAIL          reliability             10    5     only the candidate breaks
//	FAIL          -                       10    7     a primary metric: lower bound above the margin, adjusted
//	FAIL          not sensitive           10    7     positive control: a metric that was reached passes
//	INVALID       damaged                 12    1     not what was planned or left out; or, step 4, not measured so
//	INVALID       selection               12    1     too many repeats, or a void attempt that nothing shows
//	INVALID       extension               12    1     measured beyond the closed plan
//	INVALID       pilot differs           12    1     the plan's pilot is not what its runs give
//	INVALID       two accepted attempts   12    2     of one block
//	INVALID       incomplete block        12    2     accepted without a run of some arm
//	INVALID       order differs from plan 12    2     servers started in another order
//	INVALID       block spans hosts       12    2     runs of one block in two host groups
//	INVALID       software differs        12    2     versions, driver or GPU model between runs
//	INVALID       host group too small    12    2     blocks alone on a host, too few are left
//	INVALID       valid blocks missing    12    3     or, step 8, stopped at a look that did not decide
//	INVALID       A/A failed              12    3     the required one is INVALID or a FAIL
//	INVALID       A/A missing             12    3     no required one, or it does not fit
//	INVALID       look unplanned          12    3     the ledger has a look that the plan lacks
//	INVALID       look ignored            12    3     it would have decided, and the campaign went on
//	INVALID       look missing            12    3     a planned look is not in the ledger
//	INVALID       rule of one run         12    4     results/validity, in an accepted run
//	INVALID       damaged run             12    4     files are not what was sealed; it stands first as damaged does
//	INVALID       step files unreadable   12    4     of an accepted run
//	INVALID       recomputation differs   12    4     run.json says what its data do not give
//	INVALID       rule of two arms        12    5     results/validity, between the arms
//	INVALID       unbalanced order        12    6     one arm ran first too often
//	INVALID       probe lag               12    6     the client was later in one arm
//	INVALID       bias                    12    6     equal arms differ
//	INVALID       value missing           12    7     a primary metric: a run has no value
//	INVALID       zero variance           12    7     a primary metric: all effects are the same
//	INVALID       not analysable          12    7     a primary metric: no interval exists
//	INVALID       too few blocks          12    7     a primary metric: fewer than six
//	INVALID       control not applied     12    7     positive control: it reached no primary metric
//	INVALID       -                       12    8     no comparison counts
//	INCONCLUSIVE  selection               11    6     metrics hang on attempts that were aborted or void
//	INCONCLUSIVE  outputs in batch        11    7     timed outputs differ more between the arms than within the baseline
//	INCONCLUSIVE  unadjusted              11    7     metrics fail, none of them among so many
//	INCONCLUSIVE  -                       11    6     a primary metric: margin between the bounds
//	INCONCLUSIVE  stalls                  11    7     all metrics pass, the candidate stalls more often
//	INCONCLUSIVE  A/A                     11    8     PASS, but the required A/A is INCONCLUSIVE
//	INCONCLUSIVE  control                 11    7     positive control: a phase in which no metric caught it
//	PASS          control                 0     7     positive control: caught in every phase, no metric passes
//	PASS          checks                  0     7     correctness: all checks hold, no effects
//	PASS          -                       0     7     every primary metric: upper bound below the margin
//	UNFINISHED    -                       14    8     no verdict yet, and no effect is shown
//
// Of INVALID rows with one step the finding of the earlier block, run or metric stands
// first; damaged and damaged run stand before all others, then selection. A finding of
// steps 1 to 6 takes the verdict from all metrics of the comparison: FAIL of a metric,
// and FAIL(not sensitive), outrank only the INVALID of another metric. Comparisons are
// joined by their verdicts alone; the first one in the plan with the worst says why.
//
// # Results of opbench aa
//
// JudgeAA (sizing/aa.go) judges equal arms. concludePair (sizing/aaresult.go) joins
// their metrics, concludeAA (sizing/aaresult.go) the comparisons:
//
//	verdict       reason                  exit  step  when
//	INVALID       any of the above        12    -     of FAIL and INVALID, but for bias
//	BIAS          -                       12    -     equal arms differ in a primary metric
//	UNDERPOWERED  -                       12    -     too noisy to show equality
//	INCONCLUSIVE  selection               11    -     equality hangs on attempts that were aborted or void
//	INCONCLUSIVE  outputs in batch        11    -     all are equal, timed outputs of the arms are not
//	INCONCLUSIVE  stalls                  11    -     all are equal, one arm stalls more often
//	EQUAL         -                       0     -     every interval lies within the margin on both sides
//	UNFINISHED    -                       14    -     no statement yet
//
// # Results of opbench power and opbench compare
//
// concludePower (sizing/powerresult.go) says of a table of plans ENOUGH, exit code 0, or
// UNDERPOWERED, 12. CompareArms (revisions/compare.go) and CompareCampaigns
// (revisions/compare.go) decide nothing: compare ends with 0, with 12 if a campaign is
// INVALID, with 14 if one is not finished.
package report
