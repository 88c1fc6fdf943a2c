//! A list of messages that is cheap to clone.

use std::fmt;
use std::iter::FusedIterator;
use std::ops::{Bound, Index, RangeBounds};
use std::slice::Iter;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::message::msg::Msg;

/// A list of messages. A clone shares the list and the messages; what is shared is copied before it changes: a
/// message that changes, and of the list what follows the change, but never more than 128 messages for one that is
/// appended.
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
pub struct Messages(Option<Arc<List>>);

/// How many messages a part of a list has.
const PART: usize = 128;

/// The messages of a list, in parts that lists of the same beginning share.
#[derive(Clone, Default)]
struct List {
    /// Parts of [`PART`] messages each.
    full: Vec<Arc<Vec<Arc<Msg>>>>,
    /// The messages after them, fewer than a part has.
    tail: Vec<Arc<Msg>>,
}

impl List {
    fn of(messages: Vec<Arc<Msg>>) -> Self {
        if messages.len() < PART {
            return Self { full: Vec::new(), tail: messages };
        }
        let mut list = Self::default();
        list.extend(messages);
        list
    }

    fn len(&self) -> usize {
        self.full.len() * PART + self.tail.len()
    }

    fn get(&self, index: usize) -> Option<&Arc<Msg>> {
        match self.full.get(index / PART) {
            Some(part) => part.get(index % PART),
            None => self.tail.get(index - self.full.len() * PART),
        }
    }

    fn extend(&mut self, messages: impl IntoIterator<Item = Arc<Msg>>) {
        for msg in messages {
            self.tail.push(msg);
            if self.tail.len() == PART {
                let tail = Vec::with_capacity(PART);
                self.full.push(Arc::new(std::mem::replace(&mut self.tail, tail)));
            }
        }
    }

    /// Changes the messages from the part on in which the one at `index` is. The change gets them, and the index in
    /// them.
    fn edit<T>(&mut self, index: usize, change: impl FnOnce(&mut Vec<Arc<Msg>>, usize) -> T) -> T {
        let kept = (index / PART).min(self.full.len());
        let mut rest = Vec::new();
        for part in self.full.drain(kept..) {
            rest.extend(Arc::unwrap_or_clone(part));
        }
        if rest.is_empty() {
            rest = std::mem::take(&mut self.tail);
        } else {
            rest.append(&mut self.tail);
        }
        let changed = change(&mut rest, index - kept * PART);
        if rest.len() < PART {
            self.tail = rest;
        } else {
            self.extend(rest);
        }
        changed
    }

    fn into_vec(mut self) -> Vec<Arc<Msg>> {
        self.edit(0, |all, _| std::mem::take(all))
    }
}

impl Messages {
    /// Creates an empty list.
    #[must_use]
    pub const fn new() -> Self {
        Self(None)
    }

    /// Appends a message.
    pub fn push(&mut self, msg: impl Into<Arc<Msg>>) {
        self.list_mut().extend([msg.into()]);
    }

    /// Inserts a message before the one at `index`.
    ///
    /// # Panics
    /// Panics if `index` is greater than the number of messages, like [`Vec::insert`].
    pub fn insert(&mut self, index: usize, msg: impl Into<Arc<Msg>>) {
        let length = self.len();
        assert!(index <= length, "the index is {index}, and there are {length} messages");
        self.list_mut().edit(index, |rest, at| rest.insert(at, msg.into()));
    }

    /// Removes the message at `index` and returns it.
    ///
    /// # Panics
    /// Panics if there is no message at `index`, like [`Vec::remove`].
    pub fn remove(&mut self, index: usize) -> Arc<Msg> {
        let length = self.len();
        assert!(index < length, "the index is {index}, and there are {length} messages");
        self.list_mut().edit(index, Vec::remove)
    }

    /// Removes the messages of this range and returns them.
    ///
    /// # Panics
    /// Panics if the range ends behind the last message, like [`Vec::drain`].
    #[must_use]
    pub fn drain(&mut self, range: impl RangeBounds<usize>) -> Self {
        let length = self.len();
        let start = match range.start_bound() {
            Bound::Included(start) => *start,
            Bound::Excluded(before) => before.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(last) => last.saturating_add(1),
            Bound::Excluded(end) => *end,
            Bound::Unbounded => length,
        };
        assert!(
            start <= end && end <= length,
            "the range is {start}..{end}, and there are {length} messages"
        );
        let count = end - start;
        if count == 0 {
            return Self::new();
        }
        self.list_mut().edit(start, |rest, at| rest.drain(at..at + count).collect())
    }

