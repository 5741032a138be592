// Command print prints how long each package of the module in this folder is and
// how much of it hangs together, for make house.
package main

import (
	"fmt"
	"os"

	"github.com/aituner/opprof/bench/internal/house"
)

func main() {
	all, err := house.Measure(".")
	if err != nil {
		fmt.Fprintln(os.Stderr, "house:", err)
		os.Exit(1)
	}
	fmt.Print(house.Table(all))
}
