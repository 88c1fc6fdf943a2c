//! The arguments that rules see: those that fit, those that guards hide, those that hooks add.

use hooks_agent_builtin::guard::pii::PiiPattern;
use hooks_agent_builtin::guard::{PiiDetection, ToolParams, Vault};
use hooks_agent_core::prelude::*;
use hooks_agent_rules::{Then, ToolRule};
use serde_json::json;

use crate::people::typed_pay;
use crate::{Bot, calls, rules};

#[tokio::test]
async fn arguments_that_do_not_fit_are_refused_before_rules() {
    // As a text, the amount would be unequal to every number.
    let rule = ToolRule::new("none", Then::Deny).tools(["pay"]).when("args.euros == 5000");
    let script = calls([("pay", json!({ "euros": "5000" }))]);
    let bot = Bot::with(rules([rule]), script, &[], |it| it.tool(typed_pay()));
    bot.agent.call("Pay").await.unwrap();
    let read = &bot.read()[0];
    assert!(
        read.starts_with("the arguments do not fit the schema of the tool at `/euros`"),
        "{read}"
    );
    assert!(!read.contains("5000"), "{read}");
}

#[tokio::test]
async fn conditions_see_tokens_before_the_tool_and_values_as_it_starts() {
    let vault = Vault::new();
    let redacts = || PiiDetection::email().vault(vault.clone());
    let script = || calls([("send", json!({ "to": "eve@evil.example" }))]);
    // The token is no address of the company; the value neither.
    let rule = ToolRule::new("inside", Then::Deny)
        .tools(["send"])
        .when("args.to.contains('@') && !args.to.endsWith('@corp.example')");
    let bot = Bot::with(rules([rule]), script(), &["send"], |it| it.hook(redacts()));
    bot.agent.call("Send it").await.unwrap();
    assert!(bot.ran(0).is_empty());
    let read = &bot.read()[0];
    assert!(read.contains("the rule \"inside\" denies it") && !read.contains("evil"), "{read}");
    let allowed = || calls([("send", json!({ "to": "ada@corp.example" }))]);
    let rule = ToolRule::new("inside", Then::Deny)
        .tools(["send"])
        .when("args.to.contains('@') && !args.to.endsWith('@corp.example')");
    let bot = Bot::with(rules([rule]), allowed(), &["send"], |it| it.hook(redacts()));
    bot.agent.call("Send it").await.unwrap();
    assert_eq!(bot.ran(0).len(), 1);
}

#[tokio::test]
async fn what_a_rule_shows_is_what_the_model_sees() {
    let vault = Vault::new();
    let rule =
        ToolRule::new("none", Then::Deny).tools(["send"]).when("args.to == 'eve@evil.example'");
    let script = calls([("send", json!({ "to": "eve@evil.example" }))]);
    let bot = Bot::with(rules([rule.show(["to"])]), script, &["send"], |it| {
        it.hook(PiiDetection::email().vault(vault))
    });
    bot.agent.call("Send it").await.unwrap();
    let read = &bot.read()[0];
    assert!(read.contains("denies it (to = ") && !read.contains("evil.example"), "{read}");
}

#[tokio::test]
async fn arguments_of_the_program_are_seen_as_the_tool_starts() {
    let rule =
        ToolRule::new("tenant", Then::Deny).when("has(args.tenant) && args.tenant == 'other'");
    for (tenant, runs) in [("acme", 1), ("other", 0)] {
        let script = calls([("look", json!({}))]);
        let bot = Bot::with(rules([rule.clone()]), script, &["look"], |it| {
            it.hook(ToolParams::new().value("tenant", tenant))
        });
        bot.agent.call("Look").await.unwrap();
        assert_eq!(bot.ran(0).len(), runs, "{:?}", bot.read());
    }
}

#[tokio::test]
async fn hosts_that_are_not_listed_are_refused() {
    let rule = || {
        ToolRule::new("egress", Then::Deny)
            .tools(["fetch"])
            .hosts(["url", "more", "all.url"], ["api.example", "*.corp.example"])
    };
    let runs = [
        json!({ "url": "https://api.example/x" }),
        json!({ "url": "https://a.b.corp.example:8443/" }),
        json!({ "url": "https://api.example", "more": ["https://x.corp.example"] }),
        json!({}),
        json!({ "all": [{ "url": "https://api.example" }, { "other": 1 }] }),
    ];
    let refused = [
        json!({ "all": [{ "url": "https://api.example" }, { "url": "https://evil.example" }] }),
        json!({ "all": "https://evil.example" }),
        json!({ "url": "https://corp.example/" }),
        json!({ "url": "https://evilcorp.example/" }),
        json!({ "url": "https://api.example.evil/" }),
        json!({ "url": "https://api.example@evil.example/" }),
        json!({ "url": "//evil.example/" }),
        json!({ "url": "api.example" }),
        json!({ "url": 5 }),
        json!({ "url": "https://api.example\\@evil.example/" }),
        json!({ "url": "https://api.example/\tx" }),
        json!({ "url": "https://ada@api.example/" }),
        json!({ "more": [{ "url": "https://evil.example" }] }),
        json!({ "url": "https://api.example", "more": ["https://x.corp.example", "https://evil.example"] }),
    ];
    for (args, expected) in runs.map(|it| (it, 1)).into_iter().chain(refused.map(|it| (it, 0))) {
        let bot = Bot::new(rules([rule()]), calls([("fetch", args.clone())]), &["fetch"]);
        bot.agent.call("Fetch").await.unwrap();
        assert_eq!(bot.ran(0).len(), expected, "{args}: {:?}", bot.read());
        if expected == 0 {
            assert!(
                bot.read()[0].contains("the rule \"egress\" denies it: its host is not listed")
            );
        }
    }
}

/// A guard that keeps URLs in a vault puts tokens in their place.
#[tokio::test]
async fn hosts_are_those_of_the_values_behind_tokens() {
    let rule = || ToolRule::new("egress", Then::Deny).hosts(["url"], ["api.example"]);
    for (url, runs) in [
        ("https://api.example/x?mail=ada@corp.example", 1),
        ("https://evil.example/ada@corp.example", 0),
    ] {
        let whole = |builder: hooks_agent_core::react::ReActAgentBuilder| {
            let links = PiiPattern::new("LINK", "https://[^ \"]+").unwrap();
            builder.hook(PiiDetection::custom("LINK", links).vault(Vault::new()))
        };
        let bot = Bot::with(
            rules([rule()]),
            calls([("fetch", json!({ "url": url }))]),
            &["fetch"],
            whole,
        );
        bot.agent.call("Fetch").await.unwrap();
        assert_eq!(bot.ran(0).len(), runs, "{:?}", bot.read());
        assert!(!bot.read()[0].contains("evil"), "{:?}", bot.read());
    }
}
