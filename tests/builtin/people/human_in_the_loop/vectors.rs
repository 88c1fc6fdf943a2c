//! The vectors of D 3.5. These end otherwise here:
//!
//! | vector | here | why |
//! |---|---|---|
//! | edit: the edited call is kept in a private state | it is in the decision, and in `ran` of the result | one place |
//! | edit to another tool, or to an unknown one | an edit has arguments alone | a person approves the tool that was shown |
//! | 0 decisions for 1 call | the call waits again | decisions are matched by id, not by place |
//! | 2 decisions for 1 call | `DecisionError::Twice`, nothing changes | the same |
//! | unknown type of decision | does not deserialize; one that is not allowed is `DecisionError::NotAllowed` | decisions are an enum |
//! | `Args: {'input': 'test'}` | `Args: {"input":"test"}` | arguments are JSON |
//! | one interrupt per call (`per_call`) | one list, decided one by one or together | a decision is about one question |
//! | approve 1 of 2: both are asked again (1.7) | the other one alone | nobody decides twice |

use hooks_agent_builtin::people::{Gate, HumanInTheLoop};
use hooks_agent_core::message::DecisionKind::{Approve, Edit, Reject, Respond};
use hooks_agent_core::message::{ContentBlock, GenerateReason, Role};
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{Decision, DecisionError, StoreError};
use hooks_agent_core::testing::{Calls, Script};
use serde_json::json;

use crate::human_in_the_loop::{Clerk, inputs, test_call};

fn asked() -> Script {
    Script::new()
        .turn(vec![ContentBlock::text("I'll help you"), ContentBlock::ToolUse(test_call())])
}

fn hook() -> HumanInTheLoop {
    HumanInTheLoop::new().ask_with("test_tool", Gate::new().allow([Approve, Edit, Reject]).unwrap())
}

/// The vectors' agent at its question.
async fn at_the_question(tool: &Calls) -> Clerk {
    let clerk = Clerk::new(&asked().says("done").says("bye"), &[tool], hook());
    let reply = clerk.go().await;
    assert_eq!(reply.reason, Some(GenerateReason::PermissionAsking));
    clerk
}

fn refused(error: AgentError) -> DecisionError {
    let AgentError::Store(StoreError::Decision(error)) = error else { panic!("{error:?}") };
    error
}

#[tokio::test]
async fn an_approved_call_runs_as_the_model_wrote_it_and_is_not_asked_about_again() {
    let tool = Calls::new("test_tool").answers("result");
    let clerk = at_the_question(&tool).await;
    let answer = clerk.history()[1].clone();
    assert_eq!(clerk.decide([("1", Decision::Approve)]).await.text(), "done");
    tool.assert_called_with([json!({ "input": "test" })]);
    assert_eq!(clerk.history()[1], answer);
    // No notice, and nothing ran in its place.
    assert_eq!((clerk.results()[0].output.as_str(), &clerk.results()[0].ran), ("result", &None));
    assert!(clerk.waiting().await.is_empty());
    assert_eq!(clerk.go().await.text(), "bye");
}

#[tokio::test]
async fn an_edit_runs_once_and_the_message_of_the_model_stays() {
    let tool = Calls::new("test_tool").answers("result");
    let clerk = at_the_question(&tool).await;
    let answer = clerk.history()[1].clone();
    clerk.decide([("1", Decision::Edit(json!({ "input": "edited" })))]).await;
    tool.assert_called_with([json!({ "input": "edited" })]);
    assert_eq!(clerk.history()[1], answer);
    let result = &clerk.results()[0];
    assert_eq!(
        result.output,
        "The user edited this tool call before it ran.\n\nExecuted instead: test_tool with arguments \
         {\"input\":\"edited\"}.\n\nTool response:\nresult"
    );
    assert_eq!(result.ran.as_ref().unwrap().input, json!({ "input": "edited" }));
}

#[tokio::test]
async fn a_rejection_answers_the_call_with_its_reason() {
    let tool = Calls::new("test_tool");
    let clerk = at_the_question(&tool).await;
    clerk.decide([("1", Decision::Reject("M".to_owned()))]).await;
    let result = &clerk.results()[0];
    assert_eq!((&*result.id, &*result.name, result.is_error), ("1", "test_tool", true));
    assert_eq!(result.output, "User rejected the tool call for `test_tool` with reason: M");
    assert!(clerk.history()[1].tool_uses().next().is_some(), "the call stays in the answer");
    assert!(inputs(&tool).is_empty());
}

