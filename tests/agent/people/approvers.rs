//! Some users alone answer a question, and who a user is comes from the program.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hooks_agent_core::call::User;
use hooks_agent_core::error::{AgentError, InputError};
use hooks_agent_core::event::PostReasoning;
use hooks_agent_core::message::{Approvers, DecisionKind, NotApprover, Question};
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{
    Decision, DecisionError, Filter, Store, StoreError, Verdict, Waiting,
};
use hooks_agent_core::testing::{Calls, Script};
use hooks_agent_core::thread::MemoryStore;
use serde_json::json;

/// Where a hook asks.
#[derive(Clone, Copy, Debug)]
enum Asks {
    BeforeAnything,
    BeforeTheTool,
}

fn managers() -> Approvers {
    Approvers::roles(["manager", "owner"]).not_self()
}

fn manager(id: &str) -> User {
    User::new(id).with_role("manager")
}

struct Bot {
    agent: ReActAgent,
    store: MemoryStore,
    paid: Calls,
}

impl Bot {
    fn new(asks: Asks, approvers: &Approvers) -> Self {
        let (paid, store) = (Calls::new("pay").answers("paid"), MemoryStore::new());
        let model = Script::new().calls([ToolUse::new("1", "pay", json!({}))]).says("done");
        let builder = ReActAgent::builder("bot").model(model).tool(paid.clone());
        let approvers = approvers.clone();
        let builder = match asks {
            Asks::BeforeAnything => {
                builder.hook(on(move |event: &mut PostReasoning<'_>| -> HookResult<Flow> {
                    let calls = event.message().tool_uses();
                    let ask = |call: &ToolUse| {
                        (call.id.clone(), Question::new("Pay?").approvers(approvers.clone()))
                    };
                    Ok(event.ask(calls.map(ask).collect::<Vec<_>>())?)
                }))
            }
            Asks::BeforeTheTool => builder.hook(on(move |event: &mut PreActing<'_>| {
                event.ask_with(Question::new("Pay?").approvers(approvers.clone()))
            })),
        };
        Self { agent: builder.store(store.clone()).build().unwrap(), store, paid }
    }

    async fn pay(&self, user: Option<User>) -> Waiting {
        let options = user.into_iter().fold(CallOptions::new(), CallOptions::user);
        self.agent.call_with(options, "Pay").await.unwrap();
        self.store.waiting(Filter::agent("bot")).await.unwrap().remove(0)
    }

    fn has_paid(&self) -> bool {
        !self.paid.inputs().is_empty()
    }
}

fn refused(decided: Result<(), StoreError>) -> NotApprover {
    match decided.unwrap_err() {
        StoreError::Decision(DecisionError::NotApprover { reason, .. }) => reason,
        error => panic!("{error:?}"),
    }
}

fn not_approver(error: AgentError) -> NotApprover {
    match error {
        AgentError::Input(InputError::NotApprover { reason, .. }) => reason,
        AgentError::Store(error) => refused(Err(error)),
        error => panic!("{error:?}"),
    }
}

#[tokio::test]
async fn a_decision_is_taken_from_an_approver_alone() {
    for asks in [Asks::BeforeAnything, Asks::BeforeTheTool] {
        let bot = Bot::new(asks, &managers());
        let waiting = bot.pay(Some(manager("ada"))).await;
        let verdict = || Verdict::new(waiting.id.clone(), Decision::Approve);
        let decide = |verdict| bot.store.decide(vec![verdict]);
        assert_eq!(refused(decide(verdict()).await), NotApprover::Nobody);
        assert_eq!(refused(decide(verdict().by("")).await), NotApprover::Nobody);
        let unverified = User::unverified("eve");
        assert_eq!(refused(decide(verdict().by(unverified)).await), NotApprover::Nobody);
        let roles = ["manager", "owner"].map(Into::into).to_vec();
        let eve = NotApprover::Role { user: "eve".into(), roles };
        assert_eq!(refused(decide(verdict().by("eve")).await), eve);
        assert_eq!(
            refused(decide(verdict().by(manager("ada"))).await),
            NotApprover::Own { user: "ada".into() }
        );
        // Nor is a rejection.
        let reject = Verdict::new(waiting.id.clone(), Decision::Reject(String::new()));
        assert_eq!(refused(decide(reject).await), NotApprover::Nobody);
        decide(verdict().by(manager("bob"))).await.unwrap();
        assert_eq!(bot.agent.resume(CallOptions::new()).await.unwrap().text(), "done");
        assert!(bot.has_paid());
    }
}

