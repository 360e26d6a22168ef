// Redisson's RLock with its defaults; see bench/peers/README.md for the interface.
//
// usage: java Peer PORT one|many|many_threads|threads|processes|fair|start SECONDS
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

public final class Peer {
    private static final String NAME = "bench-peer";
    private static final int MEMBERS = 8;
    private static final int READY_AT = 24; // in the tally: pairs, changes, the last holder, then a byte for each member
    private static final long GO_ON = 400; // milliseconds after the count

    private static RedissonClient connect(String port) {
        var config = new Config();
        config.useSingleServer().setAddress("redis://127.0.0.1:" + port);
        return Redisson.create(config);
    }

    private static void pair(RLock lock, Runnable inside) {
        lock.lock(); // for 30 s, renewed by its watchdog
        try {
            inside.run();
        } finally {
            lock.unlock();
        }
    }

    // Until three seconds have brought no more than the best before them: the compiler has done its work.
    private static void warmUp(Supplier<long[]> read) throws InterruptedException {
        long best = 0;
        long before = read.get()[0];
        for (int since = 0; since < 3; ) {
            Thread.sleep(1000);
            long now = read.get()[0];
            since = now - before > best * 1.02 ? 0 : since + 1;
            best = Math.max(best, now - before);
            before = now;
        }
    }

    private static void report(Supplier<long[]> read, double seconds) throws InterruptedException {
        warmUp(read);
        System.out.println("counting");
        long[] first = read.get();
        long begin = System.nanoTime();
        Thread.sleep((long) (1000 * seconds));
        long[] then = read.get();
        double took = (System.nanoTime() - begin) / 1e9;
        System.out.printf(Locale.ROOT, "{\"pairs\": %d, \"changes\": %d, \"seconds\": %.6f}%n",
                then[0] - first[0], then[1] - first[1], took);
        System.out.flush();
        Thread.sleep(GO_ON);
    }

    private static void fail(Throwable why) {
        why.printStackTrace();
        Runtime.getRuntime().halt(1);
    }

    private static final class Tally {
        private final AtomicLong pairs = new AtomicLong();
        private final AtomicLong changes = new AtomicLong();
        private final AtomicLong last = new AtomicLong(-1);

        void note(long owner) {
            pairs.incrementAndGet();
            if (last.getAndSet(owner) != owner) changes.incrementAndGet();
        }

        long[] read() {
            return new long[] {pairs.get(), changes.get()};
        }
    }

    private static void threads(String port, int count, boolean shared, double seconds) throws InterruptedException {
        var client = connect(port);
        var tally = new Tally();
        for (int i = 0; i < count; i++) {
            long owner = i;
            var lock = client.getLock(shared ? NAME : NAME + "/" + i);
            var thread = new Thread(() -> {
                while (true) pair(lock, () -> tally.note(owner));
            });
            thread.setUncaughtExceptionHandler((which, why) -> fail(why));
            thread.setDaemon(true);
            thread.start();
        }
        report(tally::read, seconds);
    }

    // The number takes the place of a thread's.
    private static void live(RLock lock, long owner, Tally tally) {
        lock.lockAsync(owner)
                .thenRun(() -> tally.note(owner))
                .thenCompose(done -> lock.unlockAsync(owner))
                .whenComplete((done, why) -> {
                    if (why != null) fail(why);
                    live(lock, owner, tally);
                });
    }

    private static void futures(String port, int count, double seconds) throws InterruptedException {
        var client = connect(port);
        var tally = new Tally();
        for (int i = 0; i < count; i++) live(client.getLock(NAME + "/" + i), i + 1, tally);
        report(tally::read, seconds);
    }

    private static ByteBuffer open(File file) throws IOException {
        try (var channel = new RandomAccessFile(file, "rw").getChannel()) {
            return channel.map(FileChannel.MapMode.READ_WRITE, 0, READY_AT + MEMBERS);
        }
    }

    // The tally is guarded by the lock itself.
    private static void member(String port, String path, int who, boolean fair) throws IOException {
        var tally = open(new File(path));
        var client = connect(port);
        pair(client.getLock(NAME + "/" + who), () -> {});
        tally.put(READY_AT + who - 1, (byte) 1);
        var lock = fair ? client.getFairLock(NAME) : client.getLock(NAME);
        while (true) {
            pair(lock, () -> {
                tally.putLong(0, tally.getLong(0) + 1);
                if (tally.getLong(16) != who) tally.putLong(8, tally.getLong(8) + 1);
                tally.putLong(16, who);
            });
        }
    }

    private static void processes(String port, boolean fair, double seconds) throws IOException, InterruptedException {
        var file = File.createTempFile("peer-tally-", "");
        var tally = open(file);
        List<Process> members = new ArrayList<>();
        for (int who = 1; who <= MEMBERS; who++) {
            members.add(new ProcessBuilder(ProcessHandle.current().info().command().orElseThrow(), "-cp",
                    System.getProperty("java.class.path"), "Peer", port, fair ? "fair_member" : "member",
                    file.getPath(), String.valueOf(who)).inheritIO().start());
        }
        while (IntStream.range(0, MEMBERS).anyMatch(i -> tally.get(READY_AT + i) == 0)) Thread.sleep(20);
        report(() -> new long[] {tally.getLong(0), tally.getLong(8)}, seconds);
        members.forEach(Process::destroyForcibly);
        file.delete();
    }

    public static void main(String[] words) throws Exception {
        var port = words[0];
        double seconds = words[1].endsWith("member") ? 0 : Double.parseDouble(words[2]);
        switch (words[1]) {
            case "one" -> threads(port, 1, false, seconds);
            case "many" -> futures(port, 256, seconds);
            case "many_threads" -> threads(port, 256, false, seconds);
            case "threads" -> threads(port, 64, true, seconds);
            case "processes" -> processes(port, false, seconds);
            case "fair" -> processes(port, true, seconds);
            case "member" -> member(port, words[2], Integer.parseInt(words[3]), false);
            case "fair_member" -> member(port, words[2], Integer.parseInt(words[3]), true);
            case "start" -> {
                pair(connect(port).getLock(NAME), () -> {});
                System.out.println("{\"pairs\": 1}");
            }
            default -> Runtime.getRuntime().halt(2);
        }
        Runtime.getRuntime().halt(0);
    }
}
