//! A decision is about what was shown.

use hooks_agent_core::call::RunId;
use hooks_agent_core::message::Msg;
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{Decision, DecisionError, StoreError, Verdict, Waiting};

use crate::agents::stores::{Paid, Place, clerk, refused, sqlite, waiting};

const QUESTION: &str = r#"UPDATE question SET body = replace(body, '"euros":12', '"euros":1200')"#;
const MESSAGE: &str = r#"UPDATE message SET body = replace(body, '"euros":12', '"euros":1200')"#;
const STATE: &str = r#"UPDATE thread SET state = replace(state, '"euros":12', '"euros":1200')"#;

/// Leaves the question about 12 euros.
async fn asked(place: &Place, paid: &Paid) -> std::sync::Arc<str> {
    let store = place.open().await;
    clerk(store.clone(), paid).call("Pay").await.unwrap();
    waiting(&store).await.remove(0).id
}

#[tokio::test]
async fn ds_07_arguments_that_change_in_the_question_are_refused() {
    let (place, paid) = (sqlite(), Paid::default());
    let id = asked(&place, &paid).await;
    assert_eq!(place.execute(QUESTION).await, 1);
    for decision in [Decision::Approve, Decision::Reject(String::new())] {
        let agent = clerk(place.open().await, &paid);
        let options = CallOptions::new().decide(id.clone(), decision);
        let error = refused(agent.resume(options).await.unwrap_err());
        assert!(matches!(error, DecisionError::Changed { .. }), "{error}");
    }
    assert!(paid.take().is_empty());
}

#[tokio::test]
async fn ds_07_arguments_that_change_everywhere_else_do_not_run() {
    for changes in [&[MESSAGE][..], &[STATE], &[MESSAGE, STATE]] {
        let (place, paid) = (sqlite(), Paid::default());
        let id = asked(&place, &paid).await;
        for change in changes {
            assert!(place.execute(change).await > 0, "{change}");
        }
        let agent = clerk(place.open().await, &paid);
        agent.resume(CallOptions::new().decide(id, Decision::Approve)).await.unwrap();
        let history = agent.threads().memory("default").unwrap().messages();
        let result = history.iter().flat_map(Msg::tool_results).next().unwrap();
        assert_eq!(
            result.output,
            "the call was changed after it was shown for approval, so it did not run"
        );
        assert!(result.is_error && paid.take().is_empty());
    }
}

#[tokio::test]
async fn ds_07_arguments_that_change_after_the_decision_do_not_run() {
    for change in [QUESTION, MESSAGE] {
        let (place, paid) = (sqlite(), Paid::default());
        let id = asked(&place, &paid).await;
        let store = place.open().await;
        let verdict = hooks_agent_core::store::Verdict::new(id, Decision::Approve);
        store.decide(vec![verdict]).await.unwrap();
        assert!(place.execute(change).await > 0, "{change}");
        clerk(place.open().await, &paid).resume(CallOptions::new()).await.unwrap();
        assert!(paid.take().is_empty(), "{change}");
    }
}

#[tokio::test]
async fn a_question_of_other_arguments_under_the_same_id_is_refused() {
    let (place, paid) = (sqlite(), Paid::default());
    let id = asked(&place, &paid).await;
    // The digest is written anew with the arguments, the id that was shown has a part of the old one.
    place.execute(QUESTION).await;
    place
        .execute("UPDATE question SET body = json_set(body, '$.digest', printf('%064d', 0))")
        .await;
    let options = CallOptions::new().decide(id, Decision::Approve);
    let error = refused(clerk(place.open().await, &paid).resume(options).await.unwrap_err());
    assert!(matches!(error, DecisionError::Changed { .. }), "{error}");
    assert!(paid.take().is_empty());
}

#[tokio::test]
async fn a_digest_is_of_each_part_of_what_was_shown() {
    let (place, paid) = (sqlite(), Paid::default());
    asked(&place, &paid).await;
    let shown = waiting(&place.open().await).await.remove(0);
    assert!(shown.is_as_shown());
    let changes: [fn(&mut Waiting); 6] = [
        |it| it.agent = "another".into(),
        |it| it.thread = "another".into(),
        |it| it.run = RunId::random(),
        |it| it.call_id = "2".to_owned(),
        |it| it.tool = "publish".to_owned(),
        |it| it.arguments = serde_json::json!({ "euros": 1200 }),
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let mut other = shown.clone();
        change(&mut other);
        assert!(!other.is_as_shown(), "change {number}");
    }
}

#[tokio::test]
async fn a_question_that_is_moved_to_another_thread_is_refused() {
    let (place, paid) = (sqlite(), Paid::default());
    let id = asked(&place, &paid).await;
    let move_it = "UPDATE question SET body = json_set(body, '$.thread', 'another')";
    assert_eq!(place.execute(move_it).await, 1);
    let verdict = Verdict::new(id, Decision::Approve);
    let error = place.open().await.decide(vec![verdict]).await.unwrap_err();
    assert!(matches!(error, StoreError::Decision(DecisionError::Changed { .. })), "{error}");
}
