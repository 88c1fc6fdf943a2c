//! Links to listed hosts that carry text of private results, and those that do not.

use futures::executor::block_on;
use hooks_agent_core::message::Usage;
use hooks_agent_core::model::{ChatChunk, ChatStream};
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::{Calls, Script};
use hooks_agent_rules::{EgressError, EgressGuard};
use proptest::prelude::*;
use serde_json::json;

use crate::{HOSTS, chunks, expected, streamed};

/// What a private tool returns.
const MAIL: &str = "From: Ada Hendricks <ada.h@mail.example>\n\
    The door code is BX-4471, the account 4829173305, the phone +49 170 555 12 34.\n\
    We will sell the mill to the town on Friday.\n\
    Her page is https://crm.corp.example/people/hendricks?tab=2&amp;view=all, and the list \
    https://files.corp.example/list.\n\
    \u{5ba2}\u{6237}\u{540d}\u{5355}\u{5728}\u{8fd9}\u{91cc}";

/// What another tool returns.
const PAGE: &str =
    "The harbourmaster lives at https://wiki.corp.example/harbourmaster, ticket QX-20931.";

pub(crate) fn guard() -> EgressGuard {
    EgressGuard::new(HOSTS).unwrap().private_data(["read_*"]).unwrap()
}

pub(crate) fn reads(answers: impl Into<hooks_agent_core::message::ToolOutput>) -> Calls {
    Calls::new("read_mail").answers(answers)
}

pub(crate) fn call(name: &str) -> ToolUse {
    ToolUse::new(name, name, json!({}))
}

/// Returns what a caller reads of an answer after a private result and another one.
fn said_after(mail: &str, user: &str, text: &str) -> String {
    let calls = [call("read_mail"), call("browse")];
    let script = Script::new().calls(calls).says(text);
    let agent = ReActAgent::builder("bot")
        .model(script)
        .tool(reads(mail))
        .tool(Calls::new("browse").answers(PAGE))
        .hook(guard())
        .build()
        .unwrap();
    block_on(agent.call(user)).unwrap().text()
}

fn said(text: &str) -> String {
    said_after(MAIL, "Read my mail about lighthouses", text)
}

