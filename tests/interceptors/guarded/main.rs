//! Built-in hooks as an interceptor, in the reference emitter of the standard.

use std::sync::Arc;

use agent_hooks::{
    AgentContextBuilder, ApprovalOutcome, ApprovalRequest, ApprovalResolution, ApprovalResolver,
    EnforcementMode, InterceptionBlocked, InterceptionEmitter, Verdict,
};
use async_trait::async_trait;
use hooks_agent_builtin::guard::PiiDetection;
use hooks_agent_builtin::limit::{ModelCallLimit, ToolCallLimit};
use hooks_agent_builtin::people::HumanInTheLoop;
use hooks_agent_core::prelude::*;
use hooks_agent_core::react::HookSet;
use hooks_agent_interceptors::Guarded;
use serde_json::{Value, json};

/// A host that is written elsewhere, with hooks as its interceptor.
struct Host {
    emitter: InterceptionEmitter,
    contexts: AgentContextBuilder,
}

/// What a host does next.
type Decided = Result<Value, String>;

impl Host {
    fn of(hooks: HookSet) -> Self {
        Self::with(Guarded::of(hooks), "session-1", None)
    }

    fn with(guarded: Guarded, session: &str, resolver: Option<Box<dyn ApprovalResolver>>) -> Self {
        let mut emitter = InterceptionEmitter::new(EnforcementMode::Enforce, resolver);
        emitter.register(Box::new(guarded));
        Self { emitter, contexts: AgentContextBuilder::new("bot", "elsewhere", session) }
    }

    async fn emit(&mut self, mut context: agent_hooks::AgentContext) -> Decided {
        match self.emitter.emit(&mut context).await {
            Ok(permitted) => Ok(permitted.target),
            Err(InterceptionBlocked { record }) => {
                let verdict = record.verdict;
                Err(format!("{}: {}", verdict.reason.unwrap(), verdict.message.unwrap_or_default()))
            }
        }
    }

    async fn input(&mut self, text: &str) -> Decided {
        let context = self.contexts.input(json!(text), "user");
        self.emit(context).await
    }

    async fn tool(&mut self, name: &str, args: Value) -> Decided {
        let context = self.contexts.pre_tool_call("1", name, args);
        self.emit(context).await
    }

    async fn result(&mut self, name: &str, value: Value) -> Decided {
        let context = self.contexts.post_tool_call("1", name, json!({}), value, false);
        self.emit(context).await
    }

    async fn answer(&mut self, text: &str) -> Decided {
        let context = self.contexts.post_model_call("m", json!(text), vec![], "stop");
        self.emit(context).await
    }

    async fn output(&mut self, text: &str) -> Decided {
        let context = self.contexts.output(json!(text));
        self.emit(context).await
    }

    async fn model(&mut self) -> Decided {
        let context =
            self.contexts.pre_model_call("m", vec![json!({ "role": "user", "content": "Go" })]);
        self.emit(context).await
    }
}

#[tokio::test]
async fn what_a_hook_redacts_is_a_transform_at_each_point() {
    let pii = PiiDetection::all().output(true).tool_results(true);
    let mut host = Host::of(HookSet::of(pii));
    let changed = host.input("I am ann@example.com").await.unwrap();
    assert_eq!(changed["content"], "I am [REDACTED_EMAIL]");
    let changed = host.result("read", json!("from ann@example.com")).await.unwrap();
    assert_eq!(changed, "from [REDACTED_EMAIL]");
    let changed = host.result("read", json!({ "from": "ann@example.com" })).await.unwrap();
    assert_eq!(changed, json!({ "from": "[REDACTED_EMAIL]" }));
    let changed = host.answer("It is ann@example.com.").await.unwrap();
    assert_eq!(changed["content"], "It is [REDACTED_EMAIL].");
    let changed = host.output("It is ann@example.com.").await.unwrap();
    assert_eq!(changed["content"], "It is [REDACTED_EMAIL].");
    let same = host.input("Good morning.").await.unwrap();
    assert_eq!(same["content"], "Good morning.");
}

#[tokio::test]
async fn what_a_hook_refuses_is_a_deny() {
    let refuse = on(|event: &mut PreActing<'_>| match event.tool_use().name.as_str() {
        "shell" => event.refuse("no shell here"),
        _ => Flow::Continue,
    });
    let mut host = Host::of(HookSet::of(refuse));
    let denied = host.tool("shell", json!({ "command": "ls" })).await;
    assert_eq!(denied, Err("hooks_agent.denied: no shell here".to_owned()));
    assert_eq!(host.tool("read", json!({ "path": "a" })).await, Ok(json!({ "path": "a" })));
}

#[tokio::test]
async fn arguments_that_a_hook_changes_are_a_transform() {
    let sandboxed = on(|event: &mut PreActing<'_>| {
        event.tool_use_mut().input["sandbox"] = json!(true);
    });
    let mut host = Host::of(HookSet::of(sandboxed));
    let changed = host.tool("shell", json!({ "command": "ls" })).await;
    assert_eq!(changed, Ok(json!({ "command": "ls", "sandbox": true })));
}

#[tokio::test]
async fn what_a_hook_asks_is_a_deny_that_an_approval_lifts() {
    struct Approves;

    #[async_trait]
    impl ApprovalResolver for Approves {
        async fn resolve(&self, request: ApprovalRequest<'_>) -> ApprovalResolution {
            ApprovalResolution {
                outcome: ApprovalOutcome::Approve,
                context_identity: request.context_identity,
                verdict: Some(Verdict::allow()),
            }
        }
    }

    let asks = || Guarded::of(HookSet::of(HumanInTheLoop::new().ask("pay")));
    let mut host = Host::with(asks(), "s", None);
    let denied = host.tool("pay", json!({ "euros": 12 })).await.unwrap_err();
    assert!(denied.starts_with("hooks_agent.asks: "), "{denied}");
    let mut host = Host::with(asks(), "s", Some(Box::new(Approves)));
    assert_eq!(host.tool("pay", json!({ "euros": 12 })).await, Ok(json!({ "euros": 12 })));
}

