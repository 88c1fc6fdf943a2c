//! Links that leave: what is found, however it is written, and what stays.

mod private;
mod threads;

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
const LEAVES: [(&str, &str); 108] = [
    ("see https://evil.example/x?y=1 now", "see § now"),
    ("![x](https://evil.example/?q=secret)", "![x](§)"),
    ("[x](http://evil.example)", "[x](§)"),
    ("<https://evil.example/x>", "<§>"),
    ("[x]: https://evil.example/ \"title\"", "[x]: § \"title\""),
    ("[x]: //evil.example/x", "[x]: §"),
    ("![x](//evil.example/x)", "![x](§)"),
    ("<img src=\"https://evil.example/x\">", "<img src=\"§\">"),
    ("<img src='//evil.example/x'>", "<img src='§'>"),
    ("<img src=//evil.example/x>", "<img src=§>"),
    ("<img src=\" https://evil.example/x\">", "<img src=\" §\">"),
    (
        "<img srcset=\"https://api.example/a 1x, //evil.example/b 2x\">",
        "<img srcset=\"https://api.example/a 1x, § 2x\">",
    ),
    ("<b style=\"background:url(//evil.example/x)\">", "<b style=\"background:url(§)\">"),
    ("<b style=\"background:url('https://evil.example/x')\">", "<b style=\"background:url('§')\">"),
    ("HTTPS://EVIL.EXAMPLE/X", "§"),
    ("https:evil.example/x", "§"),
    ("https:/evil.example/x", "§"),
    ("https:\\\\evil.example\\x", "§"),
    ("https:////evil.example/x", "§"),
    ("ht\ttps://evil.example/x", "§"),
    ("<a href=\"ht\ntps://evil.example/x\">", "<a href=\"§\">"),
    ("<a href=\"https:/\n/evil.example/x\">", "<a href=\"§\">"),
    ("<a href=\"&#104;ttps://evil.example/x\">", "<a href=\"§\">"),
    ("<a href=\"&#x68;ttps&colon;&sol;&sol;evil.example/x\">", "<a href=\"§\">"),
    ("<a href=\"https&#58//evil.example/x\">", "<a href=\"§\">"),
    ("<img src=\"&sol;/evil.example/x\">", "<img src=\"§\">"),
    ("[x](https\\://evil.example/x)", "[x](§)"),
    ("[x](<https://evil.example/x>)", "[x](<§>)"),
    ("https://api.example@evil.example/x", "§"),
    ("https://api.example:80@evil.example/x", "§"),
    ("https://api.example,@evil.example/x", "§"),
    ("https://api.example'@evil.example/x", "§"),
    ("<img src=\"https://api.example'@evil.example/x\">", "<img src=\"§\">"),
    ("<img src=\"https://api.example @evil.example/x\">", "<img src=\"§\">"),
    ("<img src='https://api.example\"@evil.example/x'>", "<img src='§'>"),
    ("https://api.example%40evil.example/x", "§"),
    ("https://api.example.evil.example/x", "§"),
    ("https://notcorp.example/x", "§"),
    ("https://corp.example/x", "§"),
    ("https://api\u{3002}example.evil.example/x", "§"),
    ("https://ev%69l.example/x", "§"),
    ("https://[2001:db8::1]/x", "§"),
    ("https://3221225985/x", "§"),
    ("www.evil.example/x", "§"),
    ("ws://evil.example/x and ftp://evil.example", "§ and §"),
    ("[x](https://api.example\\.evil.example/x)", "[x](§)"),
    ("[x](https://api.example\\@evil.example/x)", "[x](§)"),
    ("https://api.example&sol;@evil.example/x", "§"),
    ("https://api.example&#46;evil.example/x", "§"),
    ("<img src=https://api.example&@evil.example/x>", "<img src=§>"),
    ("1https://evil.example/x", "1§"),
    ("http://:80", "§"),
    // Entities that end a host for some, and not for others.
    ("<img src=https://api.example&#10;.evil.example/q>", "<img src=§>"),
    ("<img src=\"https://api.example&quot;@evil.example/q\">", "<img src=\"§\">"),
    ("![x](https://api.example&rpar;@evil.example/q)", "![x](§)"),
    ("![x](https://api.example&#32;@evil.example/q)", "![x](§)"),
    ("<https://api.example&gt;@evil.example/q>", "<§>"),
    ("https://api.example&lt;@evil.example/q", "§"),
    // What stands before.
    (
        "<b style=\"background:url(&quot;//evil.example/q&quot;)\">",
        "<b style=\"background:url(&quot;§)\">",
    ),
    (
        "<b style=\"background:url(&#39;//evil.example/q&#39;)\">",
        "<b style=\"background:url(&#39;§)\">",
    ),
    ("<img src=\"&#32;//evil.example/q\">", "<img src=\"&#32;§\">"),
    ("<img src=\"\u{1}//evil.example/q\">", "<img src=\"\u{1}§\">"),
    ("<img srcset=\"/a.png 1x&#44;//evil.example/b 2x\">", "<img srcset=\"/a.png 1x&#44;§ 2x\">"),
    (
        "![x](                                        //evil.example/q)",
        "![x](                                        §)",
    ),
    ("<img src=\"\u{1}https://api.example @evil.example/q\">", "<img src=\"\u{1}§\">"),
    // Hosts that none is.
    (
        "<img srcset=\"https://secret.evil.example\t1x,.corp.example\">",
        "<img srcset=\"§\t1x,.corp.example\">",
    ),
    ("https://secret.evil.example,x.corp.example", "§"),
    ("\"a\" https://secret.evil.example\n.corp.example/", "\"a\" §\n.corp.example/"),
    ("<img srcset=\"https://secret.evil.example 1x, @api.example/q\">", "<img srcset=\"§\">"),
    ("https://secret.evil.example(@api.example/x", "§"),
    // References to characters.
    ("<img src=\"&#104ttps://evil.example/q\">", "<img src=\"§\">"),
    ("<img src=\"&#x68ttps://evil.example/q\">", "<img src=\"§\">"),
    ("<img src=\"&#47&#47evil.example/q\">", "<img src=\"§\">"),
    ("<img src=\"&#0000000000000000104;ttps://evil.example/q\">", "<img src=\"§\">"),
    ("<img src=\"&#x0000000000000002f;/evil.example/q\">", "<img src=\"§\">"),
    // Hosts that are numbers, or have other dots.
    ("![x](//3221225985/q)", "![x](§)"),
    ("<img src=\"//0xC0000201/q\">", "<img src=\"§\">"),
    ("![x](//evil\u{3002}example/q)", "![x](§)"),
    // Lines of Markdown.
    ("> ![x](\n> //evil.example/q)", "> ![x](\n> §)"),
    ("> a <img src=\"ht\n> tps://evil.example/q\">", "> a <img src=\"§\">"),
    ("- <img src=\"ht\n  tps://evil.example/q\">", "- <img src=\"§\">"),
    ("a <img src=\"https:/\n /evil.example/q\">", "a <img src=\"§\">"),
    // Escapes of CSS and JSON.
    ("<b style=\"background:url(\\68ttps://evil.example/q)\">", "<b style=\"background:url(§)\">"),
    ("<b style=\"background:url(\\2f\\2f evil.example/q)\">", "<b style=\"background:url(§)\">"),
    ("<b style=\"background:url(htt\\70s://evil.example/q)\">", "<b style=\"background:url(§)\">"),
    (
        "<b style=\"background:url(\\000068 ttps://evil.example/q)\">",
        "<b style=\"background:url(§)\">",
    ),
    (
        "<b style=\"background:url(\\00002f\\00002f evil.example/q)\">",
        "<b style=\"background:url(§)\">",
    ),
    ("{\"img\":\"\\u0068ttps://evil.example/q\"}", "{\"img\":\"§\"}"),
    ("{\"img\":\"https:\\/\\/evil.example\\/q\"}", "{\"img\":\"§\"}"),
    // Brackets, quotes and blanks that do not end it.
    ("![x](https://api.example()@evil.example/q)", "![x](§)"),
    ("![x](https://()@evil.example/q)", "![x](§)"),
    ("[y]: https://api.example<@evil.example/q", "[y]: §"),
    ("(https://api.example)@evil.example/q", "(§"),
    ("\"https://api.example\"@evil.example/q", "\"§"),
    ("=https://api.example>@evil.example/q", "=§"),
    ("[https://api.example]@evil.example/q", "[§"),
    ("![x](https://api.example\u{a0}@evil.example/q)", "![x](§)"),
    ("![x](https://\u{3000}@evil.example/q)", "![x](§)"),
    ("<img src=\"http:\tevil.example/q\">", "<img src=\"§\">"),
    ("<a href=\"http:\nevil.example\">", "<a href=\"§\">"),
    // Other places.
    ("<a ping=\"https://api.example/,//evil.example/q\">", "<a ping=\"https://api.example/,§\">"),
    (
        "<meta http-equiv=refresh content=\"0;//evil.example/q\">",
        "<meta http-equiv=refresh content=\"0;§\">",
    ),
    ("file://evil.example/q.png", "§"),
    ("$\\href{//evil.example/x}{y}$", "$\\href{§}{y}$"),
    ("//evil.example/x.png", "§"),
    ("https://{host}.evil.example/api", "§}.evil.example/api"),
    ("https://api.example.{host}.evil.example/api", "§}.evil.example/api"),
    ("https://api.example/?next=https://evil.example/x", "https://api.example/?next=§"),
];

