//! A module with nothing in scope but what it imports, and names that are others elsewhere.
#![no_implicit_prelude]
#![allow(dead_code)]

// What the derive of `JsonSchema` expands to needs it.
use ::std::convert::Into as _;

use ::agent::tool;
use ::agent::tool::{Permission, ToolContext};
use ::hooks::{hookable, HookError, Hookable, Hooks};

mod core {}
mod std {}
mod alloc {}
mod serde {}
struct String;
struct Vec;
struct Box;
struct Option;
struct Result;
struct Send;
struct Sync;
struct Clone;
struct Debug;

type Text = ::std::string::String;
type Outcome<T> = ::std::result::Result<T, HookError>;

#[derive(Hookable)]
#[hooks(crate = ::hooks)]
struct Agent {
    hooks: Hooks,
}

#[hookable(crate = ::hooks)]
impl Agent {
    async fn reply(&self, msg: &str, style: ::std::option::Option<&str>) -> Text {
        ::std::format!("{msg}{style:?}")
    }

    #[hook(fallible)]
    async fn plan(&self, goals: &[Text]) -> Outcome<usize> {
        ::std::result::Result::Ok(goals.len())
    }

    #[hook(reentry = "run", fallible)]
    fn think(&self, depth: u32) -> Outcome<u32> {
        ::std::result::Result::Ok(depth)
    }

    fn print(&mut self, text: Text) {
        ::std::mem::drop(text);
    }

    #[hook(args = "Opened")]
    async fn open(
        &self,
        name: impl ::std::convert::Into<Text>,
        path: ::std::option::Option<&::std::path::Path>,
        text: impl ::std::convert::AsRef<str>,
        items: impl ::std::iter::IntoIterator<Item = u8>,
        shown: impl ::std::string::ToString,
        cow: ::std::borrow::Cow<'_, str>,
    ) -> usize {
        let items = ::std::iter::Iterator::count(::std::iter::IntoIterator::into_iter(items));
        let name: Text = ::std::convert::Into::into(name);
        let texts = name.len() + ::std::convert::AsRef::as_ref(&text).len() + cow.len();
        let shown = ::std::string::ToString::to_string(&shown).len();
        texts + shown + items + path.map_or(0, |_| 1)
    }

    #[hook]
    fn later(&self, number: usize) -> impl ::std::future::Future<Output = usize> + '_ {
        let more = number + 1;
        async move { more - 1 }
    }
}

#[hookable(crate = ::hooks)]
trait Talker: Hookable {
    async fn observe(&self, msg: &str) -> Text;

    async fn acting(&self, msg: &str) -> Text {
        ::std::borrow::ToOwned::to_owned(msg)
    }
}

#[hookable(crate = ::hooks)]
impl Talker for Agent {
    async fn observe(&self, msg: &str) -> Text {
        ::std::borrow::ToOwned::to_owned(msg)
    }
}

/// Counts.
#[tool(crate = ::agent, idempotent, ask)]
async fn count_letters(
    /// The text.
    text: &str,
    more: ::std::option::Option<&[Text]>,
    cx: &ToolContext,
) -> ::std::result::Result<Text, ::std::fmt::Error> {
    cx.progress("counting");
    let more = ::std::option::Option::map_or(more, 0, <[Text]>::len);
    let count = ::std::future::ready(text.len() + more).await;
    ::std::result::Result::Ok(::std::format!("{count}"))
}

struct Library {
    book: Text,
}

#[tool(crate = ::agent)]
impl Library {
    /// Reads a page.
    #[tool(blocking, ask = Self::permission_to_read)]
    fn read(&self, page: &str) -> Text {
        ::std::format!("{} {page}", self.book)
    }

    /// Names the book.
    #[tool]
    async fn book(&self) -> &str {
        ::std::future::ready(self.book.as_str()).await
    }

    fn permission_to_read(_: &::agent::message::ToolUse) -> Permission {
        Permission::Allow
    }
}

#[cfg(test)]
mod tests {
    use ::std::prelude::rust_2021::*;

    use ::std::sync::Arc;

    use ::agent::message::ToolUse;
    use ::agent::tool::{Tool, ToolContext};
    use ::futures::executor::block_on;
    use ::hooks::{Hookable, Hooks};
    use ::serde_json::json;

    use super::{Agent, AgentPlanArgs, CountLetters, Library, Opened, Talker, TalkerObserveArgs};

    #[test]
    fn tools_work_where_nothing_is_in_scope() {
        let input = json!({ "text": "abc", "more": [""] });
        let cx = ToolContext::detached(ToolUse::new("1", "count_letters", input));
        assert_eq!(block_on(CountLetters.call(cx)).unwrap(), "4");
        let library = Arc::new(Library { book: "Ulysses".to_owned() });
        let tools = library.tools();
        let cx = ToolContext::detached(ToolUse::new("2", "book", json!({})));
        assert_eq!(block_on(tools[1].call(cx)).unwrap(), "Ulysses");
    }

    #[test]
    fn hooks_work_where_nothing_is_in_scope() {
        let agent = Agent { hooks: Hooks::new() };
        agent.register_instance_hook(
            Agent::PRE_PLAN,
            "more",
            |_: &Agent, args: &mut AgentPlanArgs| args.goals.push("goal".to_owned()),
        );
        let talker: &dyn Talker = &agent;
        talker.register_instance_hook(
            <dyn Talker>::PRE_OBSERVE,
            "more",
            |_: &dyn Talker, args: &mut TalkerObserveArgs| args.msg.push('!'),
        );
        agent.register_instance_hook(Agent::PRE_OPEN, "more", |_: &Agent, args: &mut Opened| {
            args.items.push(1);
        });
        let open = agent.open("a", None, "b", [1], 'c', "d".into());
        assert_eq!((block_on(open), block_on(agent.later(1))), (6, 1));
        assert_eq!(block_on(agent.plan(&[])).unwrap(), 1);
        assert_eq!(block_on(talker.acting("hi")), "hi");
        assert_eq!(block_on(talker.observe("hi")), "hi!");
    }
}
