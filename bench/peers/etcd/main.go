// The Mutex of etcd's own package for Go, between processes: acquisitions and owner changes per second.
//
// usage: peer_etcd PORT PROCESSES SECONDS
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

const (
	tallyAt = 3 // the descriptor that each process is started with
	settle  = 500 * time.Millisecond
)

// In memory that all processes share; the lock itself guards all but ready and over.
type tally struct {
	ready, over, acquired, changes, last atomic.Int64
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func share(file *os.File) *tally {
	bytes, err := syscall.Mmap(int(file.Fd()), 0, int(unsafe.Sizeof(tally{})),
		syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	must(err)
	return (*tally)(unsafe.Pointer(&bytes[0]))
}

func live(port string, who int64) {
	all := share(os.NewFile(tallyAt, "tally"))
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{"127.0.0.1:" + port}})
	must(err)
	session, err := concurrency.NewSession(client, concurrency.WithTTL(30))
	must(err)
	mutex := concurrency.NewMutex(session, "bench-etcd")
	all.ready.Add(1)
	for all.over.Load() == 0 {
		must(mutex.Lock(context.Background()))
		all.acquired.Add(1)
		if all.last.Swap(who) != who {
			all.changes.Add(1)
		}
		must(mutex.Unlock(context.Background()))
	}
	must(session.Close())
}

func start(port string, who int, file *os.File) *exec.Cmd {
	self, err := os.Executable()
	must(err)
	out := exec.Command(self, port, "member", strconv.Itoa(who))
	out.Stderr = os.Stderr
	out.ExtraFiles = []*os.File{file}
	out.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	must(out.Start())
	return out
}

func main() {
	port := os.Args[1]
	if os.Args[2] == "member" {
		who, err := strconv.ParseInt(os.Args[3], 10, 64)
		must(err)
		live(port, who)
		return
	}
	processes, err := strconv.Atoi(os.Args[2])
	must(err)
	seconds, err := strconv.Atoi(os.Args[3])
	must(err)
	file, err := os.CreateTemp("", "peer-tally-")
	must(err)
	must(os.Remove(file.Name()))
	must(file.Truncate(int64(unsafe.Sizeof(tally{}))))
	all := share(file)
	var members []*exec.Cmd
	for who := 1; who <= processes; who++ {
		members = append(members, start(port, who, file))
	}
	for all.ready.Load() < int64(processes) {
		time.Sleep(5 * time.Millisecond)
	}
	time.Sleep(settle)
	acquired, changes, begin := all.acquired.Load(), all.changes.Load(), time.Now()
	time.Sleep(time.Duration(seconds) * time.Second)
	took := time.Since(begin).Seconds()
	fmt.Printf("%.0f %.0f\n", float64(all.acquired.Load()-acquired)/took, float64(all.changes.Load()-changes)/took)
	all.over.Store(1)
	for _, each := range members {
		must(each.Wait())
	}
}
