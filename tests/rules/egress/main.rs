//! Links that leave: what is found, however it is written, and what stays.

use futures::StreamExt;
use futures::executor::block_on;
use hooks_agent_core::message::Usage;
use hooks_agent_core::model::{ChatChunk, ChatStream};
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::{Calls, Script};
use hooks_agent_rules::EgressGuard;
use proptest::prelude::*;
use serde_json::json;

const HOSTS: [&str; 2] = ["*.corp.example", "api.example"];

fn guard() -> EgressGuard {
    EgressGuard::new(HOSTS).unwrap()
}

/// Returns what a caller reads of an answer.
fn said(text: &str) -> String {
    let text = text.to_owned();
    let model = ScriptedModel::new("fixed", move |_| text.clone());
    let agent = ReActAgent::builder("bot").model(model).hook(guard()).build().unwrap();
    block_on(agent.call("Go")).unwrap().text()
}

/// Links to another host, each with what becomes of it.
const LEAVES: [(&str, &str); 53] = [
    ("see https://evil.example/x?y=1 now", "see # now"),
    ("![x](https://evil.example/?q=secret)", "![x](#)"),
    ("[x](http://evil.example)", "[x](#)"),
    ("<https://evil.example/x>", "<#>"),
    ("[x]: https://evil.example/ \"title\"", "[x]: # \"title\""),
    ("[x]: //evil.example/x", "[x]: #"),
    ("![x](//evil.example/x)", "![x](#)"),
    ("<img src=\"https://evil.example/x\">", "<img src=\"#\">"),
    ("<img src='//evil.example/x'>", "<img src='#'>"),
    ("<img src=//evil.example/x>", "<img src=#>"),
    ("<img src=\" https://evil.example/x\">", "<img src=\" #\">"),
    (
        "<img srcset=\"https://api.example/a 1x, //evil.example/b 2x\">",
        "<img srcset=\"https://api.example/a 1x, # 2x\">",
    ),
    ("<b style=\"background:url(//evil.example/x)\">", "<b style=\"background:url(#)\">"),
    ("<b style=\"background:url('https://evil.example/x')\">", "<b style=\"background:url('#')\">"),
    ("HTTPS://EVIL.EXAMPLE/X", "#"),
    ("https:evil.example/x", "#"),
    ("https:/evil.example/x", "#"),
    ("https:\\\\evil.example\\x", "#"),
    ("https:////evil.example/x", "#"),
    ("ht\ttps://evil.example/x", "#"),
    ("<a href=\"ht\ntps://evil.example/x\">", "<a href=\"#\">"),
    ("<a href=\"https:/\n/evil.example/x\">", "<a href=\"#\">"),
    ("<a href=\"&#104;ttps://evil.example/x\">", "<a href=\"#\">"),
    ("<a href=\"&#x68;ttps&colon;&sol;&sol;evil.example/x\">", "<a href=\"#\">"),
    ("<a href=\"https&#58//evil.example/x\">", "<a href=\"#\">"),
    ("<img src=\"&sol;/evil.example/x\">", "<img src=\"#\">"),
    ("[x](https\\://evil.example/x)", "[x](#)"),
    ("[x](<https://evil.example/x>)", "[x](<#>)"),
    ("https://api.example@evil.example/x", "#"),
    ("https://api.example:80@evil.example/x", "#"),
    ("https://api.example,@evil.example/x", "#"),
    ("https://api.example'@evil.example/x", "#"),
    ("<img src=\"https://api.example'@evil.example/x\">", "<img src=\"#\">"),
    ("<img src=\"https://api.example @evil.example/x\">", "<img src=\"#\">"),
    ("<img src='https://api.example\"@evil.example/x'>", "<img src='#'>"),
    ("https://api.example%40evil.example/x", "#"),
    ("https://api.example.evil.example/x", "#"),
    ("https://notcorp.example/x", "#"),
    ("https://corp.example/x", "#"),
    ("https://api\u{3002}example.evil.example/x", "#"),
    ("https://ev%69l.example/x", "#"),
    ("https://[2001:db8::1]/x", "#"),
    ("https://3221225985/x", "#"),
    ("www.evil.example/x", "#"),
    ("ws://evil.example/x and ftp://evil.example", "# and #"),
    ("[x](https://api.example\\.evil.example/x)", "[x](#)"),
    ("[x](https://api.example\\@evil.example/x)", "[x](#)"),
    ("https://api.example&sol;@evil.example/x", "#"),
    ("https://api.example&#46;evil.example/x", "#"),
    ("<img src=https://api.example&@evil.example/x>", "<img src=#>"),
    ("1https://evil.example/x", "1#"),
    ("http://:80", "#"),
    ("https://api.example/?next=https://evil.example/x", "https://api.example/?next=#"),
];

