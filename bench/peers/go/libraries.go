package main

import (
	"context"
	"errors"
	"time"

	"github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"
)

// Its documentation says both for one server of this age: one key for each lock, and no news of keys that are its own.
func rueidislockPair(addresses []string) pair {
	locker, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption:   rueidis.ClientOption{InitAddress: addresses},
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

// It gives up after 32 tries by default; who wants the lock asks again.
func redsyncPair(addresses []string) pair {
	var pools []redsyncredis.Pool
	for _, address := range addresses {
		pools = append(pools, goredis.NewPool(redis.NewClient(&redis.Options{Addr: address})))
	}
	all := redsync.New(pools...)
	return func(name string, inside func()) {
		mutex := all.NewMutex(name, redsync.WithExpiry(lease))
		for {
			err := mutex.Lock()
			if err == nil {
				break
			}
			var taken *redsync.ErrTaken
			if !errors.As(err, &taken) && !errors.Is(err, redsync.ErrFailed) {
				must(err)
			}
		}
		inside()
		_, err := mutex.Unlock()
		must(err)
	}
}

// It waits only as it is told to; this is the strategy of its documentation. It gives up when the lease would be over.
func redislockPair(addresses []string) pair {
	client := redislock.New(redis.NewClient(&redis.Options{Addr: addresses[0]}))
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
