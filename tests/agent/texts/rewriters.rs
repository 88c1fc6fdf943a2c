//! Several rewriters of one answer: one search, one window, one law.

use futures::StreamExt;
use futures::executor::block_on;
use futures::stream;
use hooks_agent_core::hook::Rewrite;
use hooks_agent_core::message::Usage;
use hooks_agent_core::model::{ChatChunk, Find, Finding, ModelError, Rewriter};
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::Script;
use proptest::prelude::*;
use serde_json::json;

/// Finds a word.
#[derive(Clone, Debug)]
struct Word {
    word: &'static str,
    replacement: Option<&'static str>,
}

impl Find for Word {
    fn find(&self, text: &str, from: usize) -> Option<Finding> {
        let start = from + text[from..].find(self.word)?;
        let range = start..start + self.word.len();
        Some(match self.replacement {
            Some(text) => Finding::Replace { range, text: text.to_owned() },
            None => Finding::Block { range, reason: format!("{} letters", self.word.len()) },
        })
    }

    /// A beginning of the word at the end may be completed.
    fn settled(&self, text: &str, _: usize) -> usize {
        let starts = (1..self.word.len()).rev();
        let pending = starts.filter(|length| self.word.is_char_boundary(*length));
        let mut pending = pending.filter(|length| text.ends_with(&self.word[..*length]));
        text.len() - pending.next().unwrap_or(0)
    }
}

fn word(word: &'static str, replacement: &'static str) -> Rewriter {
    Rewriter::new(Word { word, replacement: Some(replacement) })
}

fn forbidden(word: &'static str) -> Rewriter {
    Rewriter::new(Word { word, replacement: None })
}

/// What comes out of an answer of these chunks, and why it was blocked. The first rewriter is that of
/// the outermost hook.
fn rewritten(rewriters: &[Rewriter], chunks: &[String]) -> (Vec<String>, Option<String>) {
    let chunks = chunks.iter().cloned().map(ChatChunk::Text);
    let chunks: Vec<_> = chunks.chain([ChatChunk::end(Usage::default())]).map(Ok).collect();
    let mut answer = ModelAnswer::new("m", Box::pin(stream::iter(chunks)));
    for rewriter in rewriters.iter().rev() {
        answer = answer.rewrite(rewriter.clone());
    }
    let mut texts = Vec::new();
    for item in block_on(answer.collect::<Vec<_>>()) {
        match item {
            Ok(ChatChunk::Text(text)) => texts.push(text),
            Err(ModelError::Blocked { reason, .. }) => return (texts, Some(reason)),
            Ok(_) => {}
            Err(error) => panic!("{error}"),
        }
    }
    (texts, None)
}

fn whole(rewriters: &[Rewriter], text: &str) -> (String, Option<String>) {
    let (texts, blocked) = rewritten(rewriters, &[text.to_owned()]);
    (texts.concat(), blocked)
}

#[test]
fn findings_that_overlap_are_replaced_together_by_the_longest() {
    let (long, short) = (word("abcd", "<long>"), word("cde", "<short>"));
    for both in [[long.clone(), short.clone()], [short, long]] {
        assert_eq!(whole(&both, "xabcdey"), ("x<long>y".to_owned(), None));
    }
    // A chain: the ends do not touch each other.
    let chain = [word("ab", "1"), word("bcd", "2"), word("de", "3")];
    assert_eq!(whole(&chain, "-abcde-de-"), ("-2-3-".to_owned(), None));
    // What only touches does not overlap.
    assert_eq!(whole(&[word("ab", "1"), word("cd", "2")], "abcdab"), ("121".to_owned(), None));
}

#[test]
fn of_equal_findings_the_outer_hook_wins() {
    assert_eq!(whole(&[word("ab", "1"), word("bc", "2")], "abc"), ("1".to_owned(), None));
    assert_eq!(whole(&[word("bc", "2"), word("ab", "1")], "abc"), ("2".to_owned(), None));
}

#[test]
fn a_finding_that_blocks_wins_over_those_that_it_overlaps() {
    let hooks = [word("abcdef", "*"), forbidden("ef")];
    assert_eq!(whole(&hooks, "1 abcdef 2"), ("1 ".to_owned(), Some("2 letters".to_owned())));
}

#[test]
fn several_rewriters_hold_back_one_window() {
    let hold = |window| Rewriter::within(window, |_, _| None);
    let text = "word ".repeat(40);
    let rewriters = [hold(128), hold(64), hold(128), hold(100)];
    let (texts, _) = rewritten(&rewriters, std::slice::from_ref(&text));
    assert_eq!(texts[0].len(), text.len() - 128);
    assert_eq!(texts.concat(), text);
}

#[test]
fn text_that_cannot_become_a_finding_is_emitted_at_once() {
    let pieces = ["no ", "sec", "ond ", "se", "cret ", "s"].map(str::to_owned);
    let (texts, _) = rewritten(&[word("secret", "***")], &pieces);
    assert_eq!(texts, ["no ", "second ", "*** ", "s"]);
}