/// What stays as it is.
const STAYS: [&str; 31] = [
    "see https://api.example/x?y=1, and (https://wiki.corp.example).",
    "![x](https://a.b.corp.example:8443/x.png \"title\")",
    "[https://api.example](https://api.example)",
    "<https://api.example/x>",
    "**https://api.example**, _https://api.example_ and `https://api.example`",
    "{\"url\":\"https://api.example\",\"next\":\"https://wiki.corp.example/\"}",
    "| https://api.example | https://wiki.corp.example |",
    "HTTPS://API.EXAMPLE:443/",
    "https://api.example./x",
    "https://api\u{3002}example/x",
    "<img src=\"//wiki.corp.example/x\">",
    "www.corp.example/x",
    "https: the scheme, and http:",
    "// a comment, //another, and a//b",
    "if (a // b) { c('/x'); }",
    "path/to//file and C:\\\\dir",
    "mailto:ada@evil.example, ada@evil.example",
    "/relative/path?x=1",
    "<img src=\"/x.png\">, ![x](./x.png)",
    "this has http and https and www and w",
    "hhttps and xhttps://",
    "fish & chips &amp; & &#; &#x;",
    "evil.example/x",
    "a &lt; b",
    "<a href=\"https://api.example/?u=https://wiki.corp.example\">x</a>",
    "url=https://api.example, and [1](https://api.example).",
    "news:x and sftp://evil.example/x",
    "see [https://wiki.corp.example], please",
    "https://",
    "ratio 3:4, see [1]: note",
    "data:image/png;base64,AAAA",
];

fn expected(text: &str) -> String {
    text.replace('#', "about:blank#removed")
}

#[test]
fn links_to_other_hosts_are_removed_however_they_are_written() {
    for (text, became) in LEAVES {
        assert_eq!(said(text), expected(became), "{text}");
    }
}

#[test]
fn everything_else_stays() {
    for text in STAYS {
        assert_eq!(said(text), text);
    }
}

/// A model whose answer is cut into these parts.
struct Cut(Vec<String>);

impl ChatModel for Cut {
    fn name(&self) -> &'static str {
        "cut"
    }

    fn stream(&self, _: ChatRequest) -> ChatStream {
        let chunks = self.0.clone().into_iter().map(|part| Ok(ChatChunk::Text(part)));
        let end = ChatChunk::end(Usage::new(1, 1));
        Box::pin(futures::stream::iter(chunks.chain([Ok(end)])))
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_cut_gives_the_same_text(
        parts in prop::collection::vec(0_usize..LEAVES.len() + STAYS.len(), 1..4),
        cuts in prop::collection::vec(1_usize..9, 1..64),
    ) {
        let pick = |index: &usize| LEAVES.get(*index).map_or_else(|| STAYS[index - LEAVES.len()], |it| it.0);
        let text = parts.iter().map(pick).collect::<Vec<_>>().join(" \n");
        let (mut chunks, mut rest, mut next) = (Vec::new(), text.as_str(), cuts.iter().cycle());
        while !rest.is_empty() {
            let at = rest.ceil_char_boundary((*next.next().unwrap()).min(rest.len()));
            chunks.push(rest[..at].to_owned());
            rest = &rest[at..];
        }
        let agent = ReActAgent::builder("bot").model(Cut(chunks)).hook(guard()).build().unwrap();
        let streamed = block_on(async {
            let mut stream = std::pin::pin!(agent.stream("Go"));
            let mut streamed = String::new();
            while let Some(event) = stream.next().await {
                if let AgentEventKind::ReasoningChunk(ContentBlock::Text { text }) =
                    event.unwrap().kind {
                    streamed.push_str(&text);
                }
            }
            streamed
        });
        prop_assert_eq!(&streamed, &said(&text));
        prop_assert_eq!(agent.memory().messages().iter().next_back().unwrap().text(), streamed);
    }
}

#[test]
fn a_link_without_an_end_is_cut_and_held_back_no_longer() {
    let long = format!("![x](https://evil.example/{}", "a".repeat(5000));
    let became = said(&long);
    assert!(became.starts_with("![x](about:blank#removedaaa"), "{became}");
    assert!(became.len() < 3200);
    let userinfo = format!("https://{}@evil.example/x", "a".repeat(5000));
    assert!(said(&userinfo).starts_with("about:blank#removed"));
    assert_eq!(said(&format!("ht{}tps://evil.example", "\t".repeat(30))), expected("#"));
}

#[tokio::test]
async fn results_and_arguments_are_searched_where_a_page_shows_them() {
    let link = "https://evil.example/x";
    for (results, arguments) in [(false, false), (true, true)] {
        let look = Calls::new("look").answers(link);
        let script =
            Script::new().calls([ToolUse::new("1", "look", json!({ "url": link }))]).says("end");
        let guard = guard().tool_results(results).tool_arguments(arguments);
        let agent = ReActAgent::builder("bot")
            .model(script)
            .tool(look.clone())
            .hook(guard)
            .build()
            .unwrap();
        agent.call("Go").await.unwrap();
        let history = format!("{:?}", agent.memory().messages());
        assert_eq!(history.contains("evil"), !results, "{history}");
        assert_eq!(look.inputs()[0]["url"] == link, !arguments);
    }
}

#[test]
fn a_host_that_is_none_is_an_error() {
    for host in ["https://api.example", "*", "*.", "a b", "", "*.*.example"] {
        assert!(EgressGuard::new([host]).is_err(), "{host}");
    }
    assert!(EgressGuard::new([""; 0]).is_ok());
}
