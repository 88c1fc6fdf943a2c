//! `${env:NAME}` in texts.

use std::env::{self, VarError};

use hooks_agent_core::options::{Node, Value, shown_key};

use crate::policy::file::document::Problems;

const OPENING: &str = "${";
const PREFIX: &str = "env:";

/// Puts the values of the environment in the texts of a value.
pub(crate) fn resolve(node: &mut Node, key: &str, problems: &mut Problems<'_>) {
    let at = node.span.start;
    match &mut node.value {
        Value::Text { raw, resolved, is_secret } if raw.contains(OPENING) => {
            match resolve_text(raw) {
                Ok((text, has_values)) => {
                    (*resolved, *is_secret) = (Some(text), has_values);
                }
                Err(why) => problems.add(at, key, why),
            }
        }
        Value::List(list) => {
            for (index, node) in list.iter_mut().enumerate() {
                resolve(node, &format!("{key}[{index}]"), problems);
            }
        }
        Value::Table(entries) => {
            for (name, node) in entries {
                resolve(node, &format!("{key}.{}", shown_key(&name.name)), problems);
            }
        }
        _ => {}
    }
}

/// Returns the text with its values, and whether it has any.
fn resolve_text(raw: &str) -> Result<(String, bool), String> {
    let (mut text, mut rest, mut has_values) = (String::new(), raw, false);
    while let Some(at) = rest.find(OPENING) {
        let (before, from) = rest.split_at(at);
        let inner = &from[OPENING.len()..];
        // `$${` is the text `${`.
        if let Some(before) = before.strip_suffix('$') {
            text.push_str(before);
            text.push_str(OPENING);
            rest = inner;
            continue;
        }
        let name = inner.strip_prefix(PREFIX).and_then(|it| it.split_once('}'));
        let Some((name, after)) = name.filter(|(name, _)| is_name(name)) else {
            return Err("expected `${env:NAME}`; write `$${` for the text `${`".to_owned());
        };
        text.push_str(before);
        text.push_str(&value_of(name)?);
        (has_values, rest) = (true, after);
    }
    text.push_str(rest);
    Ok((text, has_values))
}

fn is_name(name: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    name.len() <= 256
        && name.bytes().all(is_word)
        && name.starts_with(|first: char| !first.is_ascii_digit())
}

fn value_of(name: &str) -> Result<String, String> {
    match env::var(name) {
        Ok(value) if value.is_empty() => Err(format!("the environment variable `{name}` is empty")),
        Ok(value) => Ok(value),
        Err(VarError::NotPresent) => Err(format!("the environment variable `{name}` is not set")),
        Err(VarError::NotUnicode(_)) => {
            Err(format!("the environment variable `{name}` is not UTF-8"))
        }
    }
}