#[test]
fn a_finding_never_leaves_a_part_however_long_it_grows() {
    struct Run;

    impl Find for Run {
        fn find(&self, text: &str, from: usize) -> Option<Finding> {
            let start = from + text[from..].find('a')?;
            let length = text[start..].find(|char| char != 'a').unwrap_or(text.len() - start);
            Some(Finding::Replace { range: start..start + length, text: "#".to_owned() })
        }

        fn settled(&self, text: &str, _: usize) -> usize {
            text.trim_end_matches('a').len()
        }
    }

    let pieces = ["x".to_owned()].into_iter().chain(vec!["a".to_owned(); 5000]);
    let (texts, _) = rewritten(&[Rewriter::new(Run)], &pieces.collect::<Vec<_>>());
    assert_eq!(texts, ["x", "#"]);
}

#[test]
fn hooks_share_the_search_in_an_agent() {
    let outer = Rewrite::from(word("abcd", "<long>")).named("outer").with_priority(1);
    let inner = Rewrite::from(word("cde", "<short>")).named("inner").with_priority(2);
    let script = Script::new().says("xabcdey");
    let agent = ReActAgent::builder("bot").model(script).hook(outer).hook(inner).build().unwrap();
    assert_eq!(block_on(agent.call("go")).unwrap().text(), "x<long>y");
}

#[test]
fn arguments_of_tool_calls_are_rewritten_by_choice() {
    let call = || {
        let input = json!({ "to": ["a secret", { "secret": 1 }], "code": 424_242 });
        Script::new().calls([ToolUse::new("1", "send", input)]).says("done")
    };
    let seen = |rewriter: Rewriter, script: Script| {
        let tool = hooks_agent_core::testing::Calls::new("send");
        let agent = ReActAgent::builder("bot").model(script).tool(tool.clone());
        let agent = agent.hook(Rewrite::from(rewriter)).build().unwrap();
        block_on(agent.call("go")).unwrap();
        assert!(
            !format!("{:?}", agent.threads().memory("default").unwrap().messages())
                .contains("\"ran\"")
        );
        tool.inputs()
    };
    let mask = word("secret", "***");
    assert_eq!(seen(mask.clone(), call())[0]["to"][0], "a secret");
    let masked = json!({ "to": ["a ***", { "***": 1 }], "code": 424_242 });
    assert_eq!(seen(mask.clone().tool_arguments(), call()), [masked]);
    let number = word("4242", "#").tool_arguments();
    assert_eq!(seen(number, call())[0]["code"], "#42");

    let script = Script::new().calls([ToolUse::invalid("1", "send", "{secret")]).says("done");
    let model = std::sync::Arc::new(script);
    let tool = hooks_agent_core::testing::Calls::new("send");
    let agent = ReActAgent::builder("bot").model(model.clone()).tool(tool);
    let agent = agent.hook(Rewrite::from(mask.tool_arguments())).build().unwrap();
    block_on(agent.call("go")).unwrap();
    assert!(
        !format!(
            "{:?} {:?}",
            agent.threads().memory("default").unwrap().messages(),
            model.requests()
        )
        .contains("secret")
    );
}

#[test]
fn a_blocked_argument_ends_the_answer_before_the_tool_call() {
    let script = Script::new().calls([ToolUse::new("1", "send", json!({ "to": "secret" }))]);
    let tool = hooks_agent_core::testing::Calls::new("send");
    let agent = ReActAgent::builder("bot").model(script).tool(tool.clone());
    let agent = agent.hook(Rewrite::from(forbidden("secret").tool_arguments())).build().unwrap();
    let error = block_on(agent.call("go")).unwrap_err();
    assert!(matches!(error, AgentError::Model(ModelError::Blocked { .. })), "{error}");
    assert!(tool.inputs().is_empty());
    assert_eq!(agent.threads().memory("default").unwrap().messages().len(), 1);
}

/// Words that overlap each other and themselves, some of several bytes a character.
fn some_rewriters() -> impl Strategy<Value = Vec<Rewriter>> {
    let words = ["ab", "ba", "aba", "b\u{00fc}b", "\u{00fc}", "abba", "bb\u{4e2d}"];
    let of_a_word = (prop::sample::select(words.to_vec()), 0..3_u8, 0..9_usize).prop_map(
        |(word, kind, window)| match kind {
            0 => Rewriter::new(Word { word, replacement: Some("<x>") }),
            1 => Rewriter::new(Word { word, replacement: Some("") }),
            _ => {
                let find = Word { word, replacement: Some("a") };
                Rewriter::within(word.len() + window, move |text, from| find.find(text, from))
            }
        },
    );
    prop::collection::vec(of_a_word, 1..5)
}

proptest! {
    #[test]
    fn the_result_does_not_depend_on_the_cuts(
        rewriters in some_rewriters(),
        blocks in any::<bool>(),
        text in "[ab\u{00fc}\u{4e2d} ]{0,60}",
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
    ) {
        let mut rewriters = rewriters;
        if blocks {
            rewriters.push(forbidden("bab\u{4e2d}"));
        }
        let chars: Vec<_> = text.chars().collect();
        let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(chars.len() + 1)).collect();
        cuts.extend([0, chars.len()]);
        cuts.sort_unstable();
        let pieces = cuts.windows(2).map(|cut| chars[cut[0]..cut[1]].iter().collect());
        let pieces: Vec<String> = pieces.collect();
        let (texts, blocked) = rewritten(&rewriters, &pieces);
        prop_assert_eq!((texts.concat(), blocked), whole(&rewriters, &text));
    }
}
