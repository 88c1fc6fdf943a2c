//! The cost of built-in hooks: five detectors on the stream of a model, several rewriters of one
//! stream, and a turn with ten hooks.
//!
//! `cargo bench -p hooks-agent-builtin-tests --bench builtins` prints one line per case, on one core. Nothing in
//! the texts matches.

use std::hint::black_box;
use std::time::{Duration, Instant};

use futures::StreamExt;
use futures::executor::block_on;
use futures::stream;
use hooks_agent_builtin::answer::Streaming;
use hooks_agent_builtin::context::{AutoContext, Summarization};
use hooks_agent_builtin::guard::pii::{
    PiiDetector, PiiKind, PiiReplacement, PiiScanner, PiiStrategy,
};
use hooks_agent_builtin::guard::{
    Decision, PiiDetection, RuleOfTwo, SensitiveWords, ToolApproval, WordList,
};
use hooks_agent_builtin::limit::{Budget, ModelCallLimit, ToolCallLimit};
use hooks_agent_builtin::observe::{Logging, Monitoring, Timing};
use hooks_agent_builtin::recover::ModelRetry;
use hooks_agent_core::agent::AgentExt;
use hooks_agent_core::message::{Msg, Usage};
use hooks_agent_core::model::{ChatChunk, ContextSize, Find, Finding, ModelAnswer, Rewriter};
use hooks_agent_core::react::{ReActAgent, ReActAgentBuilder};
use hooks_agent_core::tool::FunctionTool;
use hooks_fixtures::scripted_agents::Immediate;
use schemars::JsonSchema;
use serde::Deserialize;

use texts::{CHINESE, ENGLISH, MEGABYTE, text_of};

mod texts;

/// A scanner as the finder of a rewriter.
struct Detectors {
    scanner: PiiScanner,
    replacement: PiiReplacement,
}

impl Detectors {
    fn rewriter(kinds: impl IntoIterator<Item = PiiKind>) -> Rewriter {
        let replacement = PiiReplacement::new(PiiStrategy::Redact);
        Rewriter::new(Self { scanner: PiiScanner::new(kinds), replacement })
    }
}

impl Find for Detectors {
    fn find(&self, text: &str, from: usize) -> Option<Finding> {
        let found = self.scanner.find(text, from)?;
        let text = self.replacement.replace(&found.kind, &text[found.range.clone()])?;
        Some(Finding::Replace { range: found.range, text })
    }

    fn settled(&self, text: &str, from: usize) -> usize {
        self.scanner.settled(text, from)
    }
}

/// E-mail, card, IP of both versions, MAC and URL.
const FIVE: [PiiKind; 6] = [
    PiiKind::Email,
    PiiKind::CreditCard,
    PiiKind::Ipv4,
    PiiKind::Ipv6,
    PiiKind::MacAddress,
    PiiKind::Url,
];

/// Cuts a text into chunks of this many bytes, on boundaries of characters.
fn chunks(text: &str, size: usize) -> impl Iterator<Item = ChatChunk> + Send + 'static {
    let (text, mut at) = (text.to_owned(), 0_usize);
    std::iter::from_fn(move || {
        let end = text.ceil_char_boundary(at.saturating_add(size).min(text.len()));
        let chunk = text.get(at..end).filter(|chunk| !chunk.is_empty())?;
        at = end;
        Some(ChatChunk::Text(chunk.to_owned()))
    })
}

/// The time of a text as an answer, of the fastest of several runs.
fn answer(text: &str, size: usize, rewriters: &[Rewriter]) -> Duration {
    let started = Instant::now();
    let mut fastest = Duration::MAX;
    let mut rounds = 0;
    while rounds < 3 || (started.elapsed() < Duration::from_millis(700) && rounds < 10_000) {
        let end = [ChatChunk::end(Usage::default())];
        let stream = Box::pin(stream::iter(chunks(text, size).chain(end).map(Ok)));
        let rewriters = rewriters.iter().rev().cloned();
        let mut answer = rewriters.fold(ModelAnswer::new("bench", stream), ModelAnswer::rewrite);
        let started = Instant::now();
        let length = block_on(async {
            let mut length = 0;
            while let Some(chunk) = answer.next().await {
                if let Ok(ChatChunk::Text(text)) = black_box(chunk) {
                    length += text.len();
                }
            }
            length
        });
        fastest = fastest.min(started.elapsed());
        assert_eq!(length, text.len());
        rounds += 1;
    }
    fastest
}

