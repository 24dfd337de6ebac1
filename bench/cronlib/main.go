// Command cronlib holds app/cron to netresearch/go-cron in UTC: all fields of
// both dialects, L, W and # too. It is a module of its own, so that the library
// stays out of the program's dependencies. The one Go library that counts
// weekdays as Quartz does, reugn/go-quartz, is no help: "6/3 20-43 * ? * THU"
// after 1991-07-25T23:58:40Z is a Friday there. From this folder:
//
//	go run . -n 100000
//
// It exits with 1 at the first difference that no rule of rules.go explains.
package main

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"time"
)

func main() {
	n := flag.Int("n", 100_000, "random expressions")
	seed := flag.Uint64("seed", 2026, "seed of the expressions")
	flag.Parse()
	w := writer{rand.New(rand.NewPCG(*seed, 1))}
	told, same := map[string]int{}, 0
	for range *n {
		x := w.expression()
		from := time.Unix(w.Int64N(60*365*86400)+631152000, 0).UTC() // 1990 to 2049
		why, err := x.compare(from)
		if err != nil {
			fmt.Printf("%q after %s: %v\n", x.text(), from.Format(time.RFC3339), err)
			os.Exit(1)
		}
		if why == "" {
			same++
			continue
		}
		told[why]++
	}
	fmt.Printf("%d expressions, %d the same; the others by rule:\n", *n, same)
	for _, why := range slices.Sorted(maps.Keys(told)) {
		fmt.Printf("%8d  %s\n", told[why], why)
	}
	if same < *n*3/4 {
		fmt.Println("too few expressions say anything")
		os.Exit(1)
	}
}
