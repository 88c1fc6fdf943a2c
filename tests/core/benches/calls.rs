//! The cost of a hooked call, beside the plain call and hooks written by hand.
//!
//! `cargo bench -p hooks-core-tests --bench calls` ends with one line per case: the time, its ratio to the plain call,
//! and the allocations of one call.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use criterion::{BenchmarkGroup, Criterion, measurement::WallTime};
use futures::FutureExt;
use futures::future::BoxFuture;
use hooks_core::{HookError, Hookable, Hooks, Next, Outcome, hookable};
use tower::{Service, ServiceExt};

#[derive(Hookable, Default)]
struct Agent {
    hooks: Hooks,
}

#[hookable]
impl Agent {
    #[hook]
    async fn add(&self, number: u64) -> Result<u64, HookError> {
        Ok(black_box(number) + 1)
    }

    #[hook]
    async fn nest(&self, number: u64) -> Result<u64, HookError> {
        self.add(number).await
    }

    #[hook]
    fn add_now(&self, number: u64) -> Result<u64, HookError> {
        Ok(black_box(number) + 1)
    }
}

/// The same without hooks: the method, and the method behind one async call.
struct Plain;

impl Plain {
    #[inline(never)]
    async fn body(&self, number: u64) -> Result<u64, HookError> {
        Ok(black_box(number) + 1)
    }

    async fn add(&self, number: u64) -> Result<u64, HookError> {
        self.body(number).await
    }
}

type SyncHook = Box<dyn Fn(&HandWritten, &mut u64) + Send + Sync>;

/// What one writes by hand: a list of sync hooks before the body.
struct HandWritten {
    hooks: Vec<SyncHook>,
}

impl HandWritten {
    async fn add(&self, mut number: u64) -> Result<u64, HookError> {
        for hook in &self.hooks {
            hook(self, &mut number);
        }
        Plain.body(number).await
    }
}

type AsyncHook = Box<dyn for<'a> Fn(&'a mut u64) -> BoxFuture<'a, ()> + Send + Sync>;

/// A chain of boxed async hooks.
struct DynChain {
    hooks: Vec<AsyncHook>,
}

impl DynChain {
    async fn add(&self, mut number: u64) -> Result<u64, HookError> {
        for hook in &self.hooks {
            hook(&mut number).await;
        }
        Plain.body(number).await
    }
}

fn now<F: Future>(future: F) -> F::Output {
    future.now_or_never().expect("nothing waits")
}

/// How many calls one measurement makes.
const CALLS: u32 = 64;

/// The names of the cases, with the allocations of one call.
#[derive(Default)]
struct Cases(Vec<(String, u64)>);

impl Cases {
    fn run(
        &mut self,
        group: &mut BenchmarkGroup<'_, WallTime>,
        name: &str,
        mut call: impl AsyncFnMut() -> Result<u64, HookError>,
    ) {
        now(call()).expect("no hook fails");
        let count = allocation_counter::measure(|| drop(now(call()))).count_total;
        self.0.push((name.to_owned(), count));
        // Many calls in one future, as in a program: a call is awaited where it is made.
        let mut calls = async || {
            for _ in 0..CALLS {
                let _ = black_box(call().await);
            }
        };
        group.bench_function(name, |bencher| bencher.iter(|| now(calls())));
    }
}

fn sealed(agent: Agent) -> Agent {
    agent.hooks.seal();
    agent
}

fn with_post(agent: Agent) -> Agent {
    let post = |_: &Agent, _: &AgentAddArgs, output: &mut u64| *output = black_box(*output);
    agent.register_instance_hook(Agent::POST_ADD, "post", post);
    agent
}

/// A sync method with a pre hook.
fn with_now() -> Agent {
    let agent = Agent::default();
    let pre = |_: &Agent, args: &mut AgentAddNowArgs| args.number = black_box(args.number);
    agent.register_instance_hook(Agent::PRE_ADD_NOW, "pre", pre);
    agent
}

