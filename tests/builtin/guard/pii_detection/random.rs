//! Random texts with personal data, cut at random places, through several hooks of an agent.

use futures::StreamExt;
use futures::executor::block_on;
use hooks_agent_builtin::guard::pii::{
    PiiDetector, PiiHashKey, PiiKind, PiiReplacement, PiiScanner, PiiStrategy,
};
use hooks_agent_builtin::guard::{PiiDetection, SensitiveWords, WordList};
use hooks_agent_core::model::{ChatChunk, Finding, Rewriter};
use hooks_agent_core::prelude::*;
use hooks_agent_core::react::ReActAgentBuilder;
use hooks_agent_core::stream::AgentEventKind;
use proptest::prelude::{Strategy, any, prop, prop_assert, prop_assert_eq, proptest};
use proptest::test_runner::Config;

use crate::everything::shown_of_call;
use crate::pii_detection::cuts::cases;
use crate::spoken::Spoken;
use crate::vault::vault;

/// What is planted, and never in what comes out.
const PLANTED: [&str; 8] = [
    "ada.lovelace@example.com",
    "4532015112830366",
    "5425 2334 3010 9903",
    "192.168.17.23",
    "2001:db8::8a2e:370:7334",
    "00:1A:2B:3C:4D:5E",
    "DE89370400440532013000",
    "bluebird",
];

const BETWEEN: [&str; 14] = [
    " ",
    ", ",
    "。",
    "是",
    " is ",
    "\n",
    ": ",
    " (",
    ") ",
    "é ",
    " 12 ",
    " v1.2 ",
    " a@ ",
    " [EMAIL_1] ",
];

fn text() -> impl Strategy<Value = (String, Vec<&'static str>)> {
    let part =
        (prop::sample::select(&BETWEEN[..]), prop::option::of(prop::sample::select(&PLANTED[..])));
    prop::collection::vec(part, 1..8).prop_map(|parts| {
        let mut text = String::from("so");
        for (between, planted) in &parts {
            text.push_str(between);
            text.push_str(planted.unwrap_or("word"));
            // A value ends at a boundary.
            text.push_str(" ,");
        }
        (text, parts.into_iter().filter_map(|(_, planted)| planted).collect())
    })
}

/// The text in chunks of these lengths.
pub(super) fn cut(text: &str, lengths: &[usize]) -> Vec<ChatChunk> {
    let (mut chunks, mut lengths) = (vec![String::new()], lengths.iter().cycle());
    let mut left = *lengths.next().unwrap();
    for char in text.chars() {
        if left == 0 {
            left = *lengths.next().unwrap();
            chunks.push(String::new());
        }
        left = left.saturating_sub(1);
        chunks.last_mut().unwrap().push(char);
    }
    chunks.into_iter().map(ChatChunk::Text).collect()
}

fn words() -> SensitiveWords {
    SensitiveWords::new(WordList::new(["bluebird"]).unwrap())
}

fn guarded(builder: ReActAgentBuilder, with_vault: bool) -> ReActAgentBuilder {
    let numbers = [PiiKind::CreditCard, PiiKind::Iban];
    let addresses = [PiiKind::Ipv4, PiiKind::Ipv6, PiiKind::MacAddress, PiiKind::Url];
    let builder = builder
        .hook(PiiDetection::of(numbers).everywhere())
        .hook(PiiDetection::of(addresses).strategy(PiiStrategy::Hash).everywhere())
        .hook(words());
    let email = PiiDetection::email();
    let email = if with_vault { email.vault(vault()) } else { email };
    builder.hook(email.everywhere())
}

fn collected(agent: &ReActAgent, input: &str) -> (String, String) {
    let mut streamed = String::new();
    block_on(async {
        let mut stream = agent.stream(input);
        while let Some(event) = stream.next().await {
            if let AgentEventKind::ReasoningChunk(ContentBlock::Text { text }) = event.unwrap().kind
            {
                streamed.push_str(&text);
            }
        }
    });
    let history = agent.threads().memory("default").unwrap().messages();
    (streamed, history[1].text())
}

proptest! {
    #![proptest_config(Config::with_cases(cases(96)))]

    #[test]
    fn what_is_planted_is_known_nowhere(
        (text, planted) in text(),
        lengths in prop::collection::vec(1_usize..24, 1..6),
        stop in prop::option::of(0_usize..40),
        with_vault in any::<bool>(),
    ) {
        let model = Spoken::new(cut(&text, &lengths));
        let model = stop.map_or(model.clone(), |stop| model.interrupted_before(stop));
        let builder = model.given_to(guarded(ReActAgent::builder("bot"), with_vault));
        let shown = block_on(shown_of_call(builder, &text));
        for value in planted {
            prop_assert!(!shown.contains(value), "{} of {:?} in {}", value, text, shown);
        }
    }

    #[test]
    fn the_stream_is_the_message_and_both_are_the_whole_text_rewritten(
        (text, _) in text(),
        lengths in prop::collection::vec(1_usize..24, 1..6),
    ) {
        let model = || Spoken::new(cut(&text, &lengths));
        let all = PiiDetection::all().everywhere();
        let agent = model().given_to(ReActAgent::builder("bot").hook(all.clone()));
        let (streamed, stored) = collected(&agent.build().unwrap(), &text);
        let whole = Rewriter::within(0, |text, from| {
            let found = PiiScanner::all().find(text, from)?;
            let by = PiiReplacement::new(PiiStrategy::Redact);
            let text = by.replace(&found.kind, &text[found.range.clone()])?;
            Some(Finding::Replace { range: found.range, text })
        });
        prop_assert_eq!(&stored, &whole.text(&text).unwrap());
        prop_assert_eq!(&streamed, &stored);

        // Several hooks: the same as of one chunk.
        let seen = [model(), Spoken::new(vec![ChatChunk::Text(text.clone())])].map(|model| {
            let agent = guarded(model.given_to(ReActAgent::builder("bot")), true);
            let key = PiiHashKey::new(*b"key");
            let hash = PiiDetection::phone().strategy(PiiStrategy::Hash).hash_key(key);
            collected(&agent.hook(hash.everywhere()).build().unwrap(), "go")
        });
        prop_assert_eq!(&seen[0].0, &seen[0].1);
        let without_hashes = |text: &str| {
            let parts = text.split("_hash:").enumerate();
            parts.map(|(at, part)| if at == 0 { part } else { &part[16..] }).collect::<String>()
        };
        prop_assert_eq!(without_hashes(&seen[0].0), without_hashes(&seen[1].0));
    }
}
