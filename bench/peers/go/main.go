// Lock libraries for Go on one server; see bench/peers/README.md for the interface.
//
// usage: peer_go LIBRARY PORT one|many|threads|processes|start SECONDS
package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync/atomic"
	"time"
)

const warmUp = 500 * time.Millisecond

const lease = 30 * time.Second

// pair acquires a name, calls inside, and releases it.
type pair func(name string, inside func())

// Each connects and returns its pair.
var libraries = map[string]func(address string) pair{
	"rueidislock": rueidislockPair,
	"redsync":     redsyncPair,
	"redislock":   redislockPair,
}

func connect(port string) pair {
	return libraries[os.Args[1]]("127.0.0.1:" + port)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func report(read func() (int64, int64), seconds int) {
	time.Sleep(warmUp)
	pairs, changes := read()
	begin := time.Now()
	time.Sleep(time.Duration(seconds) * time.Second)
	allPairs, allChanges := read()
	fmt.Printf("{\"pairs\": %d, \"changes\": %d, \"all_pairs\": %d, \"seconds\": %.6f}\n",
		allPairs-pairs, allChanges-changes, allPairs, time.Since(begin).Seconds())
}

func owners(port string, count int, oneName bool, seconds int) {
	pair := connect(port)
	var pairs, changes, last atomic.Int64
	last.Store(-1)
	for owner := 0; owner < count; owner++ {
		name := "bench-peer"
		if !oneName {
			name += "/" + strconv.Itoa(owner)
		}
		go func(owner int64) {
			for {
				pair(name, func() {
					pairs.Add(1)
					if last.Swap(owner) != owner {
						changes.Add(1)
					}
				})
			}
		}(int64(owner))
	}
	report(func() (int64, int64) { return pairs.Load(), changes.Load() }, seconds)
}

// Guarded by the lock itself: pairs, changes, the last holder.
func member(port, path, who string) {
	tally, err := os.OpenFile(path, os.O_RDWR, 0)
	must(err)
	self, _ := strconv.ParseUint(who, 10, 64)
	pair := connect(port)
	var all [24]byte
	for {
		pair("bench-peer", func() {
			tally.ReadAt(all[:], 0)
			add(all[0:], 1)
			if binary.NativeEndian.Uint64(all[16:]) != self {
				add(all[8:], 1)
			}
			binary.NativeEndian.PutUint64(all[16:], self)
			tally.WriteAt(all[:], 0)
		})
	}
}

func add(to []byte, n uint64) {
	binary.NativeEndian.PutUint64(to, binary.NativeEndian.Uint64(to)+n)
}

func processes(port string, seconds int) {
	tally, err := os.CreateTemp("", "peer-tally-")
	must(err)
	defer os.Remove(tally.Name())
	tally.Write(make([]byte, 24))
	for who := 1; who <= 8; who++ {
		self, _ := os.Executable()
		child := exec.Command(self, os.Args[1], port, "member", tally.Name(), strconv.Itoa(who))
		must(child.Start())
		defer child.Wait()
		defer child.Process.Kill()
	}
	report(func() (int64, int64) {
		var all [24]byte
		tally.ReadAt(all[:], 0)
		return int64(binary.NativeEndian.Uint64(all[0:])), int64(binary.NativeEndian.Uint64(all[8:]))
	}, seconds)
}

func main() {
	port, workload := os.Args[2], os.Args[3]
	if workload == "member" {
		member(port, os.Args[4], os.Args[5])
	}
	seconds, _ := strconv.Atoi(os.Args[len(os.Args)-1])
	switch workload {
	case "one":
		owners(port, 1, false, seconds)
	case "many":
		owners(port, 256, false, seconds)
	case "threads":
		owners(port, 64, true, seconds)
	case "processes":
		processes(port, seconds)
	case "start":
		connect(port)("bench-peer", func() {})
	default:
		os.Exit(2)
	}
}