fn with_sync(count: usize) -> Agent {
    let agent = Agent::default();
    for index in 0..count {
        agent.register_instance_hook(
            Agent::PRE_ADD,
            index.to_string(),
            |_: &Agent, args: &mut AgentAddArgs| args.number = black_box(args.number),
        );
    }
    agent
}

fn with_async(count: usize) -> Agent {
    let agent = Agent::default();
    for index in 0..count {
        agent.register_instance_hook(
            Agent::PRE_ADD,
            index.to_string(),
            async |_: &Agent, args: &mut AgentAddArgs| args.number = black_box(args.number),
        );
    }
    agent
}

async fn around(
    _: &Agent,
    args: AgentAddArgs,
    next: Next<'_, Agent, AgentAddArgs>,
) -> Result<u64, HookError> {
    next.run(args).await
}

fn main() {
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .configure_from_args();
    let mut group = criterion.benchmark_group("calls");
    let mut cases = Cases::default();

    cases.run(&mut group, "plain call-through", async || Plain.add(black_box(1)).await);
    let agent = Agent::default();
    cases.run(&mut group, "no hooks", async || agent.add(black_box(1)).await);
    for count in [1, 4, 16] {
        let agent = with_sync(count);
        cases.run(&mut group, &format!("{count} sync"), async || agent.add(black_box(1)).await);
        let (agent, name) = (sealed(agent), format!("{count} sync, sealed"));
        cases.run(&mut group, &name, async || agent.add(black_box(1)).await);
    }
    for count in [1, 4, 16] {
        let agent = with_async(count);
        cases.run(&mut group, &format!("{count} async"), async || agent.add(black_box(1)).await);
        let (agent, name) = (sealed(agent), format!("{count} async, sealed"));
        cases.run(&mut group, &name, async || agent.add(black_box(1)).await);
    }
    let post = with_post(with_sync(1));
    cases.run(&mut group, "1 sync pre, 1 sync post", async || post.add(black_box(1)).await);
    let post = sealed(post);
    cases.run(&mut group, "1 sync pre, 1 sync post, sealed", async || post.add(black_box(1)).await);
    let onion = Agent::default();
    onion.register_instance_hook(Agent::AROUND_ADD, "around", around);
    cases.run(&mut group, "1 around", async || onion.add(black_box(1)).await);
    let onion = sealed(onion);
    cases.run(&mut group, "1 around, sealed", async || onion.add(black_box(1)).await);
    let settled = Agent::default();
    settled.register_instance_hook(
        Agent::SETTLED_ADD,
        "settled",
        |_: &Agent, _: &AgentAddArgs, outcome: &Outcome<'_, u64, HookError>, _: Duration| {
            black_box(matches!(outcome, Outcome::Ok(_)));
        },
    );
    cases.run(&mut group, "1 settled", async || settled.add(black_box(1)).await);
    let settled = sealed(settled);
    cases.run(&mut group, "1 settled, sealed", async || settled.add(black_box(1)).await);
    sync_method(&mut group, &mut cases);
    let nested = with_sync(1);
    nested.register_instance_hook(Agent::PRE_NEST, "look", |_: &Agent, _: &AgentNestArgs| {});
    cases
        .run(&mut group, "2 nested methods, 1 sync each", async || nested.nest(black_box(1)).await);
    churn(&mut group, &mut cases);

    for count in [1, 4, 16] {
        let hooks =
            (0..count).map(|_| -> SyncHook { Box::new(|_, number| *number = black_box(*number)) });
        let rival = HandWritten { hooks: hooks.collect() };
        let name = format!("hand-written, {count} sync");
        cases.run(&mut group, &name, async || rival.add(black_box(1)).await);
    }
    for count in [1, 4, 16] {
        let hooks = (0..count).map(|_| -> AsyncHook {
            Box::new(|number| Box::pin(async move { *number = black_box(*number) }))
        });
        let rival = DynChain { hooks: hooks.collect() };
        let name = format!("boxed dyn chain, {count} async");
        cases.run(&mut group, &name, async || rival.add(black_box(1)).await);
    }
    let service = tower::service_fn(|number: u64| Plain.body_owned(number))
        .map_request(black_box::<u64>)
        .map_request(black_box::<u64>)
        .map_request(black_box::<u64>)
        .map_request(black_box::<u64>);
    let mut boxed = tower::util::BoxService::new(service);
    cases.run(&mut group, "tower, 4 layers, boxed", async || boxed.call(black_box(1)).await);
    group.finish();
    report(&cases);
}

