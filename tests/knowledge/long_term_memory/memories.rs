//! Tests of memories of each kind.

use std::collections::BTreeMap;

use hooks_agent_core::call::RunId;
use hooks_agent_knowledge::{
    Forget, Memories, MemoriesError, MemoryLimits, Origin, Remembered, Source,
};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::long_term_memory::backend::{Backend, on_each};
use crate::long_term_memory::{entry, texts};

on_each!(
    an_entry_comes_back_as_it_was,
    what_a_user_already_has_is_not_written_twice,
    the_words_of_the_query_decide_and_rarer_ones_more,
    scripts_without_spaces_are_found,
    the_oldest_goes_beyond_the_limit,
    a_text_beyond_the_limit_is_refused_with_all_that_came_with_it,
    entries_are_forgotten_by_id_thread_and_time,
    an_export_has_everything_of_the_user_and_nothing_else,
    adding_at_once_loses_nothing,
    odd_users_are_kept_apart,
    any_history_of_operations_is_as_in_a_list,
);

/// Ids of users that look alike, or that mean something to a database.
pub(crate) const ODD: [&str; 22] = [
    "a",
    "A",
    "a ",
    " a",
    "a\0",
    "a\0b",
    "\0",
    "а",
    "ａ",
    "á",
    "a\u{301}",
    "a\u{200b}",
    "a\n",
    "%",
    "_",
    "' OR '1'='1",
    "'; DROP TABLE memory_entry; --",
    "\\",
    "\"",
    "$1",
    "NULL",
    "ﬁ",
];

async fn add(memories: &dyn Memories, entries: impl IntoIterator<Item = Remembered>) {
    memories.add(entries.into_iter().collect()).await.unwrap();
}

async fn an_entry_comes_back_as_it_was(mut backend: Backend) {
    let memories = backend.open().await;
    let cx = hooks_agent_core::call::CallContext::default();
    let odd = entry("ada", "  Likes\n\0 \u{1f431}, \"quotes\" and \\ '; DROP TABLE", 7);
    let odd = odd.from_call(Source::of(&cx), Origin::Model);
    add(&*memories, [odd.clone(), entry("ada", "Has a cat.", u64::from(u32::MAX) * 4)]).await;
    let reopened = backend.open().await;
    let entries = reopened.list("ada").await.unwrap();
    assert_eq!(entries[0], odd);
    assert_eq!((entries[1].origin, entries[1].source.as_ref()), (Origin::Program, None));
    assert_eq!(entries[1].at, u64::from(u32::MAX) * 4);
}

async fn what_a_user_already_has_is_not_written_twice(mut backend: Backend) {
    let memories = backend.open().await;
    let first = entry("ada", "Has a cat.", 1);
    add(&*memories, [first.clone(), entry("bob", "Has a cat.", 1)]).await;
    let again = vec![entry("ada", " has  a\nCAT. ", 2), first, entry("ada", "Has a dog.", 3)];
    let added = memories.add(again).await.unwrap();
    assert_eq!((added.written, added.known, added.removed.len()), (1, 2, 0));
    assert_eq!(texts(&memories.list("ada").await.unwrap()), ["Has a cat.", "Has a dog."]);
    let one = vec![entry("ada", "New.", 4), entry("ada", "new.", 5)];
    let added = memories.add(one).await.unwrap();
    assert_eq!((added.written, added.known), (1, 1));
    assert_eq!(memories.add(Vec::new()).await.unwrap().written, 0);
}

async fn the_words_of_the_query_decide_and_rarer_ones_more(mut backend: Backend) {
    let memories = backend.open().await;
    let said = ["I have a cat.", "I have a dog.", "I have a house.", "I live in Rome."];
    let entries = said.iter().zip(1..).map(|(text, at)| entry("ada", text, at));
    add(&*memories, entries).await;
    let search = async |query: &str, limit| {
        let found = memories.search("ada", query, limit).await.unwrap();
        found.into_iter().map(|entry| entry.text).collect::<Vec<_>>()
    };
    assert_eq!(search("What does the CAT eat?", 1).await, ["I have a cat."]);
    // "rome" is rarer than "i have a".
    assert_eq!(
        search("Do I have a flat in Rome?", 2).await,
        ["I live in Rome.", "I have a house."]
    );
    assert_eq!(search("", 2).await, ["I live in Rome.", "I have a house."]);
    assert_eq!(search("nothing of it", 9).await.len(), 4);
    assert_eq!(search("cat", 0).await, [""; 0]);
    assert_eq!(search("'; DROP TABLE memory_entry; -- \0 cat", 1).await, ["I have a cat."]);
    assert_eq!(search(&"word cat ".repeat(20_000), 1).await, ["I have a cat."]);
    assert_eq!(memories.search("bob", "cat", 9).await.unwrap(), []);
}