#[tokio::test]
async fn a_rejection_without_a_reason_says_not_to_retry() {
    let clerk = at_the_question(&Calls::new("test_tool")).await;
    clerk.decide([("1", Decision::Reject(String::new()))]).await;
    assert_eq!(
        clerk.results()[0].output,
        "User rejected the tool call for `test_tool` with id 1. The tool was not executed. Do not \
         retry this tool call unless the user explicitly requests it."
    );
}

#[tokio::test]
async fn a_response_is_the_result_and_the_tool_does_not_run() {
    let tool = Calls::new("ask_user");
    let question = ToolUse::new("1", "ask_user", json!({ "question": "Which colour?" }));
    let script = Script::new().calls([question]).says("done");
    let gate = Gate::new().allow([Respond]).unwrap();
    let clerk = Clerk::new(&script, &[&tool], HumanInTheLoop::new().ask_with("ask_user", gate));
    clerk.go().await;
    assert_eq!(clerk.decide([("1", Decision::Respond("blue".into()))]).await.text(), "done");
    let result = &clerk.results()[0];
    assert_eq!((result.output.as_str(), result.is_error), ("blue", false));
    assert!(inputs(&tool).is_empty());
}

#[tokio::test]
async fn of_an_approved_and_a_rejected_call_one_runs_and_both_stay_in_the_answer() {
    let (forecast, temperature) =
        (Calls::new("get_forecast").answers("sun"), Calls::new("get_temperature"));
    let calls = [
        ToolUse::new("1", "get_forecast", json!({ "location": "SF" })),
        ToolUse::new("2", "get_temperature", json!({ "location": "SF" })),
    ];
    let script = Script::new().calls(calls.clone()).says("done");
    let hook = HumanInTheLoop::new().ask_all(["get_forecast", "get_temperature"]);
    let clerk = Clerk::new(&script, &[&forecast, &temperature], hook);
    clerk.go().await;
    let reason = "User rejected this tool call".to_owned();
    clerk.decide([("1", Decision::Approve), ("2", Decision::Reject(reason))]).await;
    assert_eq!((inputs(&forecast).len(), inputs(&temperature).len()), (1, 0));
    let answer = clerk.history()[1].clone();
    assert_eq!(answer.tool_uses().cloned().collect::<Vec<_>>(), calls);
    assert_eq!(clerk.results().len(), 2);
}

#[tokio::test]
async fn a_call_that_nobody_is_asked_about_waits_for_those_of_its_answer_and_keeps_its_place() {
    let (auto, tool) = (Calls::new("auto_tool").answers("a"), Calls::new("test_tool").answers("b"));
    let calls = [ToolUse::new("0", "auto_tool", json!({})), test_call()];
    let clerk = Clerk::new(&Script::new().calls(calls).says("done"), &[&auto, &tool], hook());
    let reply = clerk.go().await;
    let pending: Vec<_> = reply.pending().iter().map(|pending| pending.id.as_str()).collect();
    assert_eq!(pending, ["0", "1"]);
    assert!(inputs(&auto).is_empty(), "nothing of the answer runs before it is decided");
    let waiting = clerk.waiting().await;
    assert_eq!(waiting.len(), 1);
    clerk.decide([("1", Decision::Approve)]).await;
    let results: Vec<_> = clerk.results().into_iter().map(|result| result.id).collect();
    assert_eq!(results, ["0", "1"]);
}

#[tokio::test]
async fn a_tool_without_a_gate_runs_unasked() {
    let tool = Calls::new("other").answers("a");
    let script = Script::new().calls([ToolUse::new("1", "other", json!({}))]).says("done");
    let clerk = Clerk::new(&script, &[&tool], hook());
    assert_eq!(clerk.go().await.text(), "done");
}

#[tokio::test]
async fn ask_alone_allows_all_four_decisions() {
    let tool = Calls::new("test_tool");
    let clerk = Clerk::new(&asked(), &[&tool], HumanInTheLoop::new().ask("test_tool"));
    clerk.go().await;
    assert_eq!(clerk.waiting().await[0].allowed, [Approve, Edit, Reject, Respond]);
}

