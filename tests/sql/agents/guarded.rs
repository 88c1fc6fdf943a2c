//! An agent with every guard, whose process ends in mid conversation: the mail reaches the mailer, and
//! the model never sees an address.

use std::sync::Arc;

use hooks_agent_builtin::guard::{
    self, ApprovalRequest, InjectPrompt, PiiDetection, RuleOfTwo, Sanitize, SensitiveWords,
    Spotlight, ToolApproval, ToolParams, Vault, VaultError, VaultKey, WordList,
};
use hooks_agent_builtin::people::HumanInTheLoop;
use hooks_agent_core::prelude::*;
use hooks_agent_core::react::ReActAgentBuilder;
use hooks_agent_core::store::{Filter, Store, ThreadKey};
use hooks_agent_core::testing::Script;
use hooks_fixtures::Records;
use serde_json::{Value, json};

use crate::agents::attack::{ADA, on_ada};
use crate::agents::stores::{Place, places};

pub(crate) const MAIL: &str = "ada@example.com";
pub(crate) const CLIENT: &str = "carl@example.org";

/// What no model may read.
pub(crate) const HIDDEN: [&str; 5] = [MAIL, CLIENT, "key-42", "swordfish", "s3cret"];

/// What the tool `clients` returns.
pub(crate) fn client() -> String {
    format!("\u{1b}[1mclient 7: {CLIENT}, key-42, swordfish")
}

/// Adds every guard.
pub(crate) fn guard(builder: ReActAgentBuilder, vault: &Vault) -> ReActAgentBuilder {
    let pii = PiiDetection::all().vault(vault.clone()).reveal_only_to(["send"]);
    let words = SensitiveWords::new(WordList::new(["swordfish"]).unwrap());
    let approval = ToolApproval::new(["clients"], async |request: ApprovalRequest| {
        assert!(!format!("{request:?}").contains('@'), "{request:?}");
        guard::Decision::Allow
    });
    builder
        .hook(Sanitize::new("key-[0-9]+", "[key]").unwrap())
        .hook(pii)
        .hook(words.tool_results(true).tool_arguments(true))
        .hook(RuleOfTwo::new().private_data(["clients"]).harmless(["send"]))
        .hook(InjectPrompt::new("Be brief."))
        .hook(Spotlight::new(["clients"]))
        .hook(ToolParams::new().secret("pin", "s3cret".to_owned()).for_tools(["send"]))
        .hook(approval)
        .hook(HumanInTheLoop::new().ask("send"))
}
const OLD: [u8; 32] = [1; 32];
const NEW: [u8; 32] = [2; 32];

pub(crate) fn old() -> Vault {
    Vault::stored(VaultKey::new("old", OLD))
}

fn new() -> Vault {
    Vault::stored(VaultKey::new("new", NEW)).with_old_key(VaultKey::new("old", OLD))
}

/// A process: it opens the store, and has a vault and a model of its own.
struct Process {
    agent: ReActAgent,
    script: Script,
    sent: Arc<Records<Value>>,
}

impl Process {
    async fn start(place: &Place, vault: &Vault, script: Script) -> Self {
        let sent = Arc::<Records<Value>>::default();
        let mails = sent.clone();
        let mailer = FunctionTool::new("send", "Sends a mail.", move |mail: Value| {
            let said = format!("sent to {}", mail["to"]);
            mails.push(mail);
            async { said }
        });
        let clients = FunctionTool::new("clients", "Reads.", async |_: Value| client());
        let builder = ReActAgent::builder("clerk").model(script.clone()).tool(mailer).tool(clients);
        let agent = guard(builder.store(place.open().await), vault).build().unwrap();
        Self { agent, script, sent }
    }

    /// Ends the process. Returns what the tool received, and checks what the model did.
    fn end(self) -> Vec<Value> {
        let requests = format!("{:?}", self.script.requests());
        for hidden in HIDDEN {
            assert!(!requests.contains(hidden), "{hidden} in {requests}");
        }
        self.sent.take()
    }
}

fn mail(id: &str, to: &str) -> ToolUse {
    ToolUse::new(id, "send", json!({ "to": to }))
}