async fn scripts_without_spaces_are_found(mut backend: Backend) {
    let memories = backend.open().await;
    let said = ["她喜欢绿茶。", "他有一只猫。", "東京に住んでいます。", "고양이를 좋아해요."];
    add(&*memories, said.iter().zip(1..).map(|(text, at)| entry("ada", text, at))).await;
    for (query, expected) in [("绿茶还有吗？", 0), ("我的猫", 1), ("東京", 2), ("고양이", 3)]
    {
        let found = memories.search("ada", query, 1).await.unwrap();
        assert_eq!(texts(&found), [said[expected]]);
    }
}

async fn the_oldest_goes_beyond_the_limit(mut backend: Backend) {
    let mut limits = MemoryLimits::default();
    limits.entries = 2;
    let memories = backend.limited(limits).await;
    assert_eq!(memories.limits().entries, 2);
    add(&*memories, [entry("ada", "two", 2), entry("bob", "zero", 0), entry("ada", "one", 1)])
        .await;
    let added =
        memories.add(vec![entry("ada", "three", 3), entry("ada", "four", 4)]).await.unwrap();
    assert_eq!(added.written, 2);
    assert_eq!(texts(&added.removed), ["one", "two"]);
    assert_eq!(texts(&memories.list("ada").await.unwrap()), ["three", "four"]);
    assert_eq!(texts(&memories.list("bob").await.unwrap()), ["zero"]);
    let found = memories.search("ada", "one two", 9).await.unwrap();
    assert_eq!(texts(&found), ["four", "three"]);
}

async fn a_text_beyond_the_limit_is_refused_with_all_that_came_with_it(mut backend: Backend) {
    let memories = backend.open().await;
    let fits = entry("ada", &"ü".repeat(1024), 1);
    let error = memories
        .add(vec![entry("ada", "short", 1), entry("ada", &"a".repeat(2049), 1)])
        .await
        .unwrap_err();
    assert!(matches!(error, MemoriesError::TooLong { bytes: 2049, limit: 2048 }));
    assert_eq!(memories.list("ada").await.unwrap(), []);
    add(&*memories, [fits]).await;
}

async fn entries_are_forgotten_by_id_thread_and_time(mut backend: Backend) {
    let memories = backend.open().await;
    let of = |user: &str, thread: &str, at: u64| {
        let source: Source = serde_json::from_value(serde_json::json!({
            "agent": "bot", "thread": thread, "run": RunId::random(),
        }))
        .unwrap();
        entry(user, &format!("{user} {thread} {at}"), at).from_call(source, Origin::Rule)
    };
    let one = of("ada", "evil", 1);
    let threads = ["evil", "good", "evil\0", "Evil"];
    let more = threads.iter().zip(2..).map(|(thread, at)| of("ada", thread, at));
    add(&*memories, [one.clone(), of("bob", "evil", 1)].into_iter().chain(more)).await;
    add(&*memories, [entry("ada", "program", 9)]).await;
    let forget = async |user: &str, which| memories.forget(user, which).await.unwrap();
    assert_eq!(forget("bob", Forget::Id(one.id.clone())).await, 0);
    assert_eq!(forget("ada", Forget::Id(one.id.clone())).await, 1);
    assert_eq!(forget("ada", Forget::Id("no id\0".to_owned())).await, 0);
    assert_eq!(forget("ada", Forget::Thread("evil".to_owned())).await, 1);
    assert_eq!(forget("ada", Forget::At(3..=4)).await, 2);
    assert_eq!(forget("ada", Forget::At(10..=u64::MAX)).await, 0);
    assert_eq!(texts(&memories.list("ada").await.unwrap()), ["ada Evil 5", "program"]);
    assert_eq!(memories.forget_all("ada").await.unwrap(), 2);
    assert_eq!(memories.forget_all("ada").await.unwrap(), 0);
    assert_eq!(memories.search("ada", "evil", 9).await.unwrap(), []);
    assert_eq!(memories.list("bob").await.unwrap().len(), 1);
    // What is forgotten may be said again.
    add(&*memories, [one]).await;
    assert_eq!(memories.list("ada").await.unwrap().len(), 1);
}

