//! Finds the private text of a call, and the words of its user.

use std::iter::successors;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hooks_agent_core::call::{CallContext, Door, Foreign};
use hooks_agent_core::event::HookEvent;
use hooks_agent_core::message::{Msg, Role, ToolResult};
use hooks_agent_core::options::Globs;

use crate::egress::links::each_listed_link;
use crate::egress::private::{Private, digest};
use crate::egress::thread::{
    Thread, begins_with, is_replaced, note_above, note_private, note_said, seen, texts, texts_of,
};
use crate::expression::HostPattern;

/// Private tools, and the hosts that links may have.
#[derive(Debug)]
pub(super) struct Guarded {
    pub(super) hosts: Arc<[HostPattern]>,
    pub(super) tools: Globs,
}

/// What is kept of a call.
#[derive(Default)]
struct OfCall {
    /// Private texts that are in no message of the thread.
    foreign: Mutex<Vec<Arc<str>>>,
    last: Mutex<Option<Found>>,
}

/// What was found in threads as they were.
struct Found {
    of: Vec<Thread>,
    private: Option<Arc<Private>>,
}

impl Found {
    fn is_of(&self, threads: &[Thread]) -> bool {
        self.of.len() == threads.len()
            && self.of.iter().zip(threads).all(|(own, thread)| own.is(thread))
    }

    /// Returns whether the innermost thread has gone on, so that what was found before holds. Results of one batch are
    /// read together.
    fn goes_on_in(&self, threads: &[Thread]) -> bool {
        let (Some((own, above)), Some((thread, others))) =
            (self.of.split_last(), threads.split_last())
        else {
            return false;
        };
        let (before, now) = (&own.messages, &thread.messages);
        let is_result = |msg: Option<&Arc<Msg>>| msg.is_some_and(|msg| msg.role == Role::Tool);
        let mut since = now.shared().skip(before.len());
        let is_batch = is_result(before.shared().next_back()) && is_result(since.next());
        let begins = begins_with(now, before);
        self.private.is_some()
            && begins
            && !is_batch
            && own.seen.said == thread.seen.said
            && own.foreign.len() == thread.foreign.len()
            && is_replaced(&own.messages, &own.seen) == is_replaced(&thread.messages, &thread.seen)
            && above.len() == others.len()
            && above.iter().zip(others).all(|(own, other)| own.is(other))
    }

    /// Returns how many messages the innermost thread had.
    fn count(&self) -> usize {
        self.of.last().map_or(0, |thread| thread.messages.len())
    }
}

impl Guarded {
    /// Notes what the user says, and which results are private.
    pub(super) fn note(&self, event: &HookEvent<'_>) {
        let cx = event.context();
        match event {
            HookEvent::PreCall(event) => {
                let of_user = event.messages().iter().filter(|msg| msg.role == Role::User);
                note_said(cx, of_user.flat_map(texts));
                let results = event.messages().iter().flat_map(Msg::tool_results);
                let private = results.filter(|it| self.is_private(it));
                note_private(cx, private.map(|it| it.id.clone()));
                // A sub-agent may say again what it read for an earlier task.
                if cx.parent().is_some() && self.has_private(cx) {
                    note_above(cx);
                }
            }
            HookEvent::PostActing(event) if self.is_private(event.tool_result()) => {
                note_private(cx, [event.tool_use().id.clone()].into_iter());
            }
            _ => {}
        }
    }

    /// Notes what comes in by another door.
    pub(super) fn note_foreign(&self, cx: &CallContext, foreign: &Foreign<'_>) {
        let text = foreign.content.as_str();
        match foreign.door {
            Door::Steering => note_said(cx, [text].into_iter()),
            Door::Passage | Door::Memory | Door::Skill if self.tools.is_match(foreign.tool) => {
                lock(&self.of_call(cx).foreign).push(text.into());
                note_above(cx);
            }
            _ => {}
        }
    }