async fn approve(agent: &ReActAgent, store: &dyn Store) -> Msg {
    let mut options = on_ada();
    for asked in store.waiting(Filter::agent("clerk")).await.unwrap() {
        assert!(!format!("{asked:?}").contains('@'), "{asked:?}");
        options = options.decide(asked.id, hooks_agent_core::store::Decision::Approve);
    }
    agent.resume(options).await.unwrap()
}

#[tokio::test]
async fn an_agent_with_every_guard_goes_on_in_another_process() {
    for place in places().await {
        let (user, client) =
            (old().token_of(ADA, "email", MAIL), old().token_of(ADA, "email", CLIENT));

        // The first process asks, and ends.
        let look = ToolUse::new("1", "clients", json!({}));
        let script = Script::new().calls([look]).calls([mail("2", &user), mail("3", &client)]);
        let first = Process::start(&place, &old(), script).await;
        let asked = first.agent.call_with(on_ada(), format!("Write to {MAIL} and client 7")).await;
        assert_eq!(asked.unwrap().pending().len(), 2);
        assert!(first.end().is_empty());

        // The second one has the decisions.
        let second = Process::start(&place, &old(), Script::new().says("sent")).await;
        let store = place.open().await;
        assert_eq!(approve(&second.agent, &*store).await.text(), "sent");
        let received = |to: &str| json!({ "to": to, "pin": "s3cret" });
        assert_eq!(second.end(), [received(MAIL), received(CLIENT)]);

        // The third one has a new key, and seals the data anew.
        let script = Script::new().calls([mail("4", &user)]).says(format!("I wrote to {user}."));
        let third = Process::start(&place, &new(), script).await;
        third.agent.call_with(on_ada(), "Again").await.unwrap();
        let reply = approve(&third.agent, &*store).await;
        assert_eq!(third.end(), [received(MAIL)]);
        let thread = ThreadKey::new("clerk", ADA).unwrap();
        let shown = new().reveal_stored(&*store, &thread, &reply.text()).await.unwrap();
        assert_eq!(shown, format!("I wrote to {MAIL}."));
        let old_key = old().reveal_stored(&*store, &thread, &reply.text()).await;
        assert!(matches!(old_key, Err(VaultError::Key { .. })), "{old_key:?}");
        let history = store.history(&thread).await.unwrap();
        let values = store.values(&thread).await.unwrap();
        assert!(!format!("{history:?} {values:?}").contains("example"), "{history:?} {values:?}");

        // A process without the key sends nothing.
        let script = Script::new().calls([mail("5", &user)]).says("no");
        let lost = Process::start(&place, &Vault::new(), script).await;
        lost.agent.call_with(on_ada(), "Again").await.unwrap();
        assert_eq!(approve(&lost.agent, &*store).await.text(), "no");
        let requests = lost.script.requests();
        let refused = requests[1].messages.iter().flat_map(Msg::tool_results).last().unwrap();
        assert!(refused.output.as_str().contains("the key `new`"), "{refused:?}");
        assert!(lost.end().is_empty());

        // The data goes with the thread.
        let script = Script::new().calls([mail("6", &user)]).says("no");
        let sixth = Process::start(&place, &new(), script).await;
        assert!(sixth.agent.forget(ADA).await.unwrap());
        assert!(store.values(&thread).await.unwrap().is_empty());
        sixth.agent.call_with(on_ada(), "Again").await.unwrap();
        approve(&sixth.agent, &*store).await;
        assert!(sixth.end().is_empty());
    }
}

#[tokio::test]
async fn a_vault_whose_key_ends_with_the_process_is_a_warning_beside_a_store() {
    for place in places().await {
        let warnings = async |vault: &Vault| {
            let process = Process::start(&place, vault, Script::new()).await;
            let plan = process.agent.hook_plan();
            plan.warnings().iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(warnings(&old()).await, [""; 0]);
        let is_lasting = !matches!(place, Place::Memory(_));
        let warned = warnings(&Vault::new()).await;
        assert_eq!(warned.iter().any(|it| it.contains("use `Vault::stored`")), is_lasting);
    }
}
