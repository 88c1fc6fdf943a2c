//! Reads the options of a hook.

use std::collections::HashSet;

use serde::de::DeserializeOwned;

use crate::options::deserializer::NodeDeserializer;
use crate::options::error::{Mistake, OptionError};
use crate::options::value::Node;

/// How many mistakes of one table are found.
const MOST: usize = 20;

/// Reads the options, or finds every mistake in them: what is wrong is taken out, and the rest is
/// read again.
///
/// # Errors
/// The mistakes, at most 20, in the order of the file.
pub fn read_options<T: DeserializeOwned>(node: &Node) -> Result<T, Vec<Mistake>> {
    let mut mistakes = match T::deserialize(NodeDeserializer(node)) {
        Ok(options) => return Ok(options),
        Err(mistake) => vec![mistake],
    };
    let (mut rest, mut removed) = (node.clone(), HashSet::new());
    let mut at = mistakes[0].offset;
    while mistakes.len() < MOST {
        // A key that is missing cannot be put in: its table goes, if it is one of several.
        let Some(name) = at.and_then(|offset| rest.remove(offset)) else { break };
        removed.insert(name);
        match T::deserialize(NodeDeserializer(&rest)) {
            Ok(_) => break,
            Err(next) => {
                at = next.offset;
                // It is missing because it was taken out.
                if !next.missing.is_some_and(|name| removed.contains(name)) {
                    mistakes.push(next);
                }
            }
        }
    }
    Err(mistakes)
}

impl Mistake {
    /// Creates the mistakes of options of which no hook can be made.
    pub(super) fn of_hook(mut error: OptionError, options: &Node) -> Vec<Self> {
        let others = std::mem::take(&mut error.others);
        let all = std::iter::once(error).chain(others).take(MOST);
        all.map(|error| Self::of_option(&error, options)).collect()
    }

    fn of_option(error: &OptionError, options: &Node) -> Self {
        let mistake = Self::revealing(error.to_string());
        let Some(key) = &error.key else { return mistake.or_at(options.span.start) };
        let node = options.find(key).unwrap_or(options);
        mistake.or_at(node.span.start).below(key.as_str())
    }

    /// Creates the mistake of a hook that adds tools.
    pub(super) fn of_tools(tools: &[String], options: &Node) -> Self {
        let tools: Vec<_> = tools.iter().map(|tool| format!("`{tool}`")).collect();
        let message = format!(
            "the hook adds the tools {}, and an agent has its tools when it is built; add the hook \
             in code",
            tools.join(", ")
        );
        Self::plain(message).or_at(options.span.start)
    }
}