#[expect(clippy::cast_precision_loss, reason = "a length below a gigabyte")]
fn speed(length: usize, time: Duration) -> f64 {
    length as f64 / 1e6 / time.as_secs_f64()
}

fn ratio(time: Duration, of: Duration) -> f64 {
    time.as_secs_f64() / of.as_secs_f64()
}

/// The time with and without the rewriter. The first ratio is to the time of the whole text plus the
/// time of the same chunks without the rewriter; the last column is the rewriter's own time per chunk.
fn print_chunks() {
    println!(
        "{:<40} {:>10} {:>10} {:>8} {:>9} {:>10}",
        "five detectors, 1 MB", "time", "without", "MB/s", "to whole", "per chunk"
    );
    for (name, part) in [("English", ENGLISH), ("Chinese", CHINESE)] {
        let text = text_of(part, MEGABYTE);
        let mut whole = None;
        for size in [usize::MAX, 1024, 64, 16, 4] {
            let without = answer(&text, size, &[]);
            let with = answer(&text, size, &[Detectors::rewriter(FIVE)]);
            let case = match size {
                usize::MAX => format!("{name}, whole"),
                size => format!("{name}, {size} bytes at a time"),
            };
            let ratio = whole.map_or(1.0, |whole| ratio(with, whole + without));
            whole.get_or_insert(with);
            let count = u32::try_from(chunks(&text, size).count()).expect("it is small");
            let (speed, own) = (speed(text.len(), with), with.saturating_sub(without) / count);
            println!(
                "{case:<40} {with:>10.2?} {without:>10.2?} {speed:>8.0} {ratio:>8.1}x {own:>10.0?}"
            );
        }
    }
}

/// The time per byte, beside that of the shortest text.
fn print_lengths() {
    println!(
        "\n{:<40} {:>10} {:>10} {:>8} {:>9}",
        "five detectors, by length", "time", "", "MB/s", "per byte"
    );
    for (name, part) in [("English", ENGLISH), ("Chinese", CHINESE)] {
        for size in [usize::MAX, 4] {
            let mut first = None;
            for length in [1_000, 10_000, 100_000, MEGABYTE, 10 * MEGABYTE] {
                let text = text_of(part, length);
                let time = answer(&text, size, &[Detectors::rewriter(FIVE)]);
                let speed = speed(text.len(), time);
                let ratio = *first.get_or_insert(speed) / speed;
                let size = if size == 4 { "4 bytes at a time" } else { "whole" };
                let case = format!("{name}, {size}, {} KB", length / 1000);
                println!("{case:<40} {time:>10.2?} {:>10} {speed:>8.0} {ratio:>8.1}x", "");
            }
        }
    }
}