/// What stays as it is.
const STAYS: [&str; 71] = [
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
    "name := \"abc\" // see section 1.2\nThe wiki has more. Next \"q\"",
    "#include \"foo.h\" // for foo.bar\n#include \"bar.h\"",
    "\"Foo\" https://api.example is the page, and this sentence stays",
    "the users' https://api.example page, it's up",
    "use http::StatusCode; let s = http::Request::builder();",
    "Net::HTTP::Get, boost::beast::http::request<x>, `ws::Message`",
    "job:http:requests:rate5m, ports: http:80, https:443, service/http:8080",
    "CORS_ORIGINS=https://api.example,https://wiki.corp.example",
    "|https://api.example|https://wiki.corp.example|",
    "[Visit https://api.example](https://api.example)",
    "\\href{https://api.example}{docs} <https://api.example|docs>",
    "https://api.example's docs, \u{201c}https://api.example\u{201d}, \u{ff08}https://api.example\u{ff09}",
    "\u{8bf7}\u{8bbf}\u{95ee}https://api.example\u{ff0c}\u{8c22}\u{8c22}",
    "https://api.example\u{2026} and https://api.example\u{2014}the wiki",
    "`curl https://api.example|jq`",
    "?next=https://wiki.corp.example&state=1",
    "https://api.example&nbsp; and &quot;https://api.example&quot;",
    "{\\\"url\\\": \\\"https://api.example\\\"}",
    "printf(\"see https://api.example\\n\");",
    "{\"url\":\"https:\\/\\/api.example\\/x\"}",
    "\\url{https://api.example}\\\\ and https://api.example\\|",
    "{\"transform\": {\"\\\\.(ts|tsx)$\": \"ts-jest\"}}",
    "new RegExp(\"\\\\.js$\")",
    "\"//span[.='OK']\" and \"//button[normalize-space(.)='Save']\"",
    "deps = [\"//base:logging\", \"//:lib\"]",
    "f(x) = \\\\frac{1.5}{2}",
    "foo(a, //e.g. this",
    "x = //v1.2",
    "url.replace(\"www.\", \"\") and the www. prefix",
    "f\"https://{host}/api\" and https://$HOST/x and https://api.example:${PORT}/x",
    "https://<host>/x",
    "a // b.c",
    "\"//another\" and ('//x')",
    "[x]: note // 1.5",
    "1 < 2 // 2.5",
    "http:// and https:// are schemes",
    "(https://api.example), [https://wiki.corp.example/x]!",
    "mail ada@corp.example about https://api.example, or see https://wiki.corp.example; thanks",
    "\"https://api.example\", \"ada@evil.example\"",
    "<https://api.example/x> ada@evil.example",
    "https://",
    "ratio 3:4, see [1]: note",
    "data:image/png;base64,AAAA",
];

