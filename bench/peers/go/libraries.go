package main

import (
	"context"
	"errors"
	"time"

	"github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"
)

// One key per lock, as its documentation has it for one server, and no news of our own keys.
func rueidislockPair(address string) pair {
	locker, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption:   rueidis.ClientOption{InitAddress: []string{address}},
		KeyValidity:    lease,
		KeyMajority:    1,
		NoLoopTracking: true,
	})
	must(err)
	return func(name string, inside func()) {
		_, release, err := locker.WithContext(context.Background(), name)
		must(err)
		inside()
		release()
	}
}

// It gives up after 32 tries; who wants the lock asks again.
func redsyncPair(address string) pair {
	all := redsync.New(goredis.NewPool(redis.NewClient(&redis.Options{Addr: address})))
	return func(name string, inside func()) {
		mutex := all.NewMutex(name, redsync.WithExpiry(lease))
		for mutex.Lock() != nil {
		}
		inside()
		_, err := mutex.Unlock()
		must(err)
	}
}

// It has no way to wait of its own; this is that of its documentation.
func redislockPair(address string) pair {
	client := redislock.New(redis.NewClient(&redis.Options{Addr: address}))
	how := &redislock.Options{RetryStrategy: redislock.LinearBackoff(100 * time.Millisecond)}
	return func(name string, inside func()) {
		for {
			lock, err := client.Obtain(context.Background(), name, lease, how)
			if errors.Is(err, redislock.ErrNotObtained) {
				continue
			}
			must(err)
			inside()
			must(lock.Release(context.Background()))
			return
		}
	}
}
