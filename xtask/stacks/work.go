// Goroutines with trees, maps and text, and the work of the garbage collector.
package main

import (
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync"
)

type node struct {
	left, right *node
	value       int
}

func tree(depth int) *node {
	if depth == 0 {
		return nil
	}
	return &node{tree(depth - 1), tree(depth - 1), depth}
}

func (n *node) sum() int {
	if n == nil {
		return 0
	}
	return n.value + n.left.sum() + n.right.sum()
}

func words(count int) int {
	counts := map[string]int{}
	for i := 0; i < count; i++ {
		counts[fmt.Sprintf("k%d", i*7919%1000)] += i
	}
	names := make([]string, 0, len(counts))
	for name := range counts {
		names = append(names, name)
	}
	sort.Strings(names)
	return len(strings.Join(names, " "))
}

func work(rounds int) int {
	total := 0
	for i := 0; i < rounds; i++ {
		total += tree(14).sum() + words(4000)
	}
	return total
}

func main() {
	rounds := 100
	if len(os.Args) > 1 {
		rounds, _ = strconv.Atoi(os.Args[1])
	}
	var group sync.WaitGroup
	totals := make([]int, 2)
	for i := range totals {
		group.Add(1)
		go func(i int) {
			defer group.Done()
			totals[i] = work(rounds)
		}(i)
	}
	group.Wait()
	fmt.Println(totals)
}
