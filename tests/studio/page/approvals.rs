//! Decisions at the page.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hooks_agent_builtin::people::{Gate, HumanInTheLoop};
use hooks_agent_core::call::User;
use hooks_agent_core::message::{Approvers, Note, Question};
use hooks_agent_core::prelude::*;
use hooks_agent_core::react::ReActAgentBuilder;
use hooks_agent_studio::Studio;
use hooks_fixtures::Records;
use serde_json::{Value, json};

use crate::support::{Key, clerk, open, open_as, tool_then};

#[tokio::test(flavor = "multi_thread")]
async fn approve_runs_the_tool_exactly_once() {
    let studio = Studio::new();
    let (agent, paid) = clerk(&studio);
    open(studio.agent(agent.clone()), async |page| {
        agent.call("Pay the baker").await.unwrap();
        page.until("document.title === '(1) Studio'").await;
        page.until("document.querySelector('#icon').href.endsWith('icon-waiting.svg')").await;
        page.until_text(".waiting .card", "\"euros\": 12").await;
        // A double click sends one decision.
        page.until("document.querySelector('.card .primary')").await;
        page.eval("(() => { const it = document.querySelector('.card .primary'); it.click(); it.click(); })()")
            .await;
        page.until("document.title === 'Studio' && !document.querySelector('.card')").await;
        page.until("document.querySelectorAll('a.run .dot:is(.finished, .resumed)').length === 2").await;
        assert_eq!(paid.load(Ordering::SeqCst), 1);
        page.go("#/approvals").await;
        page.until_text(".decided", "approved").await;
        page.until_text(".missing", "Nothing waits.").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_is_remembered_shown_and_revoked() {
    let studio = Studio::new().authenticate(|_| Some(User::new("eve").with_role("lead")));
    let gate = Gate::new().remembered_by(Approvers::roles(["lead"]));
    let night = on(|event: &mut PreActing<'_>| event.refuse("nobody pays at night"));
    let large = on(|event: &mut PostReasoning<'_>| -> HookResult<Flow> {
        let calls = event.message().tool_uses().filter(|call| call.input["euros"] == json!(900));
        let why = Question::new("more than 500 euros");
        let asked: Vec<_> = calls.map(|call| (call.id.clone(), why.clone())).collect();
        Ok(if asked.is_empty() { Flow::Continue } else { event.ask(asked)? })
    });
    let model = ScriptedModel::new("payer", |request| -> ScriptedAnswer {
        let last = request.messages.last().unwrap();
        let euros: u64 = last.text().rsplit(' ').next().unwrap().parse().unwrap_or(0);
        let pays = ToolUse::new("1", "pay", json!({ "to": "baker", "euros": euros }));
        if last.tool_results().next().is_some() { "Paid.".into() } else { pays.into() }
    });
    let pay = FunctionTool::new("pay", "Pays.", async |_: Value| "paid");
    let agent = ReActAgent::builder("clerk").model(model).tool(pay);
    let agent = agent.hook(HumanInTheLoop::new().ask_with("pay", gate)).hook(large.named("large"));
    let agent = agent.hook(night.named("night").in_shadow()).hook(studio.hook()).build().unwrap();
    let agent = Arc::new(agent);
    open_as("#/approvals", studio.agent(agent.clone()), async |page| {
        let on = |thread: &str| CallOptions::new().user("ada").thread(thread);
        agent.call_with(on("monday"), "Pay 12").await.unwrap();
        page.until_text(".card .remember option", "euros at most 12; 10 calls").await;
        let reaches = "[...document.querySelectorAll('.card optgroup')].map((it) => it.label).join()";
        assert_eq!(page.eval(reaches).await, "On this thread,For this user,For everybody");
        // Approve, edit, deny; then what it is remembered for, and the button that does it.
        page.press(['a']).await;
        page.until("document.activeElement.matches('.card')").await;
        page.press([Key::Tab.into(); 4]).await;
        page.until("document.activeElement.matches('.remember select')").await;
        page.press([Key::Down.into(); 4]).await;
        page.until("document.activeElement.value === '3'").await;
        page.until_text(
            ".card .remember p",
            "Later calls of pay for ada on every thread run without a question: euros at most 12; 10 calls.",
        )
        .await;
        page.until_text(".card .actions button", "Approve once").await;
        page.picture("remember").await;
        page.press([Key::Tab.into()]).await;
        page.until("document.activeElement.textContent === 'Approve and remember'").await;
        page.press([Key::Enter.into()]).await;
        page.until_text(".remembered li", "by eve").await;
        page.until_text(".remembered li", "euros at most 12; 10 calls").await;
        assert_eq!(agent.call_with(on("tuesday"), "Pay 7").await.unwrap().text(), "Paid.");
        agent.call_with(on("friday"), "Pay 900").await.unwrap();
        page.until_text(".card .askers", "large more than 500 euros").await;
        page.resize(1440, 900).await;
        page.go("#/").await;
        page.open_run("Pay 7").await;
        page.until_text(".k-remembered", "a remembered approval of eve").await;
        page.until_text(".chip.shadow", "would refuse").await;
        page.picture("remembered-run").await;
        page.go("#/approvals").await;
        page.until_text(".remembered li", "used 1 of 10").await;
        page.picture("remembered-approvals").await;
        page.click(".remembered button", "Revoke").await;
        page.until_text(".remembered", "No approval is remembered.").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn deny_gives_the_model_the_reason() {
    let studio = Studio::new();
    let (agent, paid) = clerk(&studio);
    open_as("#/approvals", studio.agent(agent.clone()), async |page| {
        agent.call("Pay the baker").await.unwrap();
        page.click(".card button", "Deny").await;
        page.until("document.activeElement.ariaLabel === 'Reason'").await;
        page.press("Not today".chars()).await;
        page.click(".card button", "Deny the call").await;
        page.until_text(".decided", "denied").await;
        page.until_text(".decided", "Not today").await;
        page.until("document.querySelectorAll('a.run .dot:is(.finished, .resumed)').length === 2")
            .await;
        page.until_text("a.run", "Resumed: Pay the baker").await;
        page.eval("document.querySelectorAll('a.run')[1].click()").await;
        page.until_text(".k-asked .chip", "denied").await;
        page.until_text(".k-asked", "Not today").await;
        assert_eq!(paid.load(Ordering::SeqCst), 0);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn other_arguments_are_checked_before_they_run() {
    let studio = Studio::new();
    let (agent, paid) = clerk(&studio);
    open_as("#/approvals", studio.agent(agent.clone()), async |page| {
        // The program refuses arguments that do not fit: the browser logs the answer.
        page.may_log();
        agent.call("Pay the baker").await.unwrap();
        page.click(".card button", "Edit").await;
        let write = async |text: &str| {
            page.eval(&format!(
                "(() => {{ const it = document.querySelector('.card textarea'); it.value = {};
                it.dispatchEvent(new Event('input')); }})()",
                json!(text)
            ))
            .await;
        };
        write("{\"to\": ").await;
        page.until_text(".card .problem", "This is not JSON: line 1, column 8").await;
        page.until("document.querySelector('.card .primary').disabled").await;
        write("[1]").await;
        page.until_text(".card .problem", "Arguments are a JSON object").await;
        write("{\"to\": \"baker\", \"euros\": \"many\"}").await;
        page.click(".card button", "Approve these").await;
        page.until("document.querySelector('.card .problem').textContent.includes('euros')").await;
        assert_eq!(paid.load(Ordering::SeqCst), 0);
        write("{\"to\": \"miller\", \"euros\": 7}").await;
        page.click(".card button", "Approve these").await;
        page.until_text(".decided", "approved with other arguments").await;
        page.until("document.querySelectorAll('a.run .dot:is(.finished, .resumed)').length === 2")
            .await;
        page.eval("document.querySelector('a.run').click()").await;
        page.until_text(".k-result", "7 euros to miller").await;
        assert_eq!(paid.load(Ordering::SeqCst), 1);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_decided_elsewhere_is_not_decided_again() {
    let studio = Studio::new();
    let (agent, paid) = clerk(&studio);
    open(studio.agent(agent.clone()), async |page| {
        // The second decision is refused: the browser logs the answer.
        page.may_log();
        agent.call("Pay the baker").await.unwrap();
        page.until("document.querySelector('.card .primary')").await;
        // Somebody else decides, and the page does not know it yet.
        let first = page
            .run(
                "window.requestAnimationFrame = (frame) => { window.held = frame; return 0; };
                const { waiting: [it] } = await (await fetch('/api/approvals')).json();
                const body = JSON.stringify({ decision: 'deny', reason: 'no', digest: it.digest });
                const headers = { 'Content-Type': 'application/json' };
                return (await fetch('/api/approvals/' + it.id, { method: 'POST', headers, body })).status;",
            )
            .await;
        assert_eq!(first, json!(200));
        page.eval("document.querySelector('.card .primary').click()").await;
        page.until_text(".card .status", "It was decided before. Nothing was done here.").await;
        page.eval("void (window.requestAnimationFrame = setTimeout, window.held())").await;
        page.click(".card button", "Dismiss").await;
        page.until("!document.querySelector('.card') && document.querySelector('#waiting').hidden").await;
        assert_eq!(paid.load(Ordering::SeqCst), 0);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_person_wrote_stays_when_somebody_else_decides() {
    let studio = Studio::new();
    let (agent, _) = clerk(&studio);
    open_as("#/approvals", studio.agent(agent.clone()), async |page| {
        let reply = agent.call("Pay the baker").await.unwrap();
        page.click(".card button", "Deny").await;
        page.press("Because".chars()).await;
        page.until("document.querySelector('.card textarea').value === 'Because'").await;
        agent.resume(CallOptions::new().confirm(&reply.pending()[0].id)).await.unwrap();
        page.until_text(".card .status", "What you wrote was not sent.").await;
        page.until_text(".card .code", "Because").await;
        page.click(".card button", "Dismiss").await;
        page.until("!document.querySelector('.card')").await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_shows_all_who_ask_and_what_was_answered_before() {
    let late = Arc::new(AtomicBool::new(false));
    let knows = late.clone();
    let night = on(move |event: &mut PreActing<'_>| {
        let is_late = knows.load(Ordering::SeqCst);
        if is_late { event.ask("it is late") } else { Flow::Continue }
    });
    let amount = on(|event: &mut PreActing<'_>| event.ask("money leaves"));
    let payee = on(|event: &mut PreActing<'_>| event.ask("the payee is new"));
    let tell = on(|event: &mut PreCall<'_>| {
        event.context().tell_people(|_, _| vec![Note::new("to", "stands in a mail")]);
    });
    let studio = Studio::new();
    let (builder, _) = payer(&studio, pays_twice());
    let builder = builder.hook(amount.named("amount")).hook(payee.named("payee")).hook(tell);
    let agent = Arc::new(builder.parallel_tools(false).hook(night.named("night")).build().unwrap());
    open_as("#/approvals", studio.agent(agent.clone()), async |page| {
        agent.call("Pay both").await.unwrap();
        page.until_text(".card .askers", "payee the payee is new").await;
        page.until_text(".card .askers", "amount money leaves").await;
        page.until_text(".card .notes", "to stands in a mail").await;
        late.store(true, Ordering::SeqCst);
        page.click(".card button", "Approve").await;
        page.until_text(".card .askers", "night it is").await;
        page.until_text(".card .askers", "amount, answered before money leaves").await;
        // The card of the question before goes first.
        page.until("document.querySelectorAll('.card').length === 1").await;
        page.picture("askers").await;
        page.click(".card button", "Approve").await;
        page.until("document.querySelectorAll('.card').length === 1").await;
    })
    .await;
}

/// An agent whose tool `pay` asks, and what the tool got.
fn payer(studio: &Studio, model: ScriptedModel) -> (ReActAgentBuilder, Arc<Records<Value>>) {
    let paid = Arc::new(Records::new());
    let list = paid.clone();
    let pay = FunctionTool::new("pay", "Pays.", move |payment: Value| {
        list.push(payment);
        async { "paid" }
    });
    let builder = ReActAgent::builder("clerk").model(model).parallel_tools(true);
    (builder.tool(pay.permission(|_| Permission::Ask)).hook(studio.hook()), paid)
}

/// A model that pays twice with one tool.
fn pays_twice() -> ScriptedModel {
    ScriptedModel::new("both", |request| -> ScriptedAnswer {
        if request.messages.last().unwrap().tool_results().next().is_some() {
            return "Done.".into();
        }
        let call = |id: u64| ToolUse::new(format!("call-{id}"), "pay", json!({ "euros": id }));
        vec![ContentBlock::ToolUse(call(1)), ContentBlock::ToolUse(call(2))].into()
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn one_question_is_open_and_the_focus_goes_to_the_next() {
    let studio = Studio::new();
    let (builder, paid) = payer(&studio, pays_twice());
    let agent = Arc::new(builder.build().unwrap());
    let open = "document.querySelectorAll('.card:not([hidden])').length";
    open_as("", studio.agent(agent.clone()), async |page| {
        agent.call("Pay both").await.unwrap();
        page.until("document.querySelectorAll('.waiting .ask-line').length === 2").await;
        assert_eq!(page.eval(open).await, json!(0));
        page.go("#/approvals").await;
        page.until(&format!("{open} === 1")).await;
        page.until_text(
            ".card:not([hidden]) .note",
            "The run goes on when these are decided too: pay",
        )
        .await;
        page.eval("document.querySelectorAll('.ask-line')[1].click()").await;
        page.until("document.querySelectorAll('.ask-line')[1].ariaExpanded === 'true'").await;
        page.until(&format!("{open} === 1")).await;
        page.press(['a']).await;
        page.until("document.activeElement.matches('.card')").await;
        page.press([Key::Tab.into(), Key::Enter.into()]).await;
        page.until("document.querySelectorAll('.ask-line').length === 1").await;
        page.until("document.activeElement.matches('.card')").await;
        page.press([Key::Tab.into(), Key::Enter.into()]).await;
        page.until("document.activeElement.matches('main h1')").await;
        page.until("document.querySelectorAll('a.run .dot:is(.finished, .resumed)').length === 2")
            .await;
        assert_eq!(paid.take().len(), 2);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn beside_another_view_the_focus_goes_to_the_next_question_and_then_to_the_heading() {
    let studio = Studio::new();
    let (builder, paid) = payer(&studio, pays_twice());
    let agent = Arc::new(builder.build().unwrap());
    open(studio.agent(agent.clone()), async |page| {
        agent.call("Pay both").await.unwrap();
        page.until("document.querySelectorAll('.waiting .ask-line').length === 2").await;
        for (left, focused) in [(1, ".ask-line"), (0, "main h1")] {
            page.press(['a']).await;
            page.until("document.activeElement.matches('.card')").await;
            page.press([Key::Tab.into(), Key::Enter.into()]).await;
            page.until(&format!("document.querySelectorAll('.ask-line').length === {left}")).await;
            page.until(&format!("document.activeElement.matches('{focused}')")).await;
        }
        page.until("document.querySelectorAll('a.run .dot:is(.finished, .resumed)').length === 2")
            .await;
        assert_eq!(paid.take().len(), 2);
    })
    .await;
}

/// The texts of the rows that asked, in order.
const ASKED: &str =
    "[...document.querySelectorAll('.k-asked')].map((it) => it.textContent).join('|')";

#[tokio::test(flavor = "multi_thread")]
async fn each_of_two_calls_of_one_tool_shows_its_own_decision() {
    let studio = Studio::new();
    let (builder, paid) = payer(&studio, pays_twice());
    let agent = Arc::new(builder.build().unwrap());
    open_as("#/approvals", studio.agent(agent.clone()), async |page| {
        agent.call("Pay both").await.unwrap();
        page.until("document.querySelectorAll('.card .primary').length === 2").await;
        // Who asks first is not said: the calls run at once.
        page.eval(
            "[...document.querySelectorAll('.card')]
            .find((it) => it.textContent.includes('\"euros\": 1')).querySelector('.primary').click()",
        )
        .await;
        page.until_text(".decided", "approved").await;
        page.click(".card button", "Deny").await;
        page.click(".card button", "Deny the call").await;
        page.until_text(".decided", "denied").await;
        page.until("document.querySelectorAll('a.run .dot:is(.finished, .resumed)').length === 2").await;
        page.eval("document.querySelectorAll('a.run')[1].click()").await;
        page.until("document.querySelectorAll('.k-asked .chip').length === 2").await;
        page.picture("two-decisions").await;
        let asked = page.eval(ASKED).await;
        let (first, second) = asked.as_str().unwrap().split_once('|').unwrap();
        assert!(first.contains("approved") && second.contains("denied"), "{asked}");
        assert_eq!(paid.take(), [json!({ "euros": 1 })]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_of_a_sub_agent_shows_its_decision_where_it_asked() {
    let studio = Studio::new();
    let (builder, _paid) = payer(&studio, pays_twice());
    let inner = builder.build().unwrap();
    let outer = ReActAgent::builder("boss")
        .model(tool_then("clerk", json!({ "task": "pay both" }), "Both are paid."))
        .tool(inner.to_tool("Pays."))
        .hook(studio.hook())
        .build()
        .unwrap();
    let agent = Arc::new(outer);
    open_as("#/approvals", studio.agent(agent.clone()), async |page| {
        agent.call("Pay both").await.unwrap();
        for _ in 0..2 {
            page.until("document.querySelector('.card .primary:not(:disabled)')").await;
            page.click(".card button", "Approve").await;
            page.until(
                "![...document.querySelectorAll('.card .status')].some((it) => it.textContent)",
            )
            .await;
        }
        page.until("document.querySelectorAll('a.run').length >= 2").await;
        page.until("!document.querySelector('a.run .dot.waiting, a.run .dot.running')").await;
        page.eval("[...document.querySelectorAll('a.run')].at(-1).click()").await;
        // The rows of the sub-agent, and those of its caller.
        page.until("document.querySelectorAll('.k-asked').length === 4").await;
        page.until("document.querySelectorAll('.k-asked .chip').length === 4").await;
        assert_eq!(page.eval("document.querySelectorAll('.k-asked .decide').length").await, 0);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_leaves_what_nobody_touched_as_it_is() {
    let studio = Studio::new();
    let input = json!({ "account": 9_007_199_254_740_993_u64, "euros": 12, "rate": 1.0,
        "to": "a\u{202e}b" });
    let (builder, paid) = payer(&studio, tool_then("pay", input.clone(), "Done."));
    let agent = Arc::new(builder.build().unwrap());
    open_as("#/approvals", studio.agent(agent.clone()), async |page| {
        agent.call("Pay").await.unwrap();
        page.click(".card button", "Edit").await;
        page.until("document.querySelector('.card textarea')").await;
        page.picture("edit").await;
        let text = page.eval("document.querySelector('.card textarea').value").await;
        let text = text.as_str().unwrap();
        assert!(!text.contains('\u{202e}'), "the direction of text is not changed: {text:?}");
        page.eval(
            "(() => { const it = document.querySelector('.card textarea');
            it.value = it.value.replace('12', '13'); it.dispatchEvent(new Event('input')); })()",
        )
        .await;
        page.click(".card button", "Approve these").await;
        page.until_text(".decided", "approved with other arguments").await;
        page.until("document.querySelectorAll('a.run .dot:is(.finished, .resumed)').length === 2")
            .await;
        let mut edited = input;
        edited["euros"] = json!(13);
        assert_eq!(paid.take(), [edited]);
        page.eval("document.querySelectorAll('a.run')[1].click()").await;
        page.until("document.querySelector('.k-asked')").await;
        page.picture("large-number").await;
        page.until_text(".k-tool", "9007199254740993").await;
    })
    .await;
}