#[tokio::test]
async fn a_body_names_nobody() {
    let bot = Bot::new(Asks::BeforeAnything, &Approvers::anybody());
    let waiting = bot.pay(None).await;
    for by in [json!("boss"), json!({ "id": "boss", "roles": ["manager"] })] {
        let body = json!({ "id": waiting.id, "decision": "approve", "by": by });
        let verdict: Verdict = serde_json::from_value(body).unwrap();
        assert_eq!(verdict.by, None);
        assert_eq!(refused(bot.store.decide(vec![verdict]).await), NotApprover::Nobody);
    }
}

#[tokio::test]
async fn a_call_confirms_and_answers_for_its_user() {
    for asks in [Asks::BeforeAnything, Asks::BeforeTheTool] {
        let bot = Bot::new(asks, &managers());
        bot.pay(Some("ada".into())).await;
        let pending = bot.agent.memory().pending().remove(0);
        let result = || pending.answered("paid by hand");
        let as_ada = || CallOptions::new().user(manager("ada"));
        let error = bot.agent.resume(CallOptions::new().confirm("1")).await.unwrap_err();
        assert_eq!(not_approver(error), NotApprover::Nobody);
        let error = bot.agent.resume(as_ada().confirm("1")).await.unwrap_err();
        assert_eq!(not_approver(error), NotApprover::Own { user: "ada".into() });
        let error = bot.agent.call_with(as_ada(), result()).await.unwrap_err();
        assert_eq!(not_approver(error), NotApprover::Own { user: "ada".into() });
        let decide = as_ada().decide("1", Decision::Approve);
        let error = bot.agent.resume(decide).await.unwrap_err();
        assert_eq!(not_approver(error), NotApprover::Own { user: "ada".into() });
        assert!(!bot.has_paid());
        // The thread is one of ada: somebody else decides about it from outside.
        let id = bot.store.waiting(Filter::all()).await.unwrap()[0].id.clone();
        let verdict = Verdict::new(id, Decision::Approve).by(manager("bob"));
        let reply = bot.agent.resume(CallOptions::new().verdict(verdict)).await.unwrap();
        assert_eq!(reply.text(), "done");
        assert!(bot.has_paid());
    }
}

#[tokio::test]
async fn a_decision_on_a_call_is_one_of_its_user() {
    let bot = Bot::new(Asks::BeforeAnything, &Approvers::roles(["manager"]));
    let waiting = bot.pay(Some("ada".into())).await;
    let options =
        |user: User| CallOptions::new().user(user).decide(waiting.id.clone(), Decision::Approve);
    let error = bot.agent.resume(options("ada".into())).await.unwrap_err();
    assert!(matches!(not_approver(error), NotApprover::Role { .. }));
    assert_eq!(bot.agent.resume(options(manager("ada"))).await.unwrap().text(), "done");
    let decided = bot.store.waiting(Filter::all().decided()).await.unwrap();
    assert!(decided.is_empty() && bot.has_paid());
}

#[tokio::test]
async fn a_question_of_nobody_is_not_answered_where_the_asker_may_not() {
    let bot = Bot::new(Asks::BeforeTheTool, &Approvers::anybody().not_self());
    let waiting = bot.pay(None).await;
    let verdict = Verdict::new(waiting.id, Decision::Approve).by(manager("bob"));
    assert_eq!(refused(bot.store.decide(vec![verdict]).await), NotApprover::NobodyAsks);
}

#[tokio::test]
async fn a_question_whose_approvers_were_changed_is_not_the_one_that_was_shown() {
    let bot = Bot::new(Asks::BeforeTheTool, &managers());
    let waiting = bot.pay(Some("ada".into())).await;
    assert!(waiting.is_as_shown());
    let mut forged = waiting.clone();
    forged.askers[0].approvers = None;
    assert!(!forged.is_as_shown());
    let mut forged = waiting;
    forged.user = Some("eve".into());
    assert!(!forged.is_as_shown());
}

