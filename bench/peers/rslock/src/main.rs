// rslock with its defaults; see bench/peers/README.md for the interface.
//
// usage: peer_rslock PORT[,PORT...] one|many|threads|processes|start SECONDS
use rslock::LockManager;
use std::cell::Cell;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::process::{Child, Command};
use std::rc::Rc;
use std::time::{Duration, Instant};

const LEASE: Duration = Duration::from_secs(30);
const WARM_UP: Duration = Duration::from_millis(500);
const GO_ON: Duration = Duration::from_millis(400); // after the count
const NAME: &str = "bench-peer";
const MEMBERS: u64 = 8;
// In the tally: pairs, changes, the last holder, then a byte for each member that is ready.
const READY_AT: usize = 24;

type Counts = (u64, u64); // pairs, changes

fn connect(ports: &str) -> LockManager {
    let url = |port: &str| format!("redis://127.0.0.1:{port}/");
    LockManager::new(ports.split(',').map(url).collect())
}

async fn pair(manager: &LockManager, name: &str, inside: impl FnOnce()) {
    let guard = manager.acquire(name, LEASE).await.expect("no such lease");
    inside();
    guard.release().await;
}

/// Warms up, counts, and lets the work go on for a moment.
async fn report(read: impl Fn() -> Counts, seconds: f64) {
    tokio::time::sleep(WARM_UP).await;
    println!("counting");
    let (begin, before) = (Instant::now(), read());
    tokio::time::sleep(Duration::from_secs_f64(seconds)).await;
    let (after, took) = (read(), begin.elapsed().as_secs_f64());
    let (pairs, changes) = (after.0 - before.0, after.1 - before.1);
    println!("{{\"pairs\": {pairs}, \"changes\": {changes}, \"seconds\": {took:.6}}}");
    tokio::time::sleep(GO_ON).await;
}

async fn owners(port: &str, count: i64, shared: bool, seconds: f64) {
    let manager = connect(port);
    let counts = Rc::new(Cell::new((0, 0)));
    let last = Rc::new(Cell::new(-1));
    let tasks = tokio::task::LocalSet::new();
    for owner in 0..count {
        let (manager, counts, last) = (manager.clone(), counts.clone(), last.clone());
        let name = if shared {
            NAME.into()
        } else {
            format!("{NAME}/{owner}")
        };
        tasks.spawn_local(async move {
            loop {
                let note = || {
                    let (pairs, changes) = counts.get();
                    counts.set((pairs + 1, changes + u64::from(last.replace(owner) != owner)));
                };
                pair(&manager, &name, note).await;
            }
        });
    }
    tasks.run_until(report(|| counts.get(), seconds)).await;
}

fn number(bytes: &[u8], index: usize) -> u64 {
    u64::from_ne_bytes(bytes[8 * index..8 * index + 8].try_into().unwrap())
}

/// Guarded by the lock itself.
fn note(tally: &File, who: u64) {
    let mut bytes = [0u8; READY_AT];
    tally.read_exact_at(&mut bytes, 0).unwrap();
    let all = [
        number(&bytes, 0) + 1,
        number(&bytes, 1) + u64::from(number(&bytes, 2) != who),
        who,
    ];
    for (to, from) in bytes.chunks_mut(8).zip(all) {
        to.copy_from_slice(&from.to_ne_bytes());
    }
    tally.write_all_at(&bytes, 0).unwrap();
}

async fn member(port: &str, tally: &str, who: u64) {
    let tally = OpenOptions::new()
        .read(true)
        .write(true)
        .open(tally)
        .unwrap();
    let manager = connect(port);
    pair(&manager, &format!("{NAME}/{who}"), || {}).await;
    tally.write_all_at(&[1], READY_AT as u64 + who - 1).unwrap();
    loop {
        pair(&manager, NAME, || note(&tally, who)).await;
    }
}

async fn all_ready(tally: &File) {
    let mut ready = [0u8; MEMBERS as usize];
    while ready.contains(&0) {
        tokio::time::sleep(Duration::from_millis(5)).await;
        tally.read_exact_at(&mut ready, READY_AT as u64).unwrap();
    }
}

async fn processes(port: &str, seconds: f64) {
    let path = std::env::temp_dir().join(format!("peer-tally-{}", std::process::id()));
    std::fs::write(&path, [0u8; READY_AT + MEMBERS as usize]).unwrap();
    let tally = File::open(&path).unwrap();
    let start = |who: u64| -> Child {
        Command::new(std::env::current_exe().unwrap())
            .args([port, "member", path.to_str().unwrap(), &who.to_string()])
            .spawn()
            .unwrap()
    };
    let mut members: Vec<_> = (1..=MEMBERS).map(start).collect();
    all_ready(&tally).await;
    let read = || {
        let mut bytes = [0u8; READY_AT];
        tally.read_exact_at(&mut bytes, 0).unwrap();
        (number(&bytes, 0), number(&bytes, 1))
    };
    report(read, seconds).await;
    for each in &mut members {
        let _ = each.kill();
        let _ = each.wait();
    }
    let _ = std::fs::remove_file(path);
}

// Pinned to one core, one thread does best.
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
            pair(&connect(port), NAME, || {}).await;
            println!("{{\"pairs\": 1}}");
        }
        _ => std::process::exit(2),
    }
    std::process::exit(0);
}
