//! Values, parts of values and tokens side by side, cut anywhere: one search decides for stream, memory
//! and reply, and nothing depends on the cuts.

use futures::StreamExt;
use futures::executor::block_on;
use hooks_agent_builtin::guard::PiiDetection;
use hooks_agent_builtin::guard::pii::{PiiFormat, PiiHashKey, PiiKind, PiiStrategy};
use hooks_agent_core::model::ChatChunk;
use hooks_agent_core::prelude::*;
use hooks_agent_core::stream::AgentEventKind;
use hooks_agent_core::testing::Script;
use proptest::prelude::{Strategy, prop, prop_assert_eq, proptest};
use proptest::test_runner::Config;
use serde_json::{Value, json};

use super::random::cut;
use crate::spoken::Spoken;
use crate::vault::{noting, vault};

const PARTS: [&str; 34] = [
    "77-A0-9D-87-0B-E7",
    "03-2975-6695",
    "+49 30 901820",
    "4532015112830366",
    "5425 2334 3010 9903",
    "ada@example.co",
    "bob@example.com",
    "x.y@",
    "example",
    ".com",
    "DE89370400440532013000",
    "GB29 NWBK",
    "192.168.17.23",
    "2001:db8::8a2e",
    "00:1A:2B:3C:4D:5E",
    "https://",
    "www.",
    "/a?b=",
    "[EMAIL_1]",
    "[PHONE_2]",
    "[EMAIL_",
    "[",
    "]",
    "_BCDFGHJK]",
    "/",
    "-",
    ":",
    ".",
    "@",
    "+",
    " ",
    "\n",
    "7",
    "m",
];

pub(super) fn glued() -> impl Strategy<Value = String> {
    let parts = prop::collection::vec(prop::sample::select(&PARTS[..]), 1..10);
    parts.prop_map(|parts| format!("so {}", parts.concat()))
}

fn lengths() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(1_usize..24, 1..6)
}

/// What everybody has of an answer.
#[derive(Debug, PartialEq)]
struct Said {
    streamed: String,
    stored: String,
    replied: String,
    /// The names of what is kept with the thread.
    kept: Vec<String>,
}

/// Has the model say a text in chunks, to an agent with these hooks.
fn said(hooks: &[PiiDetection], text: &str, lengths: &[usize]) -> (Said, ReActAgent) {
    let builder = Spoken::new(cut(text, lengths)).given_to(ReActAgent::builder("bot"));
    let builder = hooks.iter().fold(builder, |builder, hook| builder.hook(hook.clone()));
    let agent = builder.build().unwrap();
    let (mut streamed, mut replied) = (String::new(), String::new());
    block_on(async {
        let mut stream = agent.stream("go");
        while let Some(event) = stream.next().await {
            match event.unwrap().kind {
                AgentEventKind::ReasoningChunk(ContentBlock::Text { text }) => {
                    streamed.push_str(&text);
                }
                AgentEventKind::Finished(reply) => replied = reply.text(),
                _ => {}
            }
        }
    });
    let memory = agent.threads().memory("default").unwrap();
    let stored = memory.messages().get(1).unwrap().text();
    let mut kept: Vec<_> = memory.values().into_iter().map(|(name, _)| name).collect();
    kept.sort();
    (Said { streamed, stored, replied, kept }, agent)
}

pub(super) fn with_strategies() -> Vec<PiiDetection> {
    let hash = |kind, format| {
        let hook = PiiDetection::of([kind]).strategy(PiiStrategy::Hash).format(format);
        hook.hash_key(PiiHashKey::new(*b"key"))
    };
    let hooks = [
        hash(PiiKind::Email, PiiFormat::Keyed),
        hash(PiiKind::MacAddress, PiiFormat::LangChain),
        hash(PiiKind::Phone, PiiFormat::Spring),
        PiiDetection::credit_card().strategy(PiiStrategy::Mask),
        PiiDetection::of([PiiKind::Ipv4, PiiKind::Ipv6, PiiKind::Url, PiiKind::Iban]),
    ];
    hooks.map(PiiDetection::everywhere).into()
}

#[test]
fn a_replacement_that_makes_a_boundary_does_not_change_what_was_shown() {
    for text in ["77-A0-9D-87-0B-E7/03-2975-6695", "so 77-A0-9D-87-0B-E7/03-2975-6695@"] {
        let all = [PiiDetection::all().everywhere()];
        let (said, _) = said(&all, text, &[3]);
        assert_eq!(said.streamed, said.stored);
        assert_eq!(said.streamed, said.replied);
    }
}