/// An agent that says the roles of its user.
fn says_roles(
    builder: impl FnOnce(
        hooks_agent_core::react::ReActAgentBuilder,
    ) -> hooks_agent_core::react::ReActAgentBuilder,
) -> ReActAgent {
    let who = on(|event: &mut PostCall<'_>| {
        let text = match event.context().identity() {
            None => "nobody".to_owned(),
            Some(user) if !user.is_known() => format!("{}?", user.id()),
            Some(user) => format!("{} {}", user.id(), user.roles().collect::<Vec<_>>().join(",")),
        };
        event.set_final_message(Msg::assistant("bot", text));
    });
    let model = ScriptedModel::new("fixed", |_| "done");
    builder(ReActAgent::builder("bot").model(model).hook(who)).build().unwrap()
}

#[tokio::test]
async fn roles_are_those_of_now_also_of_a_call_that_goes_on() {
    let agent = says_roles(|builder| builder);
    let as_ada = || CallOptions::new().user(manager("ada"));
    assert_eq!(agent.call("Go").await.unwrap().text(), "nobody");
    let on = |options: CallOptions| options.thread("ada");
    assert_eq!(agent.call_with(on(as_ada()), "Go").await.unwrap().text(), "ada manager");
    // Nobody says what roles ada has now.
    assert_eq!(agent.resume(on(CallOptions::new())).await.unwrap().text(), "ada?");

    let agent = says_roles(|builder| {
        builder.users(async |user: User| match user.id() {
            "ada" => Ok(User::new("ada").with_role("clerk")),
            "mallory" => Ok(User::new("ada")),
            _ => Err("no such user".into()),
        })
    });
    // What the function finds holds, and not what the call says.
    assert_eq!(agent.call_with(on(as_ada()), "Go").await.unwrap().text(), "ada clerk");
    assert_eq!(agent.resume(on(CallOptions::new())).await.unwrap().text(), "ada clerk");
    for unknown in ["bob", "mallory"] {
        let options = CallOptions::new().thread(unknown).user(unknown);
        let error = agent.call_with(options, "Go").await.unwrap_err();
        assert!(matches!(error, AgentError::User(_)), "{error:?}");
        assert!(agent.threads().memory(unknown).is_none_or(|memory| memory.is_empty()));
    }
}

#[tokio::test]
async fn a_sub_agent_has_the_user_of_its_caller() {
    let poet = says_roles(|builder| builder);
    let model = ScriptedModel::new("boss", |request| -> ScriptedAnswer {
        match request.messages.last().and_then(|msg| msg.tool_results().next()) {
            Some(result) => result.output.as_str().into(),
            None => ToolUse::new("1", "bot", json!({ "task": "Go" })).into(),
        }
    });
    let boss = ReActAgent::builder("boss").model(model).tool(poet.to_tool("Says")).build().unwrap();
    let as_ada = CallOptions::new().user(manager("ada"));
    assert_eq!(boss.call_with(as_ada, "Go").await.unwrap().text(), "ada manager");
    // The call below says something, and the caller goes on with the thread of ada.
    assert_eq!(boss.resume(CallOptions::new()).await.unwrap().text(), "ada?");
}

/// A hook that asks after the test has set its flag.
fn late(knows: &Arc<AtomicBool>) -> impl AgentHook {
    let knows = knows.clone();
    let ask =
        on(
            move |event: &mut PreActing<'_>| {
                if knows.load(Ordering::Relaxed) { event.ask("it is late") } else { Flow::Continue }
            },
        );
    ask.named("late")
}