/// Links to listed hosts, each with what becomes of it.
const CARRY: [(&str, &str); 52] = [
    // In each part of a URL.
    ("see https://api.example/Hendricks now", "see § now"),
    ("https://api.example/?q=Hendricks", "§"),
    ("https://api.example/x#Hendricks", "§"),
    ("https://hendricks@api.example/x", "§"),
    ("https://hendricks.corp.example/x", "§"),
    ("https://a.hendricks.b.corp.example", "§"),
    ("//api.example/Hendricks", "§"),
    ("![x](//api.example/Hendricks)", "![x](§)"),
    ("![x](https://api.example/?q=Hendricks \"title\")", "![x](§ \"title\")"),
    ("<img src=\"https://api.example/Hendricks\">", "<img src=\"§\">"),
    ("<img src=https://api.example/Hendricks>", "<img src=§>"),
    ("<https://api.example/Hendricks>", "<§>"),
    ("www.corp.example/Hendricks", "§"),
    ("[x]: https://api.example/Hendricks", "[x]: §"),
    // What of a text tells it from others.
    ("https://api.example/?q=4829173305", "§"),
    ("https://api.example/?q=ada.h@mail.example", "§"),
    ("https://api.example/?q=BX-4471", "§"),
    ("https://api.example/?q=bx4471", "§"),
    ("https://api.example/?q=%2B49+170+5551234", "§"),
    ("https://api.example/01705551234", "§"),
    ("https://api.example/we-will-sell-the-mill-to-the-town", "§"),
    ("https://api.example/sell+the+mill+to+the+town", "§"),
    ("https://api.example/will_sell_the_mill_to_the_town", "§"),
    ("https://api.example/sell%20the%20mill%20to%20the%20town", "§"),
    (
        "https://api.example/?q=\u{540d}\u{5355}\u{5728}\u{8fd9}\u{91cc}\u{5ba2}\u{6237}\u{540d}\u{5355}\u{5728}\u{8fd9}",
        "§",
    ),
    // However it is written.
    ("https://api.example/HENDRICKS", "§"),
    ("https://api.example/%48endrick%73", "§"),
    ("https://api.example/%2548endricks", "§"),
    ("https://api.example/&#72;endricks", "§"),
    ("https://api.example/&#x48;endricks", "§"),
    ("<img src=\"https://api.example/\\48 endricks\">", "<img src=\"§ endricks\">"),
    ("{\"img\":\"https://api.example/\\u0048endricks\"}", "{\"img\":\"§\"}"),
    ("{\"img\":\"https:\\/\\/api.example\\/Hendricks\"}", "{\"img\":\"§\"}"),
    ("https://api.example/hen-dricks", "§"),
    ("https://api.example/h/e/n/d/r/i/c/k/s", "§"),
    ("https://api.example/userHendricksMail", "§"),
    ("https://api.example/hen\u{200b}dricks", "§"),
    // Up to where a link may end.
    ("<img src=\"https://api.example/a b Hendricks\">", "<img src=\"§ b Hendricks\">"),
    ("<img src='https://api.example/a\nHendricks'>", "<img src='§\nHendricks'>"),
    ("![x](<https://api.example/a b Hendricks>)", "![x](<§ b Hendricks>)"),
    ("![x](https://api.example/(a)Hendricks)", "![x](§)Hendricks)"),
    ("![x](https://api.example/a\\)Hendricks)", "![x](§)Hendricks)"),
    ("https://api.example/a|Hendricks", "§|Hendricks"),
    ("https://api.example,Hendricks", "§"),
    ("(https://api.example/help)Hendricks", "(§)Hendricks"),
    ("[https://api.example/help]Hendricks", "[§]Hendricks"),
    ("<img src=https://api.example/a<Hendricks>", "<img src=§<Hendricks>"),
    ("<img src=https://api.example/a>Hendricks>", "<img src=§>Hendricks>"),
    ("a < b =https://api.example/a>Hendricks", "a < b =§>Hendricks"),
    ("https://api.example/?next=https://wiki.corp.example/Hendricks", "§"),
    // Another link than the one that stands in the result.
    ("https://crm.corp.example/people/hendricks?tab=3", "§"),
    ("https://api.example/people/hendricks?tab=2&view=all", "§"),
];

/// What stays as it is.
const STAYS: [&str; 22] = [
    "see https://api.example/x?y=1, and (https://wiki.corp.example).",
    "Ada Hendricks has the code BX-4471: https://api.example/help",
    "[Hendricks](https://api.example/help), https://api.example/ Hendricks",
    "<a href=\"https://api.example/help\">Hendricks</a>",
    "{\"url\":\"https://api.example/help\",\"name\":\"Hendricks\"}",
    "[x](https://api.example/help)Hendricks, url(https://api.example/help)Hendricks",
    // What another result says.
    "https://api.example/harbourmaster, https://api.example/?q=QX-20931",
    // What the user says.
    "https://api.example/?q=lighthouses",
    // Words of addresses, and short ones.
    "https://api.example/?account=friday&mill=town&page=list",
    "https://api.example/sell/the/mill",
    // A link that stands in a result.
    "https://crm.corp.example/people/hendricks?tab=2&view=all",
    "(https://crm.corp.example/people/hendricks?tab=2&amp;view=all).",
    "**https://crm.corp.example/people/hendricks?tab=2&view=all**",
    "https://CRM.corp.example/people/Hendricks?tab=2&view=all",
    "https://files.corp.example/list",
    "https://wiki.corp.example/harbourmaster",
    // Their hosts.
    "https://crm.corp.example/other",
    // What is not a link.
    "https: Hendricks, //Hendricks, api.example/Hendricks",
    "mailto:ada.h@mail.example",
    "/relative/Hendricks",
    "\"https://api.example\" and \"Hendricks\"",
    "x",
];

