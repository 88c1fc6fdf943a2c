//! A list of messages that is cheap to clone.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::message::Msg;

/// A list of messages. A clone shares the messages; a shared message is copied before it changes.
///
/// It dereferences to `Vec<Arc<Msg>>` and adds the few operations where the `Arc` would be in the
/// way.
///
/// ```
/// use hooks_agent::{Messages, Msg};
///
/// let mut messages = Messages::from([Msg::user("Hello"), Msg::assistant("bot", "Hi")]);
/// let before = messages.clone();
/// messages.push(Msg::user("secret"));
/// for msg in messages.iter_mut().filter(|msg| msg.text() == "secret") {
///     *msg = Msg::user("[redacted]");
/// }
/// assert_eq!((before.len(), messages[2].text().as_str()), (2, "[redacted]"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Messages(Vec<Arc<Msg>>);

impl Messages {
    /// Creates an empty list.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Appends a message.
    pub fn push(&mut self, msg: impl Into<Arc<Msg>>) {
        self.0.push(msg.into());
    }

    /// Inserts a message before the one at `index`.
    ///
    /// # Panics
    /// Panics if `index` is greater than the number of messages, like [`Vec::insert`].
    pub fn insert(&mut self, index: usize, msg: impl Into<Arc<Msg>>) {
        self.0.insert(index, msg.into());
    }

    /// Returns an iterator of mutable references to the messages. A shared message is copied when
    /// the iterator reaches it.
    pub fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut Msg> {
        self.0.iter_mut().map(Arc::make_mut)
    }

    /// Returns a mutable reference to the last message. A shared message is copied first.
    pub fn last_mut(&mut self) -> Option<&mut Msg> {
        self.0.last_mut().map(Arc::make_mut)
    }
}

impl Deref for Messages {
    type Target = Vec<Arc<Msg>>;

    fn deref(&self) -> &Vec<Arc<Msg>> {
        &self.0
    }
}

impl DerefMut for Messages {
    fn deref_mut(&mut self) -> &mut Vec<Arc<Msg>> {
        &mut self.0
    }
}

impl From<Msg> for Messages {
    fn from(msg: Msg) -> Self {
        Self(vec![Arc::new(msg)])
    }
}

/// Creates a user message with this text.
impl From<&str> for Messages {
    fn from(text: &str) -> Self {
        Msg::user(text).into()
    }
}

/// Creates a user message with this text.
impl From<String> for Messages {
    fn from(text: String) -> Self {
        Msg::user(text).into()
    }
}

impl From<Vec<Msg>> for Messages {
    fn from(messages: Vec<Msg>) -> Self {
        messages.into_iter().collect()
    }
}

impl<const N: usize> From<[Msg; N]> for Messages {
    fn from(messages: [Msg; N]) -> Self {
        messages.into_iter().collect()
    }
}

impl From<Vec<Arc<Msg>>> for Messages {
    fn from(messages: Vec<Arc<Msg>>) -> Self {
        Self(messages)
    }
}

impl<M: Into<Arc<Msg>>> FromIterator<M> for Messages {
    fn from_iter<I: IntoIterator<Item = M>>(messages: I) -> Self {
        Self(messages.into_iter().map(Into::into).collect())
    }
}

impl<M: Into<Arc<Msg>>> Extend<M> for Messages {
    fn extend<I: IntoIterator<Item = M>>(&mut self, messages: I) {
        self.0.extend(messages.into_iter().map(Into::into));
    }
}

impl IntoIterator for Messages {
    type Item = Arc<Msg>;
    type IntoIter = std::vec::IntoIter<Arc<Msg>>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Messages {
    type Item = &'a Arc<Msg>;
    type IntoIter = std::slice::Iter<'a, Arc<Msg>>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}