/// Rewriters of one answer, each of other kinds: they share one window.
fn print_several() {
    println!(
        "\n{:<40} {:>10} {:>10} {:>8} {:>9}",
        "several rewriters, 1 MB", "time", "", "MB/s", "to one"
    );
    let kinds: [&[PiiKind]; 4] = [
        &[PiiKind::Email, PiiKind::CreditCard],
        &[PiiKind::Ipv4, PiiKind::Ipv6],
        &[PiiKind::MacAddress],
        &[PiiKind::Url],
    ];
    let rewriters = kinds.map(|kinds| Detectors::rewriter(kinds.iter().copied()));
    for (name, part) in [("English", ENGLISH), ("Chinese", CHINESE)] {
        let text = text_of(part, MEGABYTE);
        for size in [usize::MAX, 4] {
            let mut one = None;
            for count in [1, 2, 4] {
                let time = answer(&text, size, &rewriters[..count]);
                let (speed, ratio) =
                    (speed(text.len(), time), ratio(time, *one.get_or_insert(time)));
                let size = if size == 4 { "4 bytes at a time" } else { "whole" };
                let case = format!("{name}, {size}, {count}");
                println!("{case:<40} {time:>10.2?} {:>10} {speed:>8.0} {ratio:>8.1}x", "");
            }
        }
    }
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

fn builder() -> ReActAgentBuilder {
    let look = FunctionTool::new("look", "Looks.", async |_: Nothing| "nothing to see");
    ReActAgent::builder("bot").model(Immediate).tool(look)
}

/// Adds a hook to the builder of an agent.
type Add = fn(ReActAgentBuilder) -> ReActAgentBuilder;

/// Ten hooks, of which none refuses anything.
const TEN: [(&str, Add); 10] = [
    ("PiiDetection, all kinds, everywhere", |it| it.hook(PiiDetection::all().everywhere())),
    ("SensitiveWords", |it| {
        let words = WordList::new(["forbidden", "禁止"]).expect("they are words");
        it.hook(SensitiveWords::new(words))
    }),
    ("ToolApproval of another tool", |it| {
        it.hook(ToolApproval::new(["pay"], async |_| Decision::Allow))
    }),
    ("RuleOfTwo, a harmless tool", |it| it.hook(RuleOfTwo::new().harmless(["look"]))),
    ("ModelCallLimit", |it| {
        it.hook(ModelCallLimit::builder().run(100).build().expect("it has a limit"))
    }),
    ("ToolCallLimit", |it| it.hook(ToolCallLimit::all().run(100).build().expect("it has a limit"))),
    ("Budget", |it| {
        it.hook(Budget::builder().run_tokens(1_000_000).build().expect("it has a limit"))
    }),
    ("ModelRetry", |it| it.hook(ModelRetry::new())),
    ("Timing", |it| it.hook(Timing::new())),
    ("Monitoring, no recorder", |it| it.hook(Monitoring::new())),
];

/// Hooks of context, knowledge and answers that have nothing to do.
const OF_CONTEXT: [(&str, Add); 3] = [
    ("Summarization, not due", |it| {
        let hook = Summarization::builder(Immediate).trigger(ContextSize::Messages(100));
        it.hook(hook.build().expect("its sizes are valid"))
    }),
    ("AutoContext, within the budget", |it| {
        let hook = AutoContext::builder().window(100_000).build();
        it.hook(hook.expect("its budget is valid"))
    }),
    ("Streaming to a callback, ends alone", |it| {
        it.hook(Streaming::to_callback(|event| drop(black_box(event))).only([]))
    }),
];

/// A turn as in the bench `turn`: a question, a tool call, an answer.
fn print_turns() {
    println!("\n{:<40} {:>10} {:>12} {:>7}", "one turn", "time", "allocations", "plain");
    let plain = turn("without hooks", None, &builder());
    for (name, add) in TEN {
        turn(name, Some(plain), &add(builder()));
    }
    turn("Logging to a sink", Some(plain), &builder().hook(Logging::to_writer(std::io::sink())));
    for (name, add) in OF_CONTEXT {
        turn(name, Some(plain), &add(builder()));
    }
    let ten = TEN.iter().fold(builder(), |builder, (_, add)| add(builder));
    turn("the first ten", Some(plain), &ten);
}

/// The median of many turns, and the allocations of one, beside the plain turn.
fn turn(case: &str, plain: Option<Duration>, builder: &ReActAgentBuilder) -> Duration {
    let agent = builder.clone().build().expect("it has a model");
    let once = || {
        agent.memory().clear();
        let reply = block_on(agent.call(Msg::user("hi"))).expect("nothing fails");
        assert_eq!(reply.text(), "done");
    };
    once();
    let allocations = allocation_counter::measure(once).count_total;
    let mut samples: Vec<Duration> = Vec::new();
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(2) {
        let start = Instant::now();
        for _ in 0..1000 {
            once();
        }
        samples.push(start.elapsed() / 1000);
    }
    samples.sort_unstable();
    let time = samples[samples.len() / 2];
    let ratio = plain.map_or(1.0, |plain| ratio(time, plain));
    println!("{case:<40} {time:>10.2?} {allocations:>12} {ratio:>6.1}x");
    time
}

fn main() {
    print_chunks();
    print_lengths();
    print_several();
    print_turns();
}
