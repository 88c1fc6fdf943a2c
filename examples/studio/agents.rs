//! Three agents with tools and hooks, and a fourth that is a tool of the first.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hooks_agent::builtin::connect::Studio;
use hooks_agent::builtin::guard::PiiDetection;
use hooks_agent::builtin::limit::ToolCallLimit;
use hooks_agent::builtin::people::{Gate, HumanInTheLoop};
use hooks_agent::builtin::recover::{ModelRetry, RetryPolicy, ToolRetry};
use hooks_agent::message::DecisionKind;
use hooks_agent::model::ModelError;
use hooks_agent::prelude::*;
use hooks_agent::tool::ToolContext;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::Failure;
use crate::models::{Paced, answer, number, question, results};

#[derive(Deserialize, JsonSchema)]
struct Order {
    number: u64,
}

#[derive(Deserialize, JsonSchema)]
struct File {
    path: String,
}

#[derive(Deserialize, JsonSchema)]
struct Command {
    command: String,
}

#[derive(Deserialize, JsonSchema)]
struct Payment {
    to: String,
    euros: u64,
    reference: String,
}

#[derive(Deserialize, JsonSchema)]
struct Words {
    query: String,
}

/// The agents of an office.
pub(crate) struct Office {
    pub(crate) support: Arc<ReActAgent>,
    pub(crate) clerk: Arc<ReActAgent>,
    pub(crate) research: Arc<ReActAgent>,
}

impl Office {
    pub(crate) fn open(studio: &Studio, pace: Duration) -> Result<Self, Failure> {
        Ok(Self {
            support: Arc::new(support(studio, pace)?),
            clerk: Arc::new(clerk(studio, pace)?),
            research: Arc::new(research(studio, pace)?),
        })
    }

    pub(crate) fn agents(&self) -> [Arc<ReActAgent>; 3] {
        [self.support.clone(), self.clerk.clone(), self.research.clone()]
    }
}

fn paced(
    name: &str,
    pace: Duration,
    script: impl Fn(&ChatRequest) -> ScriptedAnswer + Send + Sync + 'static,
) -> Paced {
    Paced { inner: ScriptedModel::new(name, script), pace }
}

fn retries(pace: Duration) -> RetryPolicy {
    RetryPolicy::new().initial_delay(pace * 4)
}

/// Answers customers. Personal data does not reach the model, and the shell stays closed.
fn support(studio: &Studio, pace: Duration) -> Result<ReActAgent, Failure> {
    let look_up =
        FunctionTool::new("look_up", "Looks an order up.", move |order: Order| async move {
            tokio::time::sleep(pace * 8).await;
            let customer = "ada@example.com, 4532 0151 1283 0366";
            json!({ "order": order.number, "state": "sent", "customer": customer, "parcels": 1 })
                .to_string()
        });
    let no_shell = on(|event: &mut PreActing<'_>| match &*event.tool_use().name {
        "shell" => event.refuse("Nobody opens a shell on the web server."),
        _ => Flow::Continue,
    });
    let exact = on(|event: &mut PreActing<'_>| {
        let call = event.tool_use_mut();
        if let Some(task) = call.input["task"].as_str().map(str::to_owned) {
            call.input["task"] = format!("{task} Answer in one sentence.").into();
        }
    });
    let sign =
        on(|event: &mut PostCall<'_>| event.final_message_mut().push_text(" – Anna, support"));
    Ok(ReActAgent::builder("support")
        .model(paced("large-2", pace, |request| {
            let order = number(&question(request));
            match results(request).len() {
                0 => answer(
                    "The customer asks about an order. I look it up before I promise anything.",
                    "Let me look at your order.",
                    [ToolUse::new("look", "look_up", json!({ "number": order }))],
                ),
                1 => answer(
                    "",
                    "The parcel has left, but its tracking page is empty. I ask our mechanic.",
                    [ToolUse::new(
                        "ask",
                        "mechanic",
                        json!({ "task":
                        format!("Find out why the tracking page of order {order} is empty.") }),
                    )],
                ),
                _ => answer(
                    "",
                    &format!(
                        "Order {order} left on Tuesday by courier.\n\nIts tracking page was empty \
                         because a disk was full. It fills within the hour, so there is nothing \
                         that you need to do."
                    ),
                    [],
                ),
            }
        }))
        .tool(look_up)
        .tool(mechanic(pace)?.to_tool("Finds out what is wrong with the web site."))
        .hook(PiiDetection::all().everywhere())
        .hook(no_shell.named("no_shell").with_priority(priority::SECURITY).inherited(true))
        .hook(exact.named("exact_tasks"))
        .hook(sign.named("sign"))
        .hook(studio.hook())
        .build()?)
}