fn expected(text: &str) -> String {
    text.replace('§', "about:blank#removed")
}

#[test]
fn links_to_other_hosts_are_removed_however_they_are_written() {
    let wrong = LEAVES.into_iter().filter(|(text, became)| said(text) != expected(became));
    let wrong: Vec<_> = wrong.map(|(text, _)| (text, said(text))).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn everything_else_stays() {
    let wrong: Vec<_> = STAYS.into_iter().filter(|text| said(text) != *text).collect();
    let wrong: Vec<_> = wrong.into_iter().map(|text| (text, said(text))).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
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

/// Cuts a text into chunks of these lengths, in turns.
fn chunks(text: &str, cuts: &[usize]) -> Vec<String> {
    let (mut chunks, mut rest, mut next) = (Vec::new(), text, cuts.iter().cycle());
    while !rest.is_empty() {
        let at = rest.ceil_char_boundary((*next.next().unwrap()).min(rest.len()));
        chunks.push(rest[..at].to_owned());
        rest = &rest[at..];
    }
    chunks
}

/// Returns what a caller reads of a stream.
async fn streamed(agent: &ReActAgent) -> String {
    let (mut stream, mut streamed) = (std::pin::pin!(agent.stream("Go")), String::new());
    while let Some(event) = stream.next().await {
        if let AgentEventKind::ReasoningChunk(ContentBlock::Text { text }) = event.unwrap().kind {
            streamed.push_str(&text);
        }
    }
    streamed
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
        let model = Cut(chunks(&text, &cuts));
        let agent = ReActAgent::builder("bot").model(model).hook(guard()).build().unwrap();
        let streamed = block_on(streamed(&agent));
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
    assert_eq!(said(&format!("ht{}tps://evil.example", "\t".repeat(30))), expected("§"));
}

/// Texts over which a scan must not go again and again.
#[test]
fn long_texts_are_scanned_once() {
    let repeated = [
        "h",
        "&",
        ">",
        " ",
        "//",
        "\\",
        "&#",
        "=",
        "\"http:",
        "https://a",
        "(//",
        "<www.",
        "ht\t",
        "\n> ",
    ];
    for part in repeated {
        let text = format!("{}h https://evil.example/x", part.repeat(200_000 / part.len()));
        assert!(!said(&text).contains("//evil.example"), "{part:?}");
    }
    let far = format!("<img src=\"{}https://api.example @evil.example/q\">", " ".repeat(5000));
    assert!(!said(&far).contains("api.example @evil"), "{}", &said(&far)[5000..]);
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
