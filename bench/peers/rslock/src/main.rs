// rslock with its defaults; see bench/peers/README.md for the interface.
//
// usage: peer_rslock PORT one|many|threads|processes|start SECONDS
use rslock::LockManager;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use std::sync::Arc;
use std::time::{Duration, Instant};

const TTL: Duration = Duration::from_secs(30);
const WARM_UP: Duration = Duration::from_millis(500);

#[derive(Default)]
struct Tally {
    pairs: AtomicU64,
    changes: AtomicU64,
    last: AtomicI64,
}

async fn pair(manager: &LockManager, name: &str, inside: impl Fn()) {
    loop {
        // It gives up after a few tries; who wants the lock asks again.
        if let Ok(lock) = manager.lock(name.as_bytes(), TTL).await {
            inside();
            manager.unlock(&lock).await;
            return;
        }
    }
}

fn report(before: (u64, u64), after: (u64, u64), took: Duration) {
    println!(
        "{{\"pairs\": {}, \"changes\": {}, \"all_pairs\": {}, \"seconds\": {:.6}}}",
        after.0 - before.0,
        after.1 - before.1,
        after.0,
        took.as_secs_f64()
    );
}

async fn owners(port: &str, count: usize, one_name: bool, seconds: u64) {
    let manager = Arc::new(LockManager::new(vec![format!("redis://127.0.0.1:{port}/")]));
    let tally = Arc::new(Tally::default());
    for owner in 0..count {
        let (manager, tally) = (manager.clone(), tally.clone());
        let name = if one_name { "bench-peer".into() } else { format!("bench-peer/{owner}") };
        tokio::spawn(async move {
            loop {
                pair(&manager, &name, || {
                    tally.pairs.fetch_add(1, Relaxed);
                    if tally.last.swap(owner as i64, Relaxed) != owner as i64 {
                        tally.changes.fetch_add(1, Relaxed);
                    }
                })
                .await;
            }
        });
    }
    let read = || (tally.pairs.load(Relaxed), tally.changes.load(Relaxed));
    tokio::time::sleep(WARM_UP).await;
    let (begin, before) = (Instant::now(), read());
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    report(before, read(), begin.elapsed());
}

// Guarded by the lock itself: pairs, changes, the last holder.
fn note(tally: &File, who: u64) {
    let mut all = [0u64; 3];
    let bytes = unsafe { std::slice::from_raw_parts_mut(all.as_mut_ptr().cast::<u8>(), 24) };
    tally.read_exact_at(bytes, 0).unwrap();
    let all: &mut [u64; 3] = unsafe { &mut *bytes.as_mut_ptr().cast() };
    all[0] += 1;
    all[1] += u64::from(all[2] != who);
    all[2] = who;
    tally.write_all_at(bytes, 0).unwrap();
}

fn read(tally: &File) -> (u64, u64) {
    let mut bytes = [0u8; 24];
    tally.read_exact_at(&mut bytes, 0).unwrap();
    let at = |i: usize| u64::from_ne_bytes(bytes[8 * i..8 * i + 8].try_into().unwrap());
    (at(0), at(1))
}

async fn member(port: &str, tally: &str, who: u64) {
    let tally = OpenOptions::new().read(true).write(true).open(tally).unwrap();
    let manager = LockManager::new(vec![format!("redis://127.0.0.1:{port}/")]);
    loop {
        pair(&manager, "bench-peer", || note(&tally, who)).await;
    }
}

async fn processes(port: &str, seconds: u64) {
    let path = std::env::temp_dir().join(format!("peer-tally-{}", std::process::id()));
    std::fs::write(&path, [0u8; 24]).unwrap();
    let tally = File::open(&path).unwrap();
    let mut members: Vec<_> = (1..=8)
        .map(|who: u64| {
            Command::new(std::env::current_exe().unwrap())
                .args([port, "member", path.to_str().unwrap(), &who.to_string()])
                .stdout(Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    tokio::time::sleep(WARM_UP).await;
    let (begin, before) = (Instant::now(), read(&tally));
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    report(before, read(&tally), begin.elapsed());
    for each in &mut members {
        let _ = each.kill();
        let _ = each.wait();
    }
    let _ = std::fs::remove_file(path);
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let words: Vec<String> = std::env::args().collect();
    let (port, workload) = (words[1].as_str(), words[2].as_str());
    let seconds = || words[3].parse().unwrap();
    match workload {
        "one" => owners(port, 1, false, seconds()).await,
        "many" => owners(port, 256, false, seconds()).await,
        "threads" => owners(port, 64, true, seconds()).await,
        "processes" => processes(port, seconds()).await,
        "member" => member(port, &words[3], words[4].parse().unwrap()).await,
        "start" => {
            let manager = LockManager::new(vec![format!("redis://127.0.0.1:{port}/")]);
            pair(&manager, "bench-peer", || {}).await;
        }
        _ => std::process::exit(2),
    }
    std::process::exit(0);
}
