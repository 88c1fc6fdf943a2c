//! A text that was read, with the tool that returned it.

use std::sync::{Arc, OnceLock};

use hooks_agent_core::message::visible;

use crate::provenance::entered::choice::Choice;
use crate::provenance::entered::user::Known;
use crate::provenance::reading::address::Form;
use crate::provenance::reading::fold::folded;
use crate::provenance::reading::needle::Needle;
use crate::provenance::reading::text::Text;

/// A text that a tool returned, or that others wrote.
pub(crate) struct Read {
    pub(crate) text: Arc<Text>,
    pub(crate) tool: String,
    /// The texts and numbers in the arguments of its call.
    arguments: Vec<String>,
    /// Whether others cannot write it.
    pub(crate) is_trusted: bool,
    /// Whether it describes a tool: it speaks of what the tool does anyway.
    pub(crate) is_description: bool,
    is_named: OnceLock<bool>,
    choice: OnceLock<Choice>,
}

impl Read {
    pub(crate) fn new(
        tool: &str,
        text: Arc<Text>,
        arguments: Vec<String>,
        is_trusted: bool,
    ) -> Self {
        Self {
            text,
            tool: tool.to_owned(),
            arguments,
            is_trusted,
            is_description: false,
            is_named: OnceLock::new(),
            choice: OnceLock::new(),
        }
    }

    /// Makes it the description of the tool.
    pub(crate) fn describing(self) -> Self {
        Self { is_description: true, ..self }
    }

    /// Whether the arguments of its own call have a value: what a tool repeats, it does not bring.
    pub(crate) fn repeats(&self, needle: &Needle) -> bool {
        let own = self.arguments.iter().map(|argument| folded(argument));
        own.into_iter().any(|own| {
            own.contains(&needle.text)
                || needle.places_in(&own).is_ok_and(|places| !places.is_empty())
        })
    }

    /// Returns the longest text among the arguments of its call, which says most.
    fn longest(&self) -> Option<&String> {
        let texts = self.arguments.iter().filter(|it| it.chars().count() >= 3);
        texts.max_by_key(|argument| argument.len())
    }

    /// Whether it was read by a URL.
    pub(crate) fn is_of_url(&self) -> bool {
        self.longest().is_some_and(|argument| Needle::new(argument, "").form() == Some(Form::Url))
    }

    /// Whether the user named what was read: wrote the longest text among the arguments of the call that returned it.
    pub(crate) fn is_named_by(&self, user: &Known) -> bool {
        *self.is_named.get_or_init(|| {
            self.longest().is_some_and(|argument| user.has_said(&Needle::new(argument, "")))
        })
    }

    /// Returns which records of the text the words of the user choose.
    pub(crate) fn choice(&self, user: &Known) -> &Choice {
        self.choice.get_or_init(|| Choice::of(&self.text, &user.said))
    }

    /// Says what it is: `read_file` (`bill.txt`).
    pub(crate) fn shown(&self) -> String {
        if self.is_description {
            return format!("the description of `{}`", self.tool);
        }
        match self.arguments.first() {
            Some(argument) => format!("`{}` (`{}`)", self.tool, shortened(argument)),
            None => format!("`{}`", self.tool),
        }
    }
}

/// Returns a value as a reason shows it.
pub(crate) fn shortened(value: &str) -> String {
    const MOST: usize = 60;
    let value = visible(value).replace(['\n', '`'], " ");
    match value.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value,
    }
}
