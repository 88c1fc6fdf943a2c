//! Processes of an agent with every guard that are killed in mid conversation.

use std::sync::Arc;

use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{Decision, Filter, Store, ThreadKey};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::agents::guarded::{CLIENT, HIDDEN, MAIL, client, guard, old};
use crate::kills::process::{Process, die};
use crate::kills::tasks::{LEASE, append};
use crate::kills::worker::{self, Place};
use crate::open::open;

const THREAD: &str = "ada";

/// A conversation: the first process is killed in a tool, the second when it has asked people.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Job(Place);

impl Job {
    fn append(&self, what: &str, line: &str) {
        append(&self.0.folder.join(what), line);
    }

    fn read(&self, what: &str) -> String {
        std::fs::read_to_string(self.0.folder.join(what)).unwrap_or_default()
    }
}

/// Looks a client up, and writes two mails.
fn model(job: &Arc<Job>) -> ScriptedModel {
    let job = job.clone();
    ScriptedModel::new("script", move |request| -> ScriptedAnswer {
        job.append("read", &format!("{:?}", request.messages));
        let to = |mail| json!({ "to": old().token_of(THREAD, "email", mail) });
        match request.messages.iter().flat_map(Msg::tool_results).count() {
            0 => ToolUse::new("1", "clients", json!({})).into(),
            1 => [("2", MAIL), ("3", CLIENT)]
                .map(|(id, mail)| ContentBlock::ToolUse(ToolUse::new(id, "send", to(mail))))
                .to_vec()
                .into(),
            _ => "sent".into(),
        }
    })
}

pub(crate) async fn work(job: Job) {
    let store = open(&job.0.address, LEASE).await;
    let job = Arc::new(job);
    let (at, looked) = (job.clone(), job.clone());
    let send = FunctionTool::new("send", "Sends a mail.", move |mail: Value| {
        at.append("sent", &format!("{} {}", mail["to"], mail["pin"]));
        async { "sent" }
    });
    let clients = FunctionTool::new("clients", "Reads.", move |_: Value| {
        if looked.read("looked").is_empty() {
            looked.append("looked", "once");
            die();
        }
        std::future::ready(client())
    });
    let builder = ReActAgent::builder("clerk").model(model(&job)).tool(send);
    let builder = builder.tool(clients.idempotent()).store(store.clone());
    let agent = guard(builder, &old()).build().unwrap();

    let options = CallOptions::new().thread(THREAD);
    let of_thread = || Filter::agent("clerk").thread(THREAD);
    let waiting = store.waiting(of_thread()).await.unwrap();
    let is_new = store.threads(of_thread()).await.unwrap().is_empty();
    let reply = if is_new {
        agent.call_with(options, format!("Write to {MAIL} and client 7")).await
    } else {
        let approve = |options: CallOptions, asked: &Arc<str>| {
            options.decide(asked.clone(), Decision::Approve)
        };
        let options = waiting.iter().map(|it| &it.id).fold(options, approve);
        agent.resume(options).await
    };
    if !reply.unwrap().pending().is_empty() {
        die();
    }
}

async fn a_mail_reaches_the_mailer_and_no_model_whatever_process_is_killed(place: &Place) {
    let job = Job(place.clone());
    for _ in 0..2 {
        let ended = Process::start(&worker::Job::Guarded(job.clone())).ended().await;
        assert_eq!(ended.code(), None, "it was killed, and did not fail");
        assert_eq!(job.read("sent"), "");
    }
    assert!(Process::start(&worker::Job::Guarded(job.clone())).ended().await.success());
    let sent = [MAIL, CLIENT].map(|mail| format!("\"{mail}\" \"s3cret\"\n"));
    assert_eq!(job.read("sent"), sent.concat());
    let read = job.read("read");
    assert!(read.contains("client 7"), "{read}");
    let store = open(&place.address, LEASE).await;
    let thread = ThreadKey::new("clerk", THREAD).unwrap();
    let history = store.history(&thread).await.unwrap();
    let stored = format!("{history:?} {:?}", store.values(&thread).await.unwrap());
    for hidden in HIDDEN {
        assert!(!read.contains(hidden), "{hidden} in {read}");
        assert!(!stored.contains(hidden), "{hidden} in {stored}");
    }
}

on_each!(a_mail_reaches_the_mailer_and_no_model_whatever_process_is_killed);