#[tokio::test]
async fn limits_count_by_session_until_it_ends() {
    let guarded = Guarded::of(HookSet::of(ToolCallLimit::all().thread(2).build().unwrap()));
    let mut host = Host::with(guarded.clone(), "one", None);
    for _ in 0..2 {
        assert!(host.tool("read", json!({})).await.is_ok());
        host.result("read", json!("text")).await.unwrap();
    }
    let denied = host.tool("read", json!({})).await.unwrap_err();
    assert!(denied.starts_with("hooks_agent.denied: "), "{denied}");
    let mut other = Host::with(guarded.clone(), "two", None);
    assert!(other.tool("read", json!({})).await.is_ok(), "another session has its own");
    let shutdown = host.contexts.agent_shutdown("completed");
    host.emit(shutdown).await.unwrap();
    let mut again = Host::with(guarded, "one", None);
    assert!(again.tool("read", json!({})).await.is_ok(), "it was forgotten at its end");
}

#[tokio::test]
async fn model_calls_are_counted_where_they_are_made() {
    let mut host = Host::of(HookSet::of(ModelCallLimit::builder().run(2).build().unwrap()));
    host.input("Go").await.unwrap();
    assert!(host.model().await.is_ok());
    assert!(host.model().await.is_ok());
    let denied = host.model().await.unwrap_err();
    assert!(denied.starts_with("hooks_agent.denied: "), "{denied}");
    host.input("Go on").await.unwrap();
    assert!(host.model().await.is_ok(), "another prompt is another run");
}

#[tokio::test]
async fn a_hook_that_panics_denies_at_each_point() {
    let panics = on(|_: &mut PreActing<'_>| -> Flow { panic!("on purpose") });
    let also = on(|_: &mut PreCall<'_>| -> Flow { panic!("on purpose") });
    let too = on(|_: &mut PostActing<'_>| -> Flow { panic!("on purpose") });
    let last = on(|_: &mut PostCall<'_>| -> Flow { panic!("on purpose") });
    let hooks = [HookSet::of(panics), HookSet::of(also), HookSet::of(too), HookSet::of(last)];
    let hooks = HookSet::join(&hooks);
    let mut host = Host::of(hooks);
    assert!(host.input("Go").await.is_err());
    assert!(host.tool("read", json!({})).await.is_err());
    let withheld = host.result("read", json!("SECRET")).await.unwrap_err();
    assert!(withheld.starts_with("hooks_agent.withheld: ") && !withheld.contains("SECRET"));
    assert!(host.output("Hello").await.is_err());
}

#[tokio::test]
async fn several_hooks_decide_together_and_parallel_tools_count_right() {
    let limit = ToolCallLimit::all().thread(8).build().unwrap();
    let hooks = [HookSet::of(PiiDetection::all()), HookSet::of(limit)];
    let guarded = Guarded::of(HookSet::join(&hooks));
    let mut host = Host::with(guarded.clone(), "s", None);
    assert_eq!(host.input("ann@example.com").await.unwrap()["content"], "[REDACTED_EMAIL]");
    // Sixteen tool calls of one session at once: eight are let run.
    let calls = (0..16).map(|_| {
        let guarded = guarded.clone();
        tokio::spawn(async move {
            let mut host = Host::with(guarded, "s", None);
            host.tool("read", json!({})).await.is_ok()
        })
    });
    let calls: Vec<_> = calls.collect();
    let mut allowed = 0;
    for call in calls {
        allowed += usize::from(call.await.unwrap());
    }
    assert_eq!(allowed, 8);
}

#[tokio::test]
async fn a_policy_in_a_file_is_an_interceptor() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("policy.toml");
    let text = "version = 1\n\n[[hook]]\nuse = \"tool_call_limit\"\nwith = { thread = 1 }\n";
    std::fs::write(&path, text).unwrap();
    let policy = hooks_agent_policy::policy::Policy::builder().managed(&path).open().unwrap();
    let mut host = Host::with(Guarded::new(policy), "s", None);
    assert!(host.tool("read", json!({})).await.is_ok());
    host.result("read", json!("text")).await.unwrap();
    assert!(host.tool("read", json!({})).await.is_err());
}

#[tokio::test]
async fn both_directions_at_once_agree_with_the_hook_itself() {
    // The same hook, by itself, and as an interceptor in our own host.
    let pii = || PiiDetection::all().output(true);
    let model = || ScriptedModel::new("fixed", |_| "Write to ann@example.com.");
    let by_itself = ReActAgent::builder("bot").model(model()).hook(pii()).build().unwrap();
    let interceptors =
        hooks_agent_interceptors::Interceptors::new(hooks_agent_interceptors::Profile::default());
    let interceptors = interceptors.add("pii", Guarded::of(HookSet::of(pii())));
    let hosted = ReActAgent::builder("bot").model(model()).hook(interceptors).build().unwrap();
    let agents = [Arc::new(by_itself), Arc::new(hosted)];
    let mut replies = Vec::new();
    for agent in agents {
        replies.push(agent.call("Go").await.unwrap().text());
    }
    assert_eq!(replies[0], replies[1]);
    assert_eq!(replies[0], "Write to [REDACTED_EMAIL].");
}
