// Redisson's RLock with its defaults; see bench/peers/README.md for the interface.
//
// usage: java Peer PORT one|many|threads|processes|fair|start SECONDS
import java.io.File;
import java.io.RandomAccessFile;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

public final class Peer {
    private static RedissonClient connect(String port) {
        var config = new Config();
        config.useSingleServer().setAddress("redis://127.0.0.1:" + port);
        return Redisson.create(config);
    }

    private static void pair(RLock lock, Runnable inside) {
        lock.lock(); // renewed by its watchdog
        try {
            inside.run();
        } finally {
            lock.unlock();
        }
    }

    private static void report(Supplier<long[]> read, int seconds) throws Exception {
        // Until a second brings no more than the one before: the compiler has done its work.
        for (long last = 0, rate = 1, before = read.get()[0]; rate > last * 1.02; ) {
            Thread.sleep(1000);
            long now = read.get()[0];
            last = rate;
            rate = now - before;
            before = now;
        }
        long[] first = read.get();
        long begin = System.nanoTime();
        Thread.sleep(1000L * seconds);
        long[] then = read.get();
        double took = (System.nanoTime() - begin) / 1e9;
        System.out.printf(Locale.ROOT, "{\"pairs\": %d, \"changes\": %d, \"all_pairs\": %d, \"seconds\": %.6f}%n",
                then[0] - first[0], then[1] - first[1], then[0], took);
    }

    private static void owners(String port, int count, boolean oneName, int seconds) throws Exception {
        var client = connect(port);
        var pairs = new AtomicLong();
        var changes = new AtomicLong();
        var last = new AtomicLong(-1);
        for (int i = 0; i < count; i++) {
            long owner = i;
            var lock = client.getLock(oneName ? "bench-peer" : "bench-peer/" + i);
            var thread = new Thread(() -> {
                while (true) {
                    pair(lock, () -> {
                        pairs.incrementAndGet();
                        if (last.getAndSet(owner) != owner) changes.incrementAndGet();
                    });
                }
            });
            thread.setDaemon(true);
            thread.start();
        }
        report(() -> new long[] {pairs.get(), changes.get()}, seconds);
    }

    // Guarded by the lock itself: pairs, changes, the last holder.
    private static void member(String port, String path, long who, boolean fair) throws Exception {
        var client = connect(port);
        var lock = fair ? client.getFairLock("bench-peer") : client.getLock("bench-peer");
        try (var tally = new RandomAccessFile(path, "rw")) {
            while (true) {
                pair(lock, () -> {
                    try {
                        long[] all = readTally(tally);
                        tally.seek(0);
                        tally.writeLong(all[0] + 1);
                        tally.writeLong(all[1] + (all[2] == who ? 0 : 1));
                        tally.writeLong(who);
                    } catch (java.io.IOException why) {
                        throw new java.io.UncheckedIOException(why);
                    }
                });
            }
        }
    }

    private static long[] readTally(RandomAccessFile tally) throws java.io.IOException {
        tally.seek(0);
        return new long[] {tally.readLong(), tally.readLong(), tally.readLong()};
    }

    private static void processes(String port, boolean fair, int seconds) throws Exception {
        var file = File.createTempFile("peer-tally-", "");
        file.deleteOnExit();
        List<Process> members = new ArrayList<>();
        try (var tally = new RandomAccessFile(file, "rw")) {
            tally.write(new byte[24]);
            for (int who = 1; who <= 8; who++) {
                members.add(new ProcessBuilder(ProcessHandle.current().info().command().orElseThrow(), "-cp",
                        System.getProperty("java.class.path"), "Peer", port, fair ? "fair_member" : "member",
                        file.getPath(), String.valueOf(who)).inheritIO().start());
            }
            report(() -> {
                try {
                    return readTally(tally);
                } catch (java.io.IOException why) {
                    throw new java.io.UncheckedIOException(why);
                }
            }, seconds);
        } finally {
            members.forEach(Process::destroyForcibly);
        }
    }

    public static void main(String[] words) throws Exception {
        var port = words[0];
        int seconds = words[1].endsWith("member") ? 0 : Integer.parseInt(words[2]);
        switch (words[1]) {
            case "one" -> owners(port, 1, false, seconds);
            case "many" -> owners(port, 256, false, seconds);
            case "threads" -> owners(port, 64, true, seconds);
            case "processes" -> processes(port, false, seconds);
            case "fair" -> processes(port, true, seconds);
            case "member" -> member(port, words[2], Long.parseLong(words[3]), false);
            case "fair_member" -> member(port, words[2], Long.parseLong(words[3]), true);
            case "start" -> pair(connect(port).getLock("bench-peer"), () -> {});
            default -> System.exit(2);
        }
        Runtime.getRuntime().halt(0);
    }
}