impl Plain {
    async fn body_owned(self, number: u64) -> Result<u64, HookError> {
        self.body(number).await
    }
}

/// Calls of a sync method.
fn sync_method(group: &mut BenchmarkGroup<'_, WallTime>, cases: &mut Cases) {
    let agent = Agent::default();
    cases.run(group, "sync method, no hooks", async || agent.add_now(black_box(1)));
    let agent = with_now();
    cases.run(group, "sync method, 1 sync", async || agent.add_now(black_box(1)));
    let agent = sealed(agent);
    cases.run(group, "sync method, 1 sync, sealed", async || agent.add_now(black_box(1)));
    let agent = with_now();
    let post = |_: &Agent, _: &AgentAddNowArgs, output: &mut u64| *output = black_box(*output);
    agent.register_instance_hook(Agent::POST_ADD_NOW, "post", post);
    let agent = sealed(agent);
    cases.run(group, "sync method, pre and post, sealed", async || agent.add_now(black_box(1)));
    let agent = Agent::default();
    agent.register_instance_hook(
        Agent::AROUND_ADD_NOW,
        "around",
        |_: &Agent, args: AgentAddNowArgs, next: Next<'_, Agent, AgentAddNowArgs>| next.run(args),
    );
    let agent = sealed(agent);
    cases.run(group, "sync method, 1 around, sealed", async || agent.add_now(black_box(1)));
}

/// Calls while another thread registers and removes without pause.
fn churn(group: &mut BenchmarkGroup<'_, WallTime>, cases: &mut Cases) {
    let agent = Arc::new(with_sync(1));
    let stop = Arc::new(AtomicBool::new(false));
    let writer = std::thread::spawn({
        let (agent, stop) = (agent.clone(), stop.clone());
        move || {
            while !stop.load(Ordering::Relaxed) {
                let hook = |_: &Agent, _: &AgentAddArgs| {};
                agent.register_instance_hook(Agent::PRE_ADD, "comes and goes", hook);
                agent.remove_instance_hook(Agent::PRE_ADD, "comes and goes").expect("it is there");
            }
        }
    });
    cases.run(group, "1 to 2 sync, registry churning", async || agent.add(black_box(1)).await);
    stop.store(true, Ordering::Relaxed);
    writer.join().expect("the writer does not panic");
}

/// One line per case, from what criterion has written down.
fn report(cases: &Cases) {
    let root = std::env::var_os("CARGO_TARGET_DIR").map_or_else(
        || std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target"),
        std::path::PathBuf::from,
    );
    let median = |name: &str| -> Option<f64> {
        let path = root.join("criterion/calls").join(name).join("new/estimates.json");
        let estimates: serde_json::Value =
            serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
        Some(estimates["median"]["point_estimate"].as_f64()? / f64::from(CALLS))
    };
    let plain = median("plain call-through").unwrap_or(f64::NAN);
    println!("\n{:<34} {:>9} {:>8} {:>12}", "case", "time", "ratio", "allocations");
    for (name, allocations) in &cases.0 {
        let time = median(name).unwrap_or(f64::NAN);
        println!("{name:<34} {time:>6.1} ns {:>7.1}x {allocations:>12}", time / plain);
    }
}
