package scenarios

// ArrivalKind says when the requests of a phase are sent.
type ArrivalKind string

// The kinds of arrival. All but ArrivalClosed send at intended times.
const (
	ArrivalClosed   ArrivalKind = "closed"   // one after the other in each stream
	ArrivalPoisson  ArrivalKind = "poisson"  // exponential gaps
	ArrivalConstant ArrivalKind = "constant" // equal gaps
	ArrivalGamma    ArrivalKind = "gamma"    // gamma gaps: burstier, or less, than poisson
	ArrivalTrace    ArrivalKind = "trace"    // the times of a trace
)

// SourceKind says where the requests of a phase come from.
type SourceKind string

// The kinds of source.
const (
	SourceSynthetic SourceKind = "synthetic" // drawn from distributions of lengths
	SourceTrace     SourceKind = "trace"     // the rows of a recorded trace
)

// DistKind names a distribution of token counts.
type DistKind string

// The distributions of token counts.
const (
	DistFixed     DistKind = "fixed"
	DistUniform   DistKind = "uniform"
	DistLognormal DistKind = "lognormal"
)

// Expectation is what is asked of the outputs of two arms.
type Expectation string

// The expectations. Without one, the arms' differences decide; see results/validity.
const (
	ExpectEqual  Expectation = "equal"  // a difference is a FAIL
	ExpectReport Expectation = "report" // differences are shown, and decide nothing
)