#[tokio::test]
async fn nobody_gives_other_arguments_to_what_an_approver_let_run() {
    let roles = Approvers::roles(["manager"]);
    let ask = move |event: &mut PreActing<'_>| {
        let question = Question::new("Pay?").approvers(roles.clone());
        event.ask_with(question.allow([DecisionKind::Approve, DecisionKind::Reject]))
    };
    for edits_by_call in [true, false] {
        let (knows, store, paid) =
            (Arc::default(), MemoryStore::new(), Calls::new("pay").answers("paid"));
        let call = ToolUse::new("1", "pay", json!({ "euros": 10 }));
        let model = Script::new().calls([call]).says("done");
        let builder = ReActAgent::builder("bot")
            .model(model)
            .tool(paid.clone())
            .hook(on(ask.clone()).named("gate"));
        let agent = builder.hook(late(&knows)).store(store.clone()).build().unwrap();
        agent.call("Pay").await.unwrap();
        let question = async || store.waiting(Filter::all()).await.unwrap().remove(0);
        let verdict = Verdict::new(question().await.id, Decision::Approve).by(manager("bob"));
        knows.store(true, Ordering::Relaxed);
        agent.resume(CallOptions::new().verdict(verdict)).await.unwrap();
        // Now the other hook asks, which everybody may answer.
        let asked = question().await;
        assert_eq!(asked.askers.iter().filter(|asker| !asker.is_answered).count(), 1);
        let more = json!({ "euros": 9_999_999 });
        let options = if edits_by_call {
            CallOptions::new().confirm_edited("1", more)
        } else {
            CallOptions::new().decide(asked.id, Decision::Edit(more))
        };
        let reply = agent.resume(options).await.unwrap();
        assert!(paid.inputs().is_empty());
        // The gate asks again, and a manager alone answers.
        let asks = reply.pending()[0].askers.iter().find(|asker| !asker.is_answered).unwrap();
        assert_eq!(asks.hook.as_deref(), Some("gate"));
        let error = agent.resume(CallOptions::new().confirm("1")).await.unwrap_err();
        assert_eq!(not_approver(error), NotApprover::Nobody);
    }
}

#[tokio::test]
async fn what_a_person_gave_stays_when_another_hook_asks_afterwards() {
    for decides in [true, false] {
        let (knows, store, paid) =
            (Arc::default(), MemoryStore::new(), Calls::new("pay").answers("paid"));
        let call = ToolUse::new("1", "pay", json!({ "euros": 100 }));
        let model = Script::new().calls([call]).says("done");
        let amount = on(|event: &mut PreActing<'_>| event.ask("Pay?")).named("amount");
        let builder = ReActAgent::builder("bot").model(model).tool(paid.clone()).hook(amount);
        let agent = builder.hook(late(&knows)).store(store.clone()).build().unwrap();
        agent.call("Pay").await.unwrap();
        let id = store.waiting(Filter::all()).await.unwrap()[0].id.clone();
        knows.store(true, Ordering::Relaxed);
        let less = json!({ "euros": 10 });
        let options = if decides {
            CallOptions::new().decide(id, Decision::Edit(less.clone()))
        } else {
            CallOptions::new().confirm_edited("1", less.clone())
        };
        let reply = agent.resume(options).await.unwrap();
        assert_eq!(reply.pending()[0].call.input, less);
        agent.resume(CallOptions::new().confirm("1")).await.unwrap();
        // Never what the model wrote.
        assert!(paid.inputs().iter().all(|input| *input == less), "{:?}", paid.inputs());
        assert_eq!(paid.inputs().len(), usize::from(decides));
    }
}

#[tokio::test]
async fn a_hook_whose_approvers_change_with_the_arguments_asks_the_others() {
    let ask = on(|event: &mut PreActing<'_>| {
        let is_large = event.tool_use().input["euros"].as_u64() > Some(1000);
        let role = if is_large { "manager" } else { "clerk" };
        event.ask_with(Question::new("a payment").approvers(Approvers::roles([role])))
    });
    let (store, paid) = (MemoryStore::new(), Calls::new("pay").answers("paid"));
    let model =
        Script::new().calls([ToolUse::new("1", "pay", json!({ "euros": 50 }))]).says("done");
    let builder = ReActAgent::builder("bot").model(model).tool(paid.clone()).hook(ask);
    let agent = builder.store(store.clone()).build().unwrap();
    agent.call("Pay").await.unwrap();
    let id = store.waiting(Filter::all()).await.unwrap()[0].id.clone();
    let clerk = User::new("carl").with_role("clerk");
    let edit = Verdict::new(id, Decision::Edit(json!({ "euros": 50_000 }))).by(clerk);
    let reply = agent.resume(CallOptions::new().verdict(edit)).await.unwrap();
    assert!(paid.inputs().is_empty());
    let asks = reply.pending()[0].askers.iter().find(|asker| !asker.is_answered).unwrap();
    assert_eq!(asks.approvers, Some(Approvers::roles(["manager"])));
}

