//! A list of messages that is cheap to clone.

use std::fmt;
use std::ops::{Index, RangeBounds};
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::message::msg::Msg;

/// A list of messages. A clone shares the list and the messages; what is shared is copied before it changes:
/// the list, which costs a counter a message, and a message that itself changes.
///
/// Its methods are those of a `Vec<Msg>`. By value it iterates over the shared messages, as
/// `Arc<Msg>`.
///
/// ```
/// use hooks_agent::message::{Messages, Msg};
///
/// let mut messages = Messages::from([Msg::user("Hello"), Msg::assistant("bot", "Hi")]);
/// let before = messages.clone();
/// messages.push(Msg::user("secret"));
/// for msg in messages.iter_mut().filter(|msg| msg.text() == "secret") {
///     *msg = Msg::user("[redacted]");
/// }
/// assert_eq!((before.len(), messages[2].text().as_str()), (2, "[redacted]"));
/// ```
#[derive(Clone, Default)]
pub struct Messages(Option<Arc<Vec<Arc<Msg>>>>);

impl Messages {
    /// Creates an empty list.
    #[must_use]
    pub const fn new() -> Self {
        Self(None)
    }

    /// Appends a message.
    pub fn push(&mut self, msg: impl Into<Arc<Msg>>) {
        self.list_mut().push(msg.into());
    }

    /// Inserts a message before the one at `index`.
    ///
    /// # Panics
    /// Panics if `index` is greater than the number of messages, like [`Vec::insert`].
    pub fn insert(&mut self, index: usize, msg: impl Into<Arc<Msg>>) {
        self.list_mut().insert(index, msg.into());
    }

    /// Removes the message at `index` and returns it.
    ///
    /// # Panics
    /// Panics if there is no message at `index`, like [`Vec::remove`].
    pub fn remove(&mut self, index: usize) -> Arc<Msg> {
        self.list_mut().remove(index)
    }

    /// Removes the messages of this range and returns them.
    ///
    /// # Panics
    /// Panics if the range ends behind the last message, like [`Vec::drain`].
    #[must_use]
    pub fn drain(&mut self, range: impl RangeBounds<usize>) -> Self {
        self.list_mut().drain(range).collect()
    }

    /// Keeps the messages for which `keep` returns true.
    pub fn retain(&mut self, mut keep: impl FnMut(&Msg) -> bool) {
        self.list_mut().retain(|msg| keep(msg));
    }

    /// Keeps the first `len` messages.
    pub fn truncate(&mut self, len: usize) {
        if len < self.len() {
            self.list_mut().truncate(len);
        }
    }

    /// Removes all messages.
    pub fn clear(&mut self) {
        self.0 = None;
    }

    /// Returns the number of messages.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shared().len()
    }

    /// Returns whether there are no messages.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.shared().is_empty()
    }

    /// Returns the message at `index`.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&Msg> {
        self.shared().get(index).map(|msg| &**msg)
    }

    /// Returns a mutable reference to the message at `index`. A shared message is copied first.
    pub fn get_mut(&mut self, index: usize) -> Option<&mut Msg> {
        self.shared_mut().get_mut(index).map(Arc::make_mut)
    }

    /// Returns the first message.
    #[must_use]
    pub fn first(&self) -> Option<&Msg> {
        self.get(0)
    }

    /// Returns the last message.
    #[must_use]
    pub fn last(&self) -> Option<&Msg> {
        self.shared().last().map(|msg| &**msg)
    }

    /// Returns a mutable reference to the last message. A shared message is copied first.
    pub fn last_mut(&mut self) -> Option<&mut Msg> {
        self.shared_mut().last_mut().map(Arc::make_mut)
    }

    /// Returns an iterator over the messages.
    pub fn iter(&self) -> MessagesIter<'_> {
        self.into_iter()
    }

    /// Returns an iterator of mutable references to the messages. A shared message is copied when
    /// the iterator reaches it.
    pub fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut Msg> {
        self.shared_mut().iter_mut().map(Arc::make_mut)
    }

    /// Returns the messages as they are shared: a message that two conversations have is the same one.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use hooks_agent::message::{Messages, Msg};
    ///
    /// let messages = Messages::from(vec![Msg::user("hello")]);
    /// let copy = messages.clone();
    /// assert!(Arc::ptr_eq(&messages.shared()[0], &copy.shared()[0]));
    /// ```
    #[must_use]
    pub fn shared(&self) -> &[Arc<Msg>] {
        self.0.as_deref().map_or(&[], Vec::as_slice)
    }

    /// Returns the messages as they are shared, to copy those that change.
    pub(crate) fn shared_mut(&mut self) -> &mut [Arc<Msg>] {
        if self.is_empty() { &mut [] } else { self.list_mut() }
    }

    fn list_mut(&mut self) -> &mut Vec<Arc<Msg>> {
        Arc::make_mut(self.0.get_or_insert_default())
    }
}

impl fmt::Debug for Messages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Messages").field(&self.shared()).finish()
    }
}

impl PartialEq for Messages {
    fn eq(&self, other: &Self) -> bool {
        let is_one = match (&self.0, &other.0) {
            (Some(own), Some(other)) => Arc::ptr_eq(own, other),
            _ => false,
        };
        is_one || self.shared() == other.shared()
    }
}

impl Serialize for Messages {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.shared().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Messages {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::<Arc<Msg>>::deserialize(deserializer).map(Self::from)
    }
}

/// An iterator over messages.
pub type MessagesIter<'a> =
    std::iter::Map<std::slice::Iter<'a, Arc<Msg>>, fn(&'a Arc<Msg>) -> &'a Msg>;

impl Index<usize> for Messages {
    type Output = Msg;

    fn index(&self, index: usize) -> &Msg {
        &self.shared()[index]
    }
}

impl From<Msg> for Messages {
    fn from(msg: Msg) -> Self {
        vec![Arc::new(msg)].into()
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
        Self((!messages.is_empty()).then(|| Arc::new(messages)))
    }
}

impl<M: Into<Arc<Msg>>> FromIterator<M> for Messages {
    fn from_iter<I: IntoIterator<Item = M>>(messages: I) -> Self {
        messages.into_iter().map(Into::into).collect::<Vec<Arc<Msg>>>().into()
    }
}

impl<M: Into<Arc<Msg>>> Extend<M> for Messages {
    fn extend<I: IntoIterator<Item = M>>(&mut self, messages: I) {
        let mut messages = messages.into_iter().map(Into::into).peekable();
        if messages.peek().is_some() {
            self.list_mut().extend(messages);
        }
    }
}

impl IntoIterator for Messages {
    type Item = Arc<Msg>;
    type IntoIter = std::vec::IntoIter<Arc<Msg>>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.map(Arc::unwrap_or_clone).unwrap_or_default().into_iter()
    }
}

impl<'a> IntoIterator for &'a Messages {
    type Item = &'a Msg;
    type IntoIter = MessagesIter<'a>;

    fn into_iter(self) -> Self::IntoIter {
        self.shared().iter().map(|msg| &**msg)
    }
}
