// Lock libraries for Go; see bench/peers/README.md for the interface.
//
// usage: peer_go LIBRARY PORT[,PORT...] one|many|threads|processes|start SECONDS
package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

const (
	warmUp   = 500 * time.Millisecond
	goOn     = 400 * time.Millisecond
	lease    = 30 * time.Second
	oneName  = "bench-peer"
	members  = 8
	readyAt  = 24 // in the tally: pairs, changes, the last holder, then a byte for each member that is ready
	tallyLen = readyAt + members
)

// pair acquires a name, calls inside, and releases it.
type pair func(name string, inside func())

// Each connects and returns its pair.
var libraries = map[string]func(addresses []string) pair{
	"rueidislock": rueidislockPair,
	"redsync":     redsyncPair,
	"redislock":   redislockPair,
}

func connect(ports string) pair {
	var addresses []string
	for _, port := range strings.Split(ports, ",") {
		addresses = append(addresses, "127.0.0.1:"+port)
	}
	return libraries[os.Args[1]](addresses)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// report warms up, counts, and lets the work go on for a moment.
func report(read func() (int64, int64), seconds float64) {
	time.Sleep(warmUp)
	fmt.Println("counting")
	pairs, changes := read()
	begin := time.Now()
	time.Sleep(time.Duration(seconds * float64(time.Second)))
	allPairs, allChanges := read()
	fmt.Printf("{\"pairs\": %d, \"changes\": %d, \"seconds\": %.6f}\n",
		allPairs-pairs, allChanges-changes, time.Since(begin).Seconds())
	time.Sleep(goOn)
}

func owners(port string, count int, shared bool, seconds float64) {
	pair := connect(port)
	var pairs, changes, last atomic.Int64
	last.Store(-1)
	for owner := 0; owner < count; owner++ {
		name := oneName
		if !shared {
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

// The tally is guarded by the lock itself.
func member(port, path, who string) {
	tally, err := os.OpenFile(path, os.O_RDWR, 0)
	must(err)
	self, err := strconv.ParseUint(who, 10, 64)
	must(err)
	pair := connect(port)
	pair(oneName+"/"+who, func() {})
	_, err = tally.WriteAt([]byte{1}, readyAt+int64(self)-1)
	must(err)
	var all [readyAt]byte
	for {
		pair(oneName, func() {
			_, err := tally.ReadAt(all[:], 0)
			must(err)
			add(all[0:], 1)
			if binary.NativeEndian.Uint64(all[16:]) != self {
				add(all[8:], 1)
			}
			binary.NativeEndian.PutUint64(all[16:], self)
			_, err = tally.WriteAt(all[:], 0)
			must(err)
		})
	}
}

func add(to []byte, n uint64) {
	binary.NativeEndian.PutUint64(to, binary.NativeEndian.Uint64(to)+n)
}

func allReady(tally *os.File) bool {
	var ready [members]byte
	_, err := tally.ReadAt(ready[:], readyAt)
	must(err)
	for _, each := range ready {
		if each == 0 {
			return false
		}
	}
	return true
}

func processes(port string, seconds float64) {
	tally, err := os.CreateTemp("", "peer-tally-")
	must(err)
	defer os.Remove(tally.Name())
	_, err = tally.Write(make([]byte, tallyLen))
	must(err)
	self, err := os.Executable()
	must(err)
	for who := 1; who <= members; who++ {
		child := exec.Command(self, os.Args[1], port, "member", tally.Name(), strconv.Itoa(who))
		child.Stderr = os.Stderr
		must(child.Start())
		defer child.Wait()
		defer child.Process.Kill()
	}
	for !allReady(tally) {
		time.Sleep(5 * time.Millisecond)
	}
	report(func() (int64, int64) {
		var all [readyAt]byte
		_, err := tally.ReadAt(all[:], 0)
		must(err)
		return int64(binary.NativeEndian.Uint64(all[0:])), int64(binary.NativeEndian.Uint64(all[8:]))
	}, seconds)
}

func main() {
	port, workload := os.Args[2], os.Args[3]
	if workload == "member" {
		member(port, os.Args[4], os.Args[5])
	}
	seconds, err := strconv.ParseFloat(os.Args[4], 64)
	must(err)
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
		connect(port)(oneName, func() {})
		fmt.Println(`{"pairs": 1}`)
	default:
		os.Exit(2)
	}
}
