//! Values that hooks keep with a thread.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hooks_agent_builtin::limit::ModelCallLimit;
use hooks_agent_core::memory::ThreadValueError;
use hooks_agent_core::prelude::*;
use hooks_agent_core::store::ThreadKey;
use serde_json::json;

use crate::open::{LONG, address, messages, open};

/// Returns the first cause of this type.
fn cause<'a, T: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a T> {
    error.downcast_ref().or_else(|| cause(error.source()?))
}

#[tokio::test]
async fn ds_19_a_value_that_cannot_be_read_fails_the_call_before_it_begins() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&address(folder.path()), LONG).await;
    let asked = Arc::new(AtomicUsize::new(0));
    let builder = || {
        let asked = asked.clone();
        let model = ScriptedModel::new("count", move |request| {
            asked.fetch_add(1, Ordering::Relaxed);
            request.messages.len().to_string()
        });
        ReActAgent::builder("clerk").model(model).store(store.clone())
    };
    // Another version of the hook kept its counts in another way.
    let count = on(|event: &mut PostCall<'_>| {
        event.context().set_thread_value("ModelCallLimit", "five").unwrap();
    });
    let newer = builder().hook(count).build().unwrap();
    newer.call("Hello").await.unwrap();
    let limit = ModelCallLimit::builder().thread(9).build().unwrap();
    let limited = builder().hook(limit).build().unwrap();
    let error = limited.call("Again").await.unwrap_err();
    let AgentError::Hook(hook) = &error else { panic!("{error:?}") };
    assert!(hook.to_string().contains("ModelCallLimit"), "{hook}");
    let value = cause::<ThreadValueError>(&error).expect("the cause is kept");
    assert!(matches!(value, ThreadValueError::Read { name, .. } if name == "ModelCallLimit"));
    assert_eq!(asked.load(Ordering::Relaxed), 1, "the model was not asked");

    let key = ThreadKey::new("clerk", "default").unwrap();
    assert_eq!(store.values(&key).await.unwrap()["ModelCallLimit"], json!("five"));
    assert_eq!(messages(&*store, &key).await.get(1).unwrap().text(), "1");
    // The program that can read it goes on, with the same message once.
    let reply = newer.call("Again").await.unwrap();
    assert_eq!(reply.text(), "3");
}
