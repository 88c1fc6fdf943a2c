//! A question that nobody decides in time is refused for the model.

use std::sync::Arc;
use std::time::Duration;

use hooks_agent_builtin::people::{Gate, HumanInTheLoop};
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::{Decision, DecisionError, Store};

use crate::agents::stores::{Paid, builder, places, refused, waiting};

const REFUSAL: &str = "User rejected the tool call for `pay` with reason: no decision in time";

fn hasty(store: Arc<dyn Store>, paid: &Paid, time: Duration) -> ReActAgent {
    let gate = Gate::new().expires_after(time);
    builder(store, paid).hook(HumanInTheLoop::new().ask_with("pay", gate)).build().unwrap()
}

#[tokio::test]
async fn an_expired_question_is_refused_by_a_sweep() {
    for place in places().await {
        let (store, paid) = (place.open().await, Paid::default());
        hasty(store.clone(), &paid, Duration::ZERO).call("Pay").await.unwrap();
        let asked = waiting(&store).await.remove(0);
        assert_eq!(asked.expires, Some(asked.since));
        assert_eq!((store.expire().await.unwrap(), store.expire().await.unwrap()), (1, 0));
        assert!(waiting(&store).await.is_empty());
        let agent = hasty(place.open().await, &paid, Duration::ZERO);
        assert_eq!(agent.resume(CallOptions::new()).await.unwrap().text(), REFUSAL);
        assert!(paid.take().is_empty());
    }
}

#[tokio::test]
async fn an_expired_question_is_refused_by_the_next_call() {
    for place in places().await {
        let paid = Paid::default();
        hasty(place.open().await, &paid, Duration::ZERO).call("Pay").await.unwrap();
        let agent = hasty(place.open().await, &paid, Duration::ZERO);
        assert_eq!(agent.call("And now?").await.unwrap().text(), "heard: And now?");
        let history = agent.threads().memory("default").unwrap().messages();
        let result = history.iter().flat_map(Msg::tool_results).next().unwrap();
        assert_eq!(result.output, REFUSAL);
        assert!(paid.take().is_empty());
    }
}

#[tokio::test]
async fn a_decision_after_the_expiry_is_refused() {
    for place in places().await {
        let (store, paid) = (place.open().await, Paid::default());
        let agent = hasty(store.clone(), &paid, Duration::ZERO);
        agent.call("Pay").await.unwrap();
        let asked = waiting(&store).await.remove(0);
        let options = CallOptions::new().decide(asked.id.clone(), Decision::Approve);
        let error = refused(agent.resume(options.clone()).await.unwrap_err());
        assert!(
            matches!(error, DecisionError::Expired { when, .. } if Some(when) == asked.expires),
            "{error}"
        );
        store.expire().await.unwrap();
        let error = refused(agent.resume(options).await.unwrap_err());
        assert!(
            matches!(error, DecisionError::Expired { when, .. } if Some(when) == asked.expires),
            "{error}"
        );
        assert!(paid.take().is_empty());
    }
}

#[tokio::test]
async fn a_question_waits_until_it_expires() {
    for place in places().await {
        let (store, paid) = (place.open().await, Paid::default());
        let hour = Duration::from_hours(1);
        let agent = hasty(store.clone(), &paid, hour);
        agent.call("Pay").await.unwrap();
        let asked = waiting(&store).await.remove(0);
        assert_eq!(asked.expires, Some(asked.since + 3_600_000));
        assert_eq!(store.expire().await.unwrap(), 0);
        let options = CallOptions::new().decide(asked.id, Decision::Approve);
        assert_eq!(agent.resume(options).await.unwrap().text(), "paid 12");
        assert_eq!(paid.take(), [12]);
    }
}