    /// Keeps the messages for which `keep` returns true.
    pub fn retain(&mut self, mut keep: impl FnMut(&Msg) -> bool) {
        // What comes before the first that goes stays shared.
        if let Some(first) = self.iter().position(|msg| !keep(msg)) {
            self.list_mut().edit(first, |rest, at| {
                let mut number = 0;
                rest.retain(|msg| {
                    number += 1;
                    number <= at || number > at + 1 && keep(msg)
                });
            });
        }
    }

    /// Keeps the first `len` messages.
    pub fn truncate(&mut self, len: usize) {
        if len < self.len() {
            self.list_mut().edit(len, Vec::truncate);
        }
    }

    /// Removes all messages.
    pub fn clear(&mut self) {
        self.0 = None;
    }

    /// Returns the number of messages.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |list| list.len())
    }

    /// Returns whether there are no messages.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the message at `index`.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&Msg> {
        self.get_shared(index).map(|msg| &**msg)
    }

    /// Returns a mutable reference to the message at `index`. A shared message is copied first.
    pub fn get_mut(&mut self, index: usize) -> Option<&mut Msg> {
        if index >= self.len() {
            return None;
        }
        let List { full, tail } = self.list_mut();
        let part = full.get_mut(index / PART).map_or(tail, Arc::make_mut);
        part.get_mut(index % PART).map(Arc::make_mut)
    }

    /// Returns the first message.
    #[must_use]
    pub fn first(&self) -> Option<&Msg> {
        self.get(0)
    }

    /// Returns the last message.
    #[must_use]
    pub fn last(&self) -> Option<&Msg> {
        self.get(self.len().checked_sub(1)?)
    }

    /// Returns a mutable reference to the last message. A shared message is copied first.
    pub fn last_mut(&mut self) -> Option<&mut Msg> {
        self.get_mut(self.len().checked_sub(1)?)
    }

    /// Returns an iterator over the messages.
    #[must_use]
    pub fn iter(&self) -> MessagesIter<'_> {
        self.into_iter()
    }

    /// Returns an iterator of mutable references to the messages. A shared message is copied when
    /// the iterator reaches it.
    pub fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut Msg> {
        self.shared_mut().map(Arc::make_mut)
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
    /// assert!(messages.shared().zip(copy.shared()).all(|(one, other)| Arc::ptr_eq(one, other)));
    /// ```
    #[must_use]
    pub fn shared(&self) -> SharedMessages<'_> {
        self.0.as_deref().map(SharedMessages::of).unwrap_or_default()
    }

    /// Returns the message at `index` as it is shared.
    pub(crate) fn get_shared(&self, index: usize) -> Option<&Arc<Msg>> {
        self.0.as_ref()?.get(index)
    }

    /// Returns whether these are the last messages.
    pub(crate) fn ends_with(&self, last: &Self) -> bool {
        let before = self.len().checked_sub(last.len());
        before.is_some_and(|before| self.shared().skip(before).eq(last.shared()))
    }

    /// Returns the messages as they are shared, to copy those that change.
    pub(crate) fn shared_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut Arc<Msg>> {
        let list = if self.is_empty() { None } else { Some(self.list_mut()) };
        list.into_iter().flat_map(|List { full, tail }| {
            let full = full.iter_mut().flat_map(|part| Arc::make_mut(part).iter_mut());
            full.chain(tail)
        })
    }

    fn list_mut(&mut self) -> &mut List {
        Arc::make_mut(self.0.get_or_insert_default())
    }
}

impl fmt::Debug for Messages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Messages").field(&self.shared().collect::<Vec<_>>()).finish()
    }
}

impl PartialEq for Messages {
    fn eq(&self, other: &Self) -> bool {
        let is_one = match (&self.0, &other.0) {
            (Some(own), Some(other)) => Arc::ptr_eq(own, other),
            _ => false,
        };
        is_one || self.shared().eq(other.shared())
    }
}

