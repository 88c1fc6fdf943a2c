//! A guard that stays, asked over its socket: the time of a decision at a fixed rate, and the memory that it keeps.
//!
//! Connections stay open, and events come at their time, whether the last one is answered or not: what waits counts.
//! `cargo bench -p hooks-agent-guest-tests --bench served -- [DECISIONS_A_SECOND [SECONDS]]`.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const CONNECTIONS: u64 = 8;
const WARM_UP: Duration = Duration::from_secs(2);

fn main() {
    let mut numbers = std::env::args().filter_map(|arg| arg.parse::<u64>().ok());
    let rate = numbers.next().unwrap_or(1_000);
    let seconds = numbers.next().unwrap_or(20);
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("policy.toml"), policy()).unwrap();
    for durable in [false, true] {
        let mut server = serve(folder.path(), durable);
        let socket = folder.path().join("serve.sock");
        let before = memory(&server);
        let mut times = load(&socket, rate, seconds);
        times.sort_unstable();
        let at = |part: f64| {
            #[expect(
                clippy::cast_precision_loss,
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss
            )]
            let place = (times.len() as f64 * part) as usize;
            times[place.min(times.len() - 1)]
        };
        println!(
            "{}: {rate} decisions a second for {seconds} s, {} in all: p50 {:?}, p99 {:?}, p99.9 {:?}, longest {:?}; \
             processor {:.0} us a decision; memory {before} -> {} KiB",
            if durable { "waits for the disk" } else { "in memory" },
            times.len(),
            at(0.5),
            at(0.99),
            at(0.999),
            at(1.0),
            processor(&server) * 1e6 / f64::from(u32::try_from(times.len()).unwrap()),
            memory(&server),
        );
        if !durable {
            processes(folder.path());
        }
        server.kill().unwrap();
        server.wait().unwrap();
    }
}

/// The time of the processor that a hook takes: the program that asks, a guard that starts at each event, and `true`.
fn processes(folder: &Path) {
    let ask = env!("CARGO_BIN_EXE_hooks-agent-ask-tested");
    let guard = env!("CARGO_BIN_EXE_hooks-agent-tested");
    let at = ["--agent", "claude", "--event", "PreToolUse"];
    let asks = [&["--socket", "serve.sock"][..], &at].concat();
    let guards = [&["guard", "--policy", "policy.toml", "--state", "other.db"][..], &at].concat();
    for (name, program, args, times) in [
        ("true", "true", &[][..], 500_u32),
        ("hooks-agent-ask", ask, &asks, 500),
        ("hooks-agent guard", guard, &guards, 100),
    ] {
        let before = of_children();
        let begin = Instant::now();
        for number in 0..times {
            let mut command = Command::new(program);
            command.args(args).current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::null());
            let mut child = command.spawn().unwrap();
            let _ = child.stdin.take().unwrap().write_all(event(0, number.into()).as_bytes());
            assert!(child.wait().unwrap().success());
        }
        println!(
            "{name}: {:.2} ms of the processor, {:.2} ms in all",
            (of_children() - before) * 1e3 / f64::from(times),
            begin.elapsed().as_secs_f64() * 1e3 / f64::from(times),
        );
    }
}

/// How many seconds of the processor the processes have used that ended.
fn of_children() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<_> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks: f64 = fields[13].parse::<f64>().unwrap() + fields[14].parse::<f64>().unwrap();
    ticks / 100.0
}

/// Twenty hooks, as an operator may write them.
fn policy() -> String {
    let mut policy = String::from("version = 1\n[limits]\ndeny_tools = [\"Never\"]\n");
    policy +=
        "[[hook]]\nuse = \"pii_detection\"\nwith = { kinds = [\"email\"], tool_results = true }\n";
    policy += "[[hook]]\nuse = \"tool_call_limit\"\nwith = { thread = 1000000000 }\n";
    policy += "[[hook]]\nuse = \"human_in_the_loop\"\nwith = { tools = [\"mcp__bank__pay\"] }\n";
    let rule = |number| {
        format!(
            "[[rule]]\nname = \"rule {number}\"\ntools = [\"Bash\"]\n\
             when = 'args.command.contains(\"rm -rf /{number}\")'\nthen = \"deny\"\nreason = \"no\"\n"
        )
    };
    policy.extend((0..17).map(rule));
    policy
}

fn serve(folder: &Path, durable: bool) -> Child {
    for old in ["threads.db", "threads.db-wal", "threads.db-shm", "serve.sock"] {
        let _ = std::fs::remove_file(folder.join(old));
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_hooks-agent-tested"));
    command.args(["serve", "--policy", "policy.toml", "--state", "threads.db"]);
    command.args(durable.then_some("--durable"));
    let mut server = command.current_dir(folder).stdout(Stdio::piped()).spawn().unwrap();
    // It says where it listens when it does.
    let mut said = [0; 1];
    server.stdout.as_mut().unwrap().read_exact(&mut said).unwrap();
    server
}

/// Asks at a fixed rate over a few connections, and returns how long each decision took since it was due.
fn load(socket: &Path, rate: u64, seconds: u64) -> Vec<Duration> {
    let begin = Instant::now() + Duration::from_millis(100);
    let next = Arc::new(AtomicU64::new(0));
    let all = rate * (seconds + WARM_UP.as_secs());
    let ask = |connection: u64| {
        let mut stream = UnixStream::connect(socket).unwrap();
        let next = next.clone();
        thread::spawn(move || {
            let mut times = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= all {
                    return times;
                }
                let due = begin + Duration::from_nanos(1_000_000_000 / rate * number);
                thread::sleep(due.saturating_duration_since(Instant::now()));
                exchange(&mut stream, &event(connection, number));
                if due.duration_since(begin) >= WARM_UP {
                    times.push(due.elapsed());
                }
            }
        })
    };
    let threads: Vec<_> = (0..CONNECTIONS).map(ask).collect();
    threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
}

/// An event of 4 KB, of one of 500 sessions.
fn event(connection: u64, number: u64) -> String {
    let session = (connection * 7919 + number) % 500;
    let text = "echo hello; ".repeat(310);
    format!(
        r#"{{"session_id":"s{session}","transcript_path":"/.claude/x","cwd":"/","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{{"command":"{text}"}},"tool_use_id":"t{number}"}}"#
    )
}

fn exchange(stream: &mut UnixStream, event: &str) {
    let head = format!(
        "POST /run/claude/PreToolUse HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n",
        event.len()
    );
    stream.write_all(&[head.as_bytes(), event.as_bytes()].concat()).unwrap();
    let mut reply = Vec::new();
    let mut part = [0; 4096];
    loop {
        let read = stream.read(&mut part).unwrap();
        assert!(read > 0, "the server closed the connection");
        reply.extend_from_slice(&part[..read]);
        if reply.ends_with(b"{}\n") {
            return;
        }
        assert!(reply.len() < 4096, "{}", String::from_utf8_lossy(&reply));
    }
}

/// The resident memory of a process, in KiB.
fn memory(server: &Child) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

/// How many seconds of the processor a process has used.
fn processor(server: &Child) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", server.id())).unwrap();
    let fields: Vec<_> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks: f64 = fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap();
    ticks / 100.0
}
