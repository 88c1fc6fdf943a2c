//! Makes the guard from a file of labels.

use std::collections::BTreeMap;

use hooks_agent_rules::{Provenance, Sink};
use serde::Deserialize;

#[derive(Deserialize)]
struct Labels {
    untrusted: Vec<String>,
    private: Vec<String>,
    plain: Vec<String>,
    sinks: BTreeMap<String, Arguments>,
}

#[derive(Deserialize)]
struct Arguments {
    destination: Vec<String>,
    #[serde(default)]
    content: Vec<String>,
}

/// The guard with its default settings. What is private is trusted, unless others write it or it changes something.
pub(crate) fn guard() -> Provenance {
    let labels: Labels = toml::from_str(include_str!("labels.toml")).expect("they are labels");
    let Labels { untrusted, private, plain, sinks } = labels;
    let trusted: Vec<_> = private
        .into_iter()
        .chain(plain)
        .filter(|tool| !untrusted.contains(tool) && !sinks.contains_key(tool))
        .collect();
    let guard = Provenance::new().untrusted(untrusted).unwrap().trusted(trusted).unwrap();
    sinks.into_iter().fold(guard, |guard, (tool, Arguments { destination, content })| {
        guard.sink(tool, Sink::new().destination(destination).content(content)).unwrap()
    })
}