#[tokio::test]
async fn a_decision_that_is_not_allowed_is_refused_and_the_call_still_waits() {
    let tool = Calls::new("test_tool");
    let clerk = at_the_question(&tool).await;
    let error = clerk.try_decide([("1", Decision::Respond("blue".into()))]).await.unwrap_err();
    let DecisionError::NotAllowed { tool: of, decision, allowed, .. } = refused(error) else {
        panic!()
    };
    assert_eq!((&*of, decision, &*allowed), ("test_tool", Respond, &[Approve, Edit, Reject][..]));
    assert_eq!(clerk.waiting().await.len(), 1);
    assert!(serde_json::from_value::<Decision>(json!({ "unknown": {} })).is_err());
}

#[tokio::test]
async fn without_a_decision_the_call_waits_again_for_the_same_question() {
    let clerk = at_the_question(&Calls::new("test_tool")).await;
    let before = clerk.waiting().await;
    let reply = clerk.agent.resume(CallOptions::new()).await.unwrap();
    assert_eq!(reply.reason, Some(GenerateReason::PermissionAsking));
    assert_eq!((reply.pending().len(), reply.text().as_str()), (1, "I'll help you"));
    assert_eq!(clerk.waiting().await, before);
}

#[tokio::test]
async fn two_decisions_about_one_call_are_refused() {
    let clerk = at_the_question(&Calls::new("test_tool")).await;
    let decisions = [("1", Decision::Approve), ("1", Decision::Reject(String::new()))];
    let error = refused(clerk.try_decide(decisions).await.unwrap_err());
    assert!(matches!(error, DecisionError::Twice { .. }), "{error}");
    assert_eq!(clerk.waiting().await.len(), 1);
}

#[tokio::test]
async fn an_id_that_comes_again_is_asked_about_again_and_no_earlier_edit_is_replayed() {
    let tool = Calls::new("test_tool").answers("a").answers("b");
    let script = asked().calls([test_call()]).says("done");
    let clerk = Clerk::new(&script, &[&tool], hook());
    clerk.go().await;
    let reply = clerk.decide([("1", Decision::Edit(json!({ "input": "edited" })))]).await;
    assert_eq!(reply.reason, Some(GenerateReason::PermissionAsking));
    clerk.decide([("1", Decision::Approve)]).await;
    tool.assert_called_with([json!({ "input": "edited" }), json!({ "input": "test" })]);
    assert_eq!(clerk.results()[1].output, "b");
}

#[tokio::test]
async fn questions_are_answered_by_id_in_any_order_one_by_one() {
    let tool = Calls::new("test_tool").answers("a").answers("b");
    let second = ToolUse::new("2", "test_tool", test_call().input);
    let script = Script::new().calls([test_call(), second]).says("done");
    let clerk = Clerk::new(&script, &[&tool], hook());
    clerk.go().await;
    let reply = clerk.decide([("2", Decision::Edit(json!({ "input": "second" })))]).await;
    assert_eq!(reply.reason, Some(GenerateReason::PermissionAsking));
    assert!(inputs(&tool).is_empty());
    let error = clerk.try_decide([("1", Decision::Edit(json!([])))]).await.unwrap_err();
    assert!(matches!(refused(error), DecisionError::Schema { .. }));
    assert_eq!(clerk.decide([("1", Decision::Approve)]).await.text(), "done");
    tool.assert_called_with([json!({ "input": "test" }), json!({ "input": "second" })]);
}

#[tokio::test]
async fn a_retry_outside_does_not_ask_again() {
    struct Twice;

    #[agent_hook]
    impl Twice {
        async fn again(
            &self,
            call: ToolCall<'_>,
            next: NextTool<'_>,
        ) -> Result<ToolResult, ToolError> {
            match next.run(call.tool_use().clone()).await {
                Err(_) => next.run(call.into_tool_use()).await,
                ended => ended,
            }
        }
    }

    let tool = Calls::new("test_tool").fails("once").answers("result");
    let clerk = Clerk::with(&asked().says("done"), &[&tool], |builder| {
        builder.hook(Twice.with_priority(1)).hook(hook())
    });
    clerk.go().await;
    assert_eq!(clerk.decide([("1", Decision::Approve)]).await.text(), "done");
    assert_eq!(inputs(&tool).len(), 2);
    assert_eq!(clerk.history()[1].role, Role::Assistant);
}