    fn is_private(&self, result: &ToolResult) -> bool {
        self.tools.is_match(&result.name)
    }

    fn of_call(&self, cx: &CallContext) -> Arc<OfCall> {
        cx.hook_state(std::ptr::from_ref(self).addr())
    }

    fn has_private(&self, cx: &CallContext) -> bool {
        self.thread(cx).is_none_or(|thread| thread.has_private(&self.tools))
    }

    /// Returns what is private in a call: in its thread, and in those of the calls that it is part of.
    pub(super) fn private(&self, cx: &CallContext) -> Option<Arc<Private>> {
        let mut calls: Vec<_> = successors(Some(cx), |cx| cx.parent()).collect();
        calls.reverse();
        let threads: Option<Vec<_>> = calls.into_iter().map(|cx| self.thread(cx)).collect();
        let Some(threads) = threads else {
            return Some(Arc::new(Private::default().unknown()));
        };
        let of_call = self.of_call(cx);
        let mut last = lock(&of_call.last);
        let (of, private) = match last.take() {
            Some(found) if found.is_of(&threads) => (found.of, found.private),
            Some(found) if found.goes_on_in(&threads) => {
                let (from, mut private) = (found.count(), found.private);
                if let (Some(thread), Some(private)) = (threads.last(), &mut private) {
                    self.add_messages(thread, from, Arc::make_mut(private));
                }
                (threads, private)
            }
            _ => {
                let private = self.found(&threads).map(Arc::new);
                (threads, private)
            }
        };
        *last = Some(Found { of, private: private.clone() });
        private
    }

    /// Returns what a thread says; `None` if that is not known.
    fn thread(&self, cx: &CallContext) -> Option<Thread> {
        let messages = cx.memory()?.messages();
        let seen = seen(cx).ok()?;
        let foreign = lock(&self.of_call(cx).foreign).clone();
        Some(Thread { messages, seen, foreign })
    }

    fn found(&self, threads: &[Thread]) -> Option<Private> {
        if !threads.iter().any(|thread| thread.has_private(&self.tools)) {
            return None;
        }
        let mut private = Private::default();
        if let [outermost, ..] = threads {
            let said = outermost.messages.iter().filter(|msg| msg.role == Role::User);
            let said = said.flat_map(texts).filter(|it| outermost.seen.said.contains(&digest(it)));
            said.for_each(|text| private.add_of_user(text));
        }
        for thread in threads {
            thread.foreign.iter().for_each(|text| private.add(text));
            self.add_messages(thread, 0, &mut private);
        }
        Some(private)
    }

    /// Adds the messages of a thread from one on, in their order: a link may be repeated if it carried nothing when it
    /// came.
    fn add_messages(&self, thread: &Thread, from: usize, private: &mut Private) {
        let Thread { messages, seen, .. } = thread;
        let is_replaced = is_replaced(messages, seen);
        // The calls of a batch were written before any of its results was read.
        let mut batch = Vec::new();
        let read = |batch: &mut Vec<String>, private: &mut Private| {
            batch.drain(..).for_each(|text| private.add(&text));
        };
        for msg in messages.iter().skip(from) {
            if msg.role != Role::Tool {
                read(&mut batch, private);
            }
            for text in texts(msg) {
                self.add_links(text, private);
                let is_said = msg.role == Role::Assistant || seen.said.contains(&digest(text));
                if is_replaced && !is_said {
                    private.add(text);
                }
            }
            for result in msg.tool_results() {
                let texts = texts_of(result);
                for text in &texts {
                    self.add_links(text, private);
                }
                if self.is_private(result) || seen.calls.contains(&result.id) {
                    batch.extend(texts);
                }
            }
        }
        read(&mut batch, private);
    }

    fn add_links(&self, text: &str, private: &mut Private) {
        each_listed_link(text, &self.hosts, |link| private.add_link(link));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
