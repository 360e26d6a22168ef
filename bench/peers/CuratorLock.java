// Curator's InterProcessMutex: acquisitions and owner changes per second. Each party has a client and a connection of its own;
// they are threads of one virtual machine, and not processes as those of the other rows.
//
// usage: java -cp CURATOR CuratorLock.java PORT PARTIES SECONDS

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;

public class CuratorLock {
    static volatile boolean over = false;
    static final AtomicLong acquired = new AtomicLong();
    static final AtomicLong changes = new AtomicLong();
    static final AtomicInteger last = new AtomicInteger(-1);

    static void live(String hosts, int who, CountDownLatch ready) {
        try (CuratorFramework client = CuratorFrameworkFactory.newClient(hosts, 30_000, 15_000, new ExponentialBackoffRetry(100, 3))) {
            client.start();
            client.blockUntilConnected();
            InterProcessMutex lock = new InterProcessMutex(client, "/bench-curator");
            ready.countDown();
            while (!over) {
                lock.acquire();
                try {
                    acquired.incrementAndGet();
                    if (last.getAndSet(who) != who) changes.incrementAndGet();
                } finally {
                    lock.release();
                }
            }
        } catch (Exception trouble) {
            System.err.println(trouble);
            System.exit(1);
        }
    }

    public static void main(String[] words) throws Exception {
        String hosts = "127.0.0.1:" + words[0];
        int parties = Integer.parseInt(words[1]);
        CountDownLatch ready = new CountDownLatch(parties);
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < parties; ++i) {
            int who = i;
            all.add(new Thread(() -> live(hosts, who, ready)));
            all.get(i).start();
        }
        ready.await();
        Thread.sleep(3_000); // for the compiler of the virtual machine
        long begin = System.nanoTime();
        long acquiredBefore = acquired.get();
        long changesBefore = changes.get();
        Thread.sleep(1000L * Integer.parseInt(words[2]));
        double took = (System.nanoTime() - begin) / 1e9;
        System.out.println(Math.round((acquired.get() - acquiredBefore) / took) + " "
                + Math.round((changes.get() - changesBefore) / took));
        over = true;
        for (Thread each : all) each.join();
    }
}