async fn an_export_has_everything_of_the_user_and_nothing_else(mut backend: Backend) {
    let memories = backend.open().await;
    add(&*memories, [entry("ada", "one", 1), entry("bob", "two", 2), entry("ada", "three", 3)])
        .await;
    let export = memories.export("ada").await.unwrap();
    let entries: Vec<Remembered> = serde_json::from_str(&export).unwrap();
    assert_eq!(entries, memories.list("ada").await.unwrap());
    assert!(!export.contains("bob") && !export.contains("two"));
    assert_eq!(memories.export("eve").await.unwrap(), "[]");
}

async fn adding_at_once_loses_nothing(mut backend: Backend) {
    let mut limits = MemoryLimits::default();
    limits.entries = 30;
    let memories = backend.limited(limits).await;
    let users = ["ada", "bob"];
    let adds = (0..40_u64).map(|number| {
        let user = users[usize::from(number % 2 == 0)];
        memories.add(vec![
            entry(user, &format!("{user} {number}"), number),
            entry(user, "the same", 100),
        ])
    });
    let added = futures::future::join_all(adds).await;
    let written: usize = added.iter().map(|added| added.as_ref().unwrap().written).sum();
    assert_eq!(written, 42);
    for user in users {
        let entries = memories.list(user).await.unwrap();
        assert_eq!(entries.len(), 21);
        assert!(entries.iter().all(|entry| *entry.user == *user));
    }
}

async fn odd_users_are_kept_apart(mut backend: Backend) {
    let memories = backend.open().await;
    for user in ODD {
        add(&*memories, [entry(user, "the same secret", 1), entry(user, &format!("of {user}"), 2)])
            .await;
    }
    for user in ODD {
        let found = memories.search(user, "secret", 9).await.unwrap();
        assert_eq!(found.len(), 2);
        assert!(found.iter().all(|entry| *entry.user == *user), "{user:?}");
    }
    for (gone, user) in (1_usize..).zip(ODD) {
        assert_eq!(memories.forget_all(user).await.unwrap(), 2, "{user:?}");
        let mut left = 0;
        for user in ODD {
            left += memories.list(user).await.unwrap().len();
        }
        assert_eq!(left, 2 * (ODD.len() - gone));
    }
}

#[derive(Clone, Debug)]
enum Step {
    Add(&'static str, usize, u64),
    Forget(&'static str, u64, u64),
    Clear(&'static str),
}

fn step() -> impl Strategy<Value = Step> {
    let user = || prop::sample::select(&ODD[..6]);
    prop_oneof![
        6 => (user(), 0..12_usize, 0..20_u64).prop_map(|(user, text, at)| Step::Add(user, text, at)),
        1 => (user(), 0..20_u64, 0..20_u64).prop_map(|(user, from, to)| Step::Forget(user, from, to)),
        1 => user().prop_map(Step::Clear),
    ]
}

/// Memories are, for each user, a list without doubles of which the oldest goes: any steps of any users.
async fn any_history_of_operations_is_as_in_a_list(mut backend: Backend) {
    let mut limits = MemoryLimits::default();
    limits.entries = 5;
    let memories = backend.limited(limits).await;
    let mut runner = TestRunner::deterministic();
    for _ in 0..12 {
        let tree = prop::collection::vec(step(), 1..40).new_tree(&mut runner).unwrap();
        let mut model: BTreeMap<&str, Vec<(u64, usize)>> = BTreeMap::new();
        for step in proptest::strategy::ValueTree::current(&tree) {
            match step {
                Step::Add(user, text, at) => {
                    add(&*memories, [entry(user, &format!("text {text}"), at)]).await;
                    let known = model.entry(user).or_default();
                    if !known.iter().any(|(_, it)| *it == text) {
                        let place = known.partition_point(|(it, _)| *it <= at);
                        known.insert(place, (at, text));
                        known.drain(..known.len().saturating_sub(5));
                    }
                }
                Step::Forget(user, from, to) => {
                    memories.forget(user, Forget::At(from..=to)).await.unwrap();
                    model.entry(user).or_default().retain(|(at, _)| !(from..=to).contains(at));
                }
                Step::Clear(user) => {
                    memories.forget_all(user).await.unwrap();
                    model.remove(user);
                }
            }
        }
        for user in &ODD[..6] {
            let expected = model.get(user).cloned().unwrap_or_default();
            let expected: Vec<_> =
                expected.into_iter().map(|(_, text)| format!("text {text}")).collect();
            assert_eq!(texts(&memories.list(user).await.unwrap()), expected, "{user:?}");
            memories.forget_all(user).await.unwrap();
        }
    }
}
