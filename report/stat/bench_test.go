package stat

import "testing"

func benchmarkExact(b *testing.B, n int) {
	d := aircond[:n]
	for b.Loop() {
		if _, err := bootstrapT(d, .95, 0); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBootstrapTExact10(b *testing.B) { benchmarkExact(b, 10) }
func BenchmarkBootstrapTExact12(b *testing.B) { benchmarkExact(b, 12) }

func BenchmarkAnalyze12(b *testing.B) {
	for b.Loop() {
		if _, err := Analyze(aircond, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBootstrapTMonteCarlo20(b *testing.B) {
	for b.Loop() {
		if _, err := bootstrapT(cd4Year, .95, 1); err != nil {
			b.Fatal(err)
		}
	}
}
