//! Labels that interceptors give to data, kept with the thread.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use agent_hooks::{InterceptionRecord, Verdict};
use hooks_agent_core::call::CallContext;
use serde_json::{Map, Value, json};

/// The thread value with the labels of a thread.
const VALUE: &str = "interceptors.labels";

/// The labels whose interceptor is not known: those of a declaration.
const ANY: &str = "hooks";

/// Names that the specification keeps for itself.
const RESERVED: [&str; 3] = ["acs", "ctk", "agent_hooks"];

/// Labels, by the name of the interceptor.
pub(super) type Labels = BTreeMap<String, BTreeSet<String>>;

/// The labels that interceptors have returned at one point, with their names.
#[derive(Clone, Default)]
pub(super) struct Returned(Arc<Mutex<Labels>>);

impl Returned {
    /// Notes the labels of a verdict that permits: others have none.
    pub(super) fn note(&self, name: &str, verdict: &Verdict) {
        if !verdict.result_labels.is_empty() && verdict.decision.permits() {
            let mut labels = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let of_name = labels.entry(namespace(name)).or_default();
            of_name.extend(verdict.result_labels.iter().cloned());
        }
    }

    /// Forgets what was noted since: there is no record of it yet.
    pub(super) fn forget(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Returns what was noted since, with what only the record has.
    pub(super) fn take(&self, record: &InterceptionRecord) -> Labels {
        let mut labels =
            std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        let known: BTreeSet<_> = labels.values().flatten().cloned().collect();
        let unknown = record.verdict.result_labels.iter().filter(|label| !known.contains(*label));
        let unknown: BTreeSet<_> = unknown.cloned().collect();
        if !unknown.is_empty() {
            labels.entry(ANY.to_owned()).or_default().extend(unknown);
        }
        labels
    }
}

/// Returns the namespace of an interceptor in contexts: its name, with `_` for what a namespace may not have.
fn namespace(name: &str) -> String {
    let small = name.chars().map(|letter| match letter.to_ascii_lowercase() {
        letter @ ('a'..='z' | '0'..='9') => letter,
        _ => '_',
    });
    let namespace: String = small.collect();
    let is_name = namespace.starts_with(|first: char| first.is_ascii_lowercase());
    if is_name && !RESERVED.contains(&&*namespace) { namespace } else { format!("x_{namespace}") }
}

/// Keeps labels with the thread of a call: what a later point gets is made of all that the thread has.
pub(super) fn keep(cx: &CallContext, new: Labels) {
    if new.is_empty() {
        return;
    }
    let kept = cx.update_thread_value(VALUE, |kept: &mut Option<Labels>| {
        let kept = kept.get_or_insert_default();
        for (name, labels) in new {
            kept.entry(name).or_default().extend(labels);
        }
    });
    if let Err(error) = kept {
        tracing::warn!(
            target: "hooks_agent::interceptors",
            agent = cx.agent_name(),
            error = &error as &dyn std::error::Error,
            "labels of interceptors were not kept"
        );
    }
}

/// Adds the labels of the thread to the extensions of a context.
pub(super) fn add(cx: &CallContext, extensions: &mut Map<String, Value>) {
    let Ok(Some(labels)) = cx.thread_value::<Labels>(VALUE) else { return };
    for (name, labels) in labels {
        let of_name = extensions.entry(name).or_insert_with(|| json!({}));
        if let Value::Object(of_name) = of_name {
            of_name.insert("source_labels".to_owned(), json!(labels));
        }
    }
}