#[tokio::test]
async fn a_question_before_a_hook_that_adds_an_argument_is_answered_once() {
    for hides in [true, false] {
        let amount = on(|event: &mut PreActing<'_>| event.ask("Pay?")).named("amount");
        let add = on(move |event: &mut PreActing<'_>| {
            if hides {
                event.tool_use_mut().hide("pin", "1234");
            } else {
                event.tool_use_mut().input["tenant"] = json!("a");
            }
        });
        let (store, paid) = (MemoryStore::new(), Calls::new("pay").answers("paid"));
        let call = ToolUse::new("1", "pay", json!({ "euros": 50 }));
        let model = Script::new().calls([call]).says("done");
        let builder = ReActAgent::builder("bot").model(model).tool(paid.clone());
        let builder = builder.hook(amount).hook(add.with_priority(900));
        let agent = builder.store(store.clone()).build().unwrap();
        agent.call("Pay").await.unwrap();
        let id = store.waiting(Filter::all()).await.unwrap()[0].id.clone();
        let reply = agent.resume(CallOptions::new().decide(id, Decision::Approve)).await.unwrap();
        assert_eq!((reply.text(), paid.inputs().len()), ("done".to_owned(), 1), "{reply:?}");
    }
}

#[tokio::test]
async fn a_result_for_a_sub_agent_answers_no_question_of_somebody_else() {
    let approvers = Approvers::roles(["manager"]);
    let ask = on(move |event: &mut PreActing<'_>| {
        event.ask_with(Question::new("Pay?").approvers(approvers.clone()))
    });
    let model = Script::new().calls([ToolUse::new("x", "pay", json!({}))]).says("done");
    let pay = Calls::new("pay").answers("paid");
    let clerk = ReActAgent::builder("clerk").model(model).tool(pay).hook(ask).build().unwrap();
    let model = Script::new().calls([ToolUse::new("1", "clerk", json!({ "task": "Pay" }))]);
    let boss = ReActAgent::builder("boss").model(model.says("end")).tool(clerk.to_tool("Pays."));
    let boss = boss.build().unwrap();
    let reply = boss.call("Pay").await.unwrap();
    assert_eq!(reply.pending()[0].id, "1/x");
    let result =
        Msg::tool_result(ToolResult::success(&ToolUse::new("1", "clerk", json!({})), "paid"));
    let error = boss.call(result).await.unwrap_err();
    assert_eq!(not_approver(error), NotApprover::Nobody);
    assert_eq!(boss.memory().pending()[0].id, "1/x");
}

#[tokio::test]
async fn a_call_that_stands_for_another_is_one_of_its_user() {
    #[derive(Hookable)]
    struct Router {
        state: AgentState,
        clerk: ReActAgent,
        hooks: Hooks,
    }

    #[hookable]
    impl Agent for Router {
        fn state(&self) -> &AgentState {
            &self.state
        }

        async fn reply(&self, cx: CallContext, messages: Messages) -> Result<Msg, AgentError> {
            self.clerk.call_with(CallOptions::new().forward(&cx), messages).await
        }
    }

    let Bot { agent: clerk, paid, .. } =
        Bot::new(Asks::BeforeTheTool, &Approvers::roles(["manager"]));
    let state = AgentState::new("router").with_users(async |user: User| match user.id() {
        "bob" => Ok(user.with_role("manager")),
        id => Err(format!("no user {id}").into()),
    });
    let router = Router { state, clerk, hooks: Hooks::new() };
    let of = |user: &str| CallOptions::new().user(user);
    let error = router.call_with(of("mallory"), "Pay").await.unwrap_err();
    assert!(matches!(error, AgentError::User(_)), "{error:?}");
    router.call_with(of("bob"), "Pay").await.unwrap();
    assert_eq!(router.resume(of("bob").confirm("1")).await.unwrap().text(), "done");
    assert_eq!(paid.inputs().len(), 1);
}