/// The cut that ends a shorter address of another domain.
#[test]
fn an_address_that_goes_on_in_the_next_chunk_is_kept_once_and_whole() {
    let hooks = [PiiDetection::all().vault(vault())];
    let chunks = ["write to ada@example.co", "m now"].map(|text| ChatChunk::Text(text.into()));
    let model = Spoken::new(chunks.to_vec());
    let agent = model.given_to(ReActAgent::builder("bot")).hook(hooks[0].clone()).build().unwrap();
    let reply = block_on(agent.call("go")).unwrap();
    let token = vault().token_of("default", "email", "ada@example.com");
    assert_eq!(reply.text(), format!("write to {token} now"));
    assert_eq!(agent.threads().memory("default").unwrap().values().len(), 1);
}

/// A second sign makes credentials of what is behind the first one.
#[test]
fn credentials_that_begin_with_a_sign_are_found_whatever_the_cuts() {
    let hooks = [PiiDetection::all().everywhere()];
    for text in ["so https://@192.168.17.23ada@example.co", "so x://@@example.co", "so https://@ a"]
    {
        let (in_parts, _) = said(&hooks, text, &[1]);
        let (at_once, _) = said(&hooks, text, &[usize::MAX]);
        assert_eq!(in_parts, at_once);
    }
}

proptest! {
    #![proptest_config(Config::with_cases(cases(64)))]

    #[test]
    fn tokens_and_what_is_kept_do_not_depend_on_cuts(text in glued(), lengths in lengths()) {
        let vault = vault();
        let hooks = [PiiDetection::all().vault(vault.clone())];
        let (in_parts, agent) = said(&hooks, &text, &lengths);
        let (at_once, _) = said(&hooks, &text, &[usize::MAX]);
        prop_assert_eq!(&in_parts, &at_once);
        // Each value is whole.
        prop_assert_eq!(vault.reveal_in(agent.id(), "default", &in_parts.stored), text);
    }

    #[test]
    fn stream_memory_and_reply_are_one_text(text in glued(), lengths in lengths()) {
        for hooks in [
            vec![PiiDetection::all().everywhere()],
            vec![PiiDetection::all().vault(vault())],
            with_strategies(),
        ] {
            let (in_parts, _) = said(&hooks, &text, &lengths);
            prop_assert_eq!(&in_parts.streamed, &in_parts.stored);
            prop_assert_eq!(&in_parts.streamed, &in_parts.replied);
            let (at_once, _) = said(&hooks, &text, &[usize::MAX]);
            prop_assert_eq!(in_parts, at_once);
        }
    }

    /// The texts come from the user, the model, its arguments, and two tools at once.
    #[test]
    fn tools_receive_what_was_written_and_the_model_never(texts in prop::array::uniform3(glued())) {
        let vault = vault();
        // A token of the right form would be refused.
        let texts = texts.map(|text| text.replace("_BCDFGHJK", "_1"));
        let [asked, argued, answered] = &texts;
        let (answer, second) = (answered.clone(), argued.clone());
        let (tool, inputs) = noting("send", move |_| Ok(answer.clone()));
        let (other, others) = noting("other", move |_| Ok(second.clone()));
        let input = json!({ "text": argued });
        let call = |id, name| ToolUse::new(id, name, input.clone());
        let script = Script::new()
            .calls([call("1", "send"), call("2", "other")])
            .calls([call("3", "send")])
            .says(answered.clone());
        let agent = ReActAgent::builder("bot").model(script.clone()).tool(tool).tool(other);
        let hook = PiiDetection::all().vault(vault.clone());
        let agent = agent.hook(hook).parallel_tools(true).build().unwrap();
        let reply = block_on(agent.call(asked.clone())).unwrap();
        let shown = |text: &str| vault.reveal_in(agent.id(), "default", text);
        prop_assert_eq!(shown(&reply.text()), answered.clone());
        let received: Vec<Value> = inputs.lock().unwrap().iter().chain(&*others.lock().unwrap()).cloned().collect();
        prop_assert_eq!(received, vec![input.clone(), input.clone(), input.clone()]);
        // What the model reads is what a search of each text leaves.
        let (searched, _) = said(&[PiiDetection::all().vault(vault.clone())], asked, &[usize::MAX]);
        prop_assert_eq!(script.requests()[0].last_text(), searched.stored);
        let history = agent.threads().memory("default").unwrap().messages();
        let results = history.iter().flat_map(Msg::tool_results).map(|it| shown(it.output.as_str()));
        let expected = [answered, argued, answered].map(Clone::clone);
        prop_assert_eq!(results.collect::<Vec<_>>(), expected);
    }
}

/// How many cases are tried: `PROPTEST_CASES`, or so many.
pub(super) fn cases(otherwise: u32) -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(otherwise)
}
