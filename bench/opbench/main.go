// Command opbench decides, with a stated error rate, whether a vLLM with the
// OpProf recorder serves slower than without it, and by how much. Package bench
// holds all of it.
package main

import (
	"os"

	"github.com/aituner/opprof/bench"
)

func main() { os.Exit(bench.Main()) }