#[test]
fn an_agent_whose_sub_agent_needs_a_login_needs_one() {
    struct Roles;

    #[agent_hook(needs_login)]
    impl Roles {
        fn look(&self, _: &PreCall<'_>) {}
    }

    let agent = |name: &str| ReActAgent::builder(name).model(ScriptedModel::new("m", |_| "done"));
    let clerk = agent("clerk").hook(Roles).build().unwrap();
    assert_eq!(clerk.needs_login().as_deref(), Some("Roles"));
    let boss = agent("boss").tool(clerk.to_tool("Does it.")).build().unwrap();
    assert_eq!(boss.needs_login().as_deref(), Some("Roles"));
    assert_eq!(agent("other").build().unwrap().needs_login(), None);
}

#[test]
fn a_user_who_was_not_verified_stays_so() {
    let user = User::unverified("x").with_role("manager").with_attribute("a", 1);
    assert!(!user.is_known());
    let approvers = Approvers::roles(["manager"]);
    assert_eq!(approvers.check(Some(&user), None), Err(NotApprover::Nobody));
}

#[tokio::test]
async fn a_question_of_a_sub_agent_before_its_tool_is_answered_with_other_arguments() {
    let ask = on(|event: &mut PreActing<'_>| {
        event.ask_with(Question::new("Pay?").allow([DecisionKind::Edit, DecisionKind::Reject]))
    });
    let paid = Calls::new("pay").answers("paid");
    let model = Script::new().calls([ToolUse::new("x", "pay", json!({ "euros": 50 }))]);
    let clerk = ReActAgent::builder("clerk").model(model.says("done")).tool(paid.clone());
    let clerk = clerk.hook(ask).build().unwrap();
    let model = Script::new().calls([ToolUse::new("1", "clerk", json!({ "task": "Pay" }))]);
    let store = MemoryStore::new();
    let boss = ReActAgent::builder("boss").model(model.says("end")).tool(clerk.to_tool("Pays."));
    let boss = boss.store(store.clone()).build().unwrap();
    boss.call("Pay").await.unwrap();
    let question = store.waiting(Filter::agent("boss")).await.unwrap().remove(0);
    assert_eq!(question.allowed, [DecisionKind::Edit, DecisionKind::Reject]);
    let approve = Verdict::new(question.id.clone(), Decision::Approve);
    assert!(store.decide(vec![approve]).await.is_err());
    let edit = Decision::Edit(json!({ "euros": 5 }));
    let reply = boss.resume(CallOptions::new().decide(question.id, edit)).await.unwrap();
    assert_eq!(reply.text(), "end");
    assert_eq!(paid.inputs(), [json!({ "euros": 5 })]);
}

#[tokio::test]
async fn a_hook_that_is_inherited_is_another_one_than_one_of_its_name() {
    // Both have one name: the caller's asks about large payments, for managers.
    let large = on(|event: &mut PreActing<'_>| {
        let is_large = event.tool_use().input["euros"].as_u64() > Some(100);
        let question = Question::new("Pay?").approvers(Approvers::roles(["manager"]));
        if is_large { event.ask_with(question) } else { Flow::Continue }
    });
    let every = on(|event: &mut PreActing<'_>| match &*event.tool_use().name {
        "pay" => event.ask("Pay?"),
        _ => Flow::Continue,
    });
    let paid = Calls::new("pay").answers("paid");
    let model = Script::new().calls([ToolUse::new("x", "pay", json!({ "euros": 500 }))]);
    let clerk = ReActAgent::builder("clerk").model(model.says("done")).tool(paid.clone());
    let clerk = clerk.hook(every.named("gate")).build().unwrap();
    let model = Script::new().calls([ToolUse::new("1", "clerk", json!({ "task": "Pay" }))]);
    let boss = ReActAgent::builder("boss").model(model.says("end")).tool(clerk.to_tool("Pays."));
    let boss = boss.hook(large.named("gate").inherited(true)).build().unwrap();
    let reply = boss.call("Pay").await.unwrap();
    let asks: Vec<_> = reply.pending()[0].askers.iter().map(ToString::to_string).collect();
    assert_eq!(asks, ["gate: Pay?", "gate of boss: Pay?"]);
    let error = boss.resume(CallOptions::new().confirm("1/x")).await.unwrap_err();
    assert_eq!(not_approver(error), NotApprover::Nobody);
    let as_bob = CallOptions::new().user(manager("bob")).take_over(true);
    assert_eq!(boss.resume(as_bob.confirm("1/x")).await.unwrap().text(), "end");
    assert_eq!(paid.inputs().len(), 1);
}