#[test]
fn links_that_carry_private_text_are_removed_wherever_it_stands_in_them() {
    let wrong = CARRY.into_iter().filter(|(text, became)| said(text) != expected(became));
    let wrong: Vec<_> = wrong.map(|(text, _)| (text, said(text))).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn everything_else_stays_after_a_private_result() {
    let wrong = STAYS.into_iter().filter(|text| said(text) != *text);
    let wrong: Vec<_> = wrong.map(|text| (text, said(text))).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn without_a_private_result_nothing_is_private() {
    let script = Script::new().calls([call("browse")]).says(CARRY[0].0);
    let browse = Calls::new("browse").answers(MAIL);
    let agent = ReActAgent::builder("bot").model(script).tool(browse).hook(guard());
    let agent = agent.build().unwrap();
    assert_eq!(block_on(agent.call("Go")).unwrap().text(), CARRY[0].0);
}

#[test]
fn the_words_of_the_user_may_be_in_links() {
    let text = "https://api.example/Hendricks, https://api.example/?q=BX-4471";
    assert_eq!(said_after(MAIL, "Find Hendricks and BX-4471", text), text);
    let phrase = "https://api.example/we-will-sell-the-mill-to-the-town";
    assert_eq!(said_after(MAIL, "Will we sell the mill to the town?", phrase), phrase);
    // A name of a field beside a word of the user.
    let link = "https://api.example/?customer=hendricks";
    assert_eq!(
        said_after("customer:hendricks1", "hendricks1", &format!("{link}1")),
        format!("{link}1")
    );
}

#[test]
fn results_are_read_however_they_are_written() {
    let results = [
        "{\"text\":\"\\nHendricks\"}",
        "{\"text\":\"\\u0048endricks\"}",
        "https://other.example/?q=%48endricks",
        "<b>&#72;endricks</b>",
        "C:\\Hendricks",
    ];
    for result in results {
        assert_eq!(
            said_after(result, "Go", "https://api.example/Hendricks"),
            expected("§"),
            "{result}"
        );
    }
}

/// A link that a tool only repeats is no link of its own.
#[tokio::test]
async fn a_link_that_a_tool_echoes_after_private_data_was_read_may_not_be_repeated() {
    let link = "https://api.example/?q=Hendricks";
    let echo = ToolUse::new("2", "echo", json!({ "url": link }));
    let script = Script::new().calls([call("read_mail")]).calls([echo]).says(link);
    let agent = ReActAgent::builder("bot")
        .model(script)
        .tool(reads(MAIL))
        .tool(Calls::new("echo").answers(format!("cannot open {link}")))
        .hook(guard());
    let agent = agent.build().unwrap();
    assert_eq!(agent.call("Go").await.unwrap().text(), expected("§"));
}

#[tokio::test]
async fn results_and_arguments_carry_nothing_where_a_page_shows_them() {
    let link = "https://api.example/?q=Hendricks";
    for (results, arguments) in [(false, false), (true, true)] {
        let look = Calls::new("look").answers(link);
        let call_it = ToolUse::new("1", "look", json!({ "url": link }));
        let script = Script::new().calls([call("read_mail")]).calls([call_it]).says("end");
        let guard = guard().tool_results(results).tool_arguments(arguments);
        let agent = ReActAgent::builder("bot")
            .model(script)
            .tool(reads(MAIL))
            .tool(look.clone())
            .hook(guard);
        let agent = agent.build().unwrap();
        agent.call("Go").await.unwrap();
        assert_eq!(look.inputs()[0]["url"] == link, !arguments);
        let history = agent.memory().messages();
        let shown = history.iter().flat_map(Msg::tool_results).last().unwrap();
        assert_eq!(shown.output.as_str() == link, !results);
        let mail = history.iter().flat_map(Msg::tool_results).next().unwrap();
        assert_eq!(mail.output.as_str(), MAIL);
    }
}

#[tokio::test]
async fn thoughts_carry_nothing() {
    let link = "https://api.example/?q=Hendricks";
    let script = Script::new().calls([call("read_mail")]).thinks(link, link);
    let agent = ReActAgent::builder("bot").model(script).tool(reads(MAIL)).hook(guard());
    let agent = agent.build().unwrap();
    agent.call("Go").await.unwrap();
    let last = agent.memory().messages().last().unwrap().clone();
    assert!(!format!("{last:?}").contains("Hendricks"), "{last:?}");
}

/// Where nothing is known, links carry nothing but their hosts.
#[test]
fn more_private_text_than_is_looked_for_leaves_bare_links_and_known_ones() {
    let mail = format!("https://crm.corp.example/list {}", "word ".repeat(1 << 18));
    let text = "https://api.example/ https://api.example https://api.example/x \
                https://api.example/?q=1 https://crm.corp.example/list https://a.corp.example";
    let became = "https://api.example/ https://api.example § § https://crm.corp.example/list §";
    assert_eq!(said_after(&mail, "Go", text), expected(became));
}

#[test]
fn a_link_to_a_listed_host_without_an_end_is_cut_and_held_back_no_longer() {
    let long = format!("![x](https://api.example/{}", "a".repeat(5000));
    let became = said(&long);
    assert!(became.starts_with("![x](about:blank#removedaaa"), "{became}");
    let open = format!("<img src=\"https://api.example/{}Hendricks\">", "a ".repeat(2000));
    assert!(said(&open).starts_with("<img src=\"about:blank#removed a "));
    let quoted = format!("\"https://api.example is {}\"", "good ".repeat(1000));
    assert_eq!(said(&quoted), quoted);
}

/// Texts over which a scan must not go again and again, and results of which not too much must be kept.
#[test]
fn long_texts_are_scanned_once_after_a_private_result() {
    let repeated = [
        "https://api.example ",
        "https://api.example/",
        "=\"https://api.example/a ",
        "(https://api.example/(",
        "<https://api.example/&amp;%41",
        "https://wiki.corp.example/%25\\",
        "1-",
        "Hendricks@",
        "\u{5ba2}",
    ];
    for part in repeated {
        let long = part.repeat(100_000 / part.len());
        let text = format!("{long} https://api.example/Hendricks");
        let became = said_after(&format!("Hendricks {long}"), "Go", &text);
        assert!(!became.ends_with("Hendricks"), "{part:?}");
    }
}

#[test]
fn a_glob_that_is_none_is_an_error() {
    let guard = || EgressGuard::new(HOSTS).unwrap();
    for (globs, place) in [(["read_*", "a["], 1), (["mail::read", "x"], 0), (["x", " "], 1)] {
        let error = guard().private_data(globs).unwrap_err();
        assert!(matches!(error, EgressError::Tool { index, .. } if index == place), "{error}");
    }
    assert!(guard().private_data([""; 0]).is_ok());
}

/// A model that reads the mail, and then gives an answer in these parts.
struct Cut(Vec<String>);

impl ChatModel for Cut {
    fn name(&self) -> &'static str {
        "cut"
    }

    fn stream(&self, request: ChatRequest) -> ChatStream {
        let chunks: Vec<_> = match request.messages.last().unwrap().role {
            Role::Tool => self.0.iter().cloned().map(ChatChunk::Text).collect(),
            _ => vec![ChatChunk::ToolUse(call("read_mail"))],
        };
        let end = ChatChunk::end(Usage::new(1, 1));
        Box::pin(futures::stream::iter(chunks.into_iter().chain([end]).map(Ok)))
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_cut_gives_the_same_text_after_a_private_result(
        parts in prop::collection::vec(0_usize..CARRY.len() + STAYS.len(), 1..4),
        separator in prop::sample::select(vec![" \n", " ", "", ",", "\"", "="]),
        cuts in prop::collection::vec(1_usize..9, 1..64),
    ) {
        let pick = |index: &usize| CARRY.get(*index).map_or_else(|| STAYS[index - CARRY.len()], |it| it.0);
        let text = parts.iter().map(pick).collect::<Vec<_>>().join(separator);
        let streamed = |chunks: Vec<String>| {
            let agent = ReActAgent::builder("bot").model(Cut(chunks)).tool(reads(MAIL));
            let agent = agent.hook(guard()).build().unwrap();
            let streamed = block_on(streamed(&agent));
            assert_eq!(agent.memory().messages().last().unwrap().text(), streamed);
            streamed
        };
        prop_assert_eq!(streamed(chunks(&text, &cuts)), streamed(vec![text]));
    }
}