/// Reads logs, and would like to do more.
fn mechanic(pace: Duration) -> Result<ReActAgent, Failure> {
    let read = move |file: File, cx: ToolContext| async move {
        for part in 1..=3 {
            tokio::time::sleep(pace * 4).await;
            cx.progress(format!("read {part} of 3 parts of {}", file.path));
        }
        "03:02 disk full on tracking-2\n03:05 writer stopped\n07:40 disk replaced"
    };
    let read = FunctionTool::with_context("read_log", "Reads a log.", read);
    let shell = FunctionTool::new("shell", "Runs a command.", async |it: Command| it.command);
    Ok(ReActAgent::builder("mechanic")
        .model(paced("small-1", pace, |request| match results(request).len() {
            0 => answer(
                "",
                "",
                [ToolUse::new("a", "read_log", json!({ "path": "/var/log/tracking" }))],
            ),
            1 => answer(
                "The disk is replaced. The writer may need a restart.",
                "I restart the writer.",
                [ToolUse::new("b", "shell", json!({ "command": "systemctl restart tracking" }))],
            ),
            _ => answer("", "A disk was full at 3 am; it is replaced, and the page fills.", []),
        }))
        .tool(read)
        .tool(shell)
        .build()?)
}

/// Pays bills, after a person agreed.
fn clerk(studio: &Studio, pace: Duration) -> Result<ReActAgent, Failure> {
    use DecisionKind::{Approve, Edit, Reject};
    let pay = FunctionTool::new("pay", "Pays a bill.", move |it: Payment| async move {
        tokio::time::sleep(pace * 10).await;
        format!("{} euros to {} ({})", it.euros, it.to, it.reference)
    });
    let gate = Gate::new()
        .allow([Approve, Edit, Reject])?
        .describe_with(|call| format!("Pay {} euros to {}?", call.input["euros"], call.input["to"]))
        .expires_after(Duration::from_mins(10));
    Ok(ReActAgent::builder("clerk")
        .model(paced("large-2", pace, |request| match results(request).last() {
            Some(paid) if paid.is_error => {
                answer("", "Then I leave the bill open and remind you next week.", [])
            }
            Some(paid) => answer("", &format!("Done: {}. I filed the receipt.", paid.output), []),
            None => answer(
                "The bill fits the order, and its account is the one that we paid before.",
                "I found the bill and prepare the payment.",
                [ToolUse::new("pay", "pay", bill(&question(request)))],
            ),
        }))
        .tool(pay)
        .hook(HumanInTheLoop::new().ask_with("pay", gate))
        .hook(ToolCallLimit::of("pay").run(2).build()?)
        .hook(studio.hook())
        .build()?)
}

fn bill(request: &str) -> serde_json::Value {
    let (to, euros, reference) = if request.contains("bakery") {
        ("Bakery Sunrise", 184, "invoice 2291")
    } else if request.contains("printer") {
        ("Print & Paper", 640, "reminder of order 77")
    } else {
        ("House at the Harbour", 2450, "rent")
    };
    json!({ "to": to, "euros": euros, "reference": reference })
}

/// Reads papers. Its model is overloaded now and then, and one of its sources is slow to wake up.
fn research(studio: &Studio, pace: Duration) -> Result<ReActAgent, Failure> {
    let searches = Arc::new(AtomicUsize::new(0));
    let search = move |words: Words| {
        let number = searches.fetch_add(1, Ordering::Relaxed);
        async move {
            tokio::time::sleep(pace * 6).await;
            if number.is_multiple_of(3) {
                return Err("the archive wakes up");
            }
            Ok(format!("3 papers about {:?}: low water in May, dredging in June", words.query))
        }
    };
    let search = FunctionTool::new("search", "Searches the archive.", search).idempotent();
    let requests = AtomicUsize::new(0);
    let model = paced("large-2", pace, move |request| {
        let topic = question(request);
        match requests.fetch_add(1, Ordering::Relaxed) % 8 {
            2 => return ModelError::status("large-2", 503).into(),
            5..=7 if topic.contains("bridges") => return ModelError::status("large-2", 503).into(),
            _ => {}
        }
        match results(request).len() {
            0 => answer(
                "Two searches at once: one for what happened, one for why.",
                "I search the archive.",
                ["level of the river", "dredging"].map(|words| {
                    ToolUse::new(words.replace(' ', "-"), "search", json!({ "query": words }))
                }),
            ),
            _ => answer(
                "",
                "The water was low in May, after a spring without rain, and rose again in June.\n\n\
                 The harbour was dredged in between. Two of the three papers agree on the dates; \
                 the third gives none.",
                [],
            ),
        }
    });
    Ok(ReActAgent::builder("research")
        .model(model)
        .tool(search)
        .parallel_tools(true)
        .hook(ModelRetry::with(retries(pace).max_retries(2))?)
        .hook(ToolRetry::with(retries(pace))?)
        .hook(studio.hook())
        .build()?)
}