impl Serialize for Messages {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.shared())
    }
}

impl<'de> Deserialize<'de> for Messages {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::<Arc<Msg>>::deserialize(deserializer).map(Self::from)
    }
}

/// An iterator over messages.
#[derive(Clone, Debug, Default)]
pub struct MessagesIter<'a>(SharedMessages<'a>);

impl<'a> Iterator for MessagesIter<'a> {
    type Item = &'a Msg;

    fn next(&mut self) -> Option<&'a Msg> {
        self.0.next().map(|msg| &**msg)
    }

    // A `skip` passes over whole parts.
    fn nth(&mut self, count: usize) -> Option<&'a Msg> {
        self.0.nth(count).map(|msg| &**msg)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }

    fn fold<B, F: FnMut(B, Self::Item) -> B>(self, first: B, mut add: F) -> B {
        self.0.fold(first, |folded, msg| add(folded, msg))
    }
}

impl DoubleEndedIterator for MessagesIter<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back().map(|msg| &**msg)
    }
}

impl ExactSizeIterator for MessagesIter<'_> {}

impl FusedIterator for MessagesIter<'_> {}

/// An iterator over messages as they are [shared](Messages::shared).
#[derive(Clone, Default)]
pub struct SharedMessages<'a> {
    front: Iter<'a, Arc<Msg>>,
    /// The parts between the front and the back.
    parts: Iter<'a, Arc<Vec<Arc<Msg>>>>,
    back: Iter<'a, Arc<Msg>>,
}

impl<'a> SharedMessages<'a> {
    fn of(List { full, tail }: &'a List) -> Self {
        Self { front: [].iter(), parts: full.iter(), back: tail.iter() }
    }
}

impl fmt::Debug for SharedMessages<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}

impl<'a> Iterator for SharedMessages<'a> {
    type Item = &'a Arc<Msg>;

    fn next(&mut self) -> Option<&'a Arc<Msg>> {
        loop {
            if let Some(msg) = self.front.next() {
                return Some(msg);
            }
            match self.parts.next() {
                Some(part) => self.front = part.iter(),
                None => return self.back.next(),
            }
        }
    }

    fn nth(&mut self, mut count: usize) -> Option<&'a Arc<Msg>> {
        if count >= self.front.len() {
            count -= self.front.len();
            self.front = [].iter();
            let skipped = (count / PART).min(self.parts.len());
            count -= skipped * PART;
            match self.parts.nth(skipped) {
                Some(part) => self.front = part.iter(),
                None => return self.back.nth(count),
            }
        }
        self.front.nth(count)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let length = self.front.len() + self.parts.len() * PART + self.back.len();
        (length, Some(length))
    }

    fn fold<B, F: FnMut(B, Self::Item) -> B>(self, first: B, mut add: F) -> B {
        let folded = self.front.fold(first, &mut add);
        let folded = self.parts.fold(folded, |folded, part| part.iter().fold(folded, &mut add));
        self.back.fold(folded, add)
    }
}

impl DoubleEndedIterator for SharedMessages<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(msg) = self.back.next_back() {
                return Some(msg);
            }
            match self.parts.next_back() {
                Some(part) => self.back = part.iter(),
                None => return self.front.next_back(),
            }
        }
    }
}

impl ExactSizeIterator for SharedMessages<'_> {}

impl FusedIterator for SharedMessages<'_> {}

impl Index<usize> for Messages {
    type Output = Msg;

    /// # Panics
    /// Panics if there is no message at `index`.
    fn index(&self, index: usize) -> &Msg {
        let length = self.len();
        let found = self.get(index);
        found.unwrap_or_else(|| panic!("the index is {index}, and there are {length} messages"))
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
        Self((!messages.is_empty()).then(|| Arc::new(List::of(messages))))
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
        self.0.map(Arc::unwrap_or_clone).unwrap_or_default().into_vec().into_iter()
    }
}

impl<'a> IntoIterator for &'a Messages {
    type Item = &'a Msg;
    type IntoIter = MessagesIter<'a>;

    fn into_iter(self) -> Self::IntoIter {
        MessagesIter(self.shared())
    }
}
