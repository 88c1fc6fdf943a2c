//! Rules decide together.

use std::sync::Arc;

use hooks_agent_core::call::RunId;
use hooks_agent_core::hook::{HookRun, HookWatcher};
use hooks_agent_core::journal::MemoryJournal;
use hooks_agent_core::prelude::*;
use hooks_agent_core::testing::Calls;
use hooks_agent_core::tool::{Tool, ToolContext, ToolFuture};
use hooks_agent_rules::{Requires, Then, ToolRule};
use hooks_fixtures::journaled::{World, run};
use hooks_fixtures::{Records, Reports};
use serde_json::{Value, json};

use crate::{Bot, calls, rules, tool};

fn pay(euros: u32) -> (&'static str, serde_json::Value) {
    ("pay", json!({ "to": "Eve", "euros": euros }))
}

#[tokio::test]
async fn a_rule_denies_what_it_matches_and_nothing_else() {
    let large = ToolRule::new("large", Then::Deny).tools(["pay"]).when("args.euros > 1000");
    let script = calls([pay(1000), pay(1001), ("look", json!({ "euros": 5000 }))]);
    let bot = Bot::new(rules([large.reason("ask a person")]), script, &["pay", "look"]);
    assert_eq!(bot.agent.call("Pay").await.unwrap().text(), "end");
    assert_eq!(bot.ran(0), [json!({ "to": "Eve", "euros": 1000 })]);
    assert_eq!(bot.ran(1).len(), 1);
    assert_eq!(bot.read()[1], "the rule \"large\" denies it: ask a person");
}

#[tokio::test]
async fn of_all_that_match_the_strictest_holds_whatever_their_order() {
    let all = [Then::Allow, Then::Warn, Then::Ask, Then::Deny];
    for (most, turned) in [(4, false), (4, true), (3, false), (3, true), (2, false), (1, false)] {
        let mut made: Vec<_> =
            all[..most].iter().map(|then| ToolRule::new(then.name(), *then)).collect();
        if turned {
            made.reverse();
        }
        let bot = Bot::new(rules(made), calls([pay(1)]), &["pay"]);
        let reply = bot.agent.call("Pay").await.unwrap();
        let (ran, pending) = (bot.ran(0).len(), reply.pending().len());
        match most {
            4 => assert_eq!(
                (ran, pending, bot.read()[0].as_str()),
                (0, 0, "the rule \"deny\" denies it")
            ),
            3 => {
                assert_eq!((ran, pending), (0, 1));
                assert_eq!(reply.pending()[0].askers[0].reason, "the rule \"ask\" asks");
                assert_eq!(reply.pending()[0].askers[1].reason, "the rule \"warn\" warns");
            }
            _ => assert_eq!((ran, pending), (1, 0)),
        }
    }
}

#[tokio::test]
async fn the_default_holds_for_what_no_rule_speaks_of() {
    let known = || ToolRule::new("known", Then::Allow).tools(["look"]);
    let script = || calls([("look", json!({})), pay(1)]);
    let bot = Bot::new(rules([known()]).otherwise(Then::Deny), script(), &["look", "pay"]);
    bot.agent.call("Go").await.unwrap();
    assert_eq!(bot.read(), ["done", "no rule allows this call of `pay`"]);

    // Neither a warning speaks of it, nor what cannot be decided.
    let noted = ToolRule::new("noted", Then::Warn).when("args.euros > 0");
    let asks = ToolRule::new("asks", Then::Ask).when("args.none > 0");
    let bot =
        Bot::new(rules([known(), noted, asks]).otherwise(Then::Deny), script(), &["look", "pay"]);
    bot.agent.call("Go").await.unwrap();
    assert!(bot.ran(1).is_empty());

    let bot = Bot::new(rules([known()]).otherwise(Then::Ask), script(), &["look", "pay"]);
    let reply = bot.agent.call("Go").await.unwrap();
    assert_eq!(reply.pending()[0].askers[0].reason, "no rule speaks of this call of `pay`");
    let reply = bot.agent.resume(CallOptions::new().confirm(&reply.pending()[0].id)).await.unwrap();
    assert_eq!((reply.text().as_str(), bot.ran(1).len()), ("end", 1));
}

#[tokio::test]
async fn a_rule_that_cannot_be_decided_holds_unless_it_allows() {
    let rule = |then| ToolRule::new("euros", then).when("args.euro > 1000").reason("too much");
    let bot = Bot::new(rules([rule(Then::Deny)]), calls([pay(1)]), &["pay"]);
    bot.agent.call("Pay").await.unwrap();
    assert_eq!(bot.read(), ["the rule \"euros\" cannot be decided: there is no `euro`"]);

    let bot = Bot::new(rules([rule(Then::Ask)]), calls([pay(1)]), &["pay"]);
    let reply = bot.agent.call("Pay").await.unwrap();
    let reason = "the rule \"euros\" cannot be decided: there is no `euro`";
    assert_eq!(reply.pending()[0].askers[0].reason, reason);

    let bot = Bot::new(rules([rule(Then::Warn)]), calls([pay(1)]), &["pay"]);
    bot.agent.call("Pay").await.unwrap();
    assert_eq!(bot.ran(0).len(), 1);

    let rules = rules([rule(Then::Allow)]).otherwise(Then::Deny);
    let bot = Bot::new(rules, calls([pay(1)]), &["pay"]);
    bot.agent.call("Pay").await.unwrap();
    assert_eq!(bot.read(), ["no rule allows this call of `pay`"]);
}

#[tokio::test]
async fn a_rule_in_shadow_changes_nothing() {
    let deny = || ToolRule::new("none", Then::Deny).shadow(true);
    let bot = Bot::new(rules([deny()]), calls([pay(1)]), &["pay"]);
    assert_eq!(bot.agent.call("Pay").await.unwrap().text(), "end");
    assert_eq!(bot.ran(0).len(), 1);
    // It speaks of nothing either.
    let allow = ToolRule::new("all", Then::Allow).shadow(true);
    let bot = Bot::new(rules([allow]).otherwise(Then::Deny), calls([pay(1)]), &["pay"]);
    bot.agent.call("Pay").await.unwrap();
    assert_eq!(bot.read(), ["no rule allows this call of `pay`"]);
}

#[tokio::test]
async fn a_rule_in_shadow_is_counted_and_told_to_watchers_once_for_each_tool_call() {
    #[derive(Default)]
    struct Told(Records<String>);

    impl HookWatcher for Told {
        fn hook_ran(&self, run: &HookRun<'_>) {
            if run.would().is_some() {
                let call = run.tool_call_id().unwrap_or_default();
                self.0.push(format!("{} {} {} {call}", run.hook(), run.event(), run.flow()));
            }
        }

        fn only_shadow(&self) -> bool {
            true
        }
    }

    struct Watch(Arc<Told>);

    impl AgentHook for Watch {
        fn events(&self) -> EventMask {
            EventMask::NONE
        }

        fn watcher(&self) -> Option<Arc<dyn HookWatcher>> {
            Some(self.0.clone())
        }
    }

    let large = ToolRule::new("large", Then::Ask).when("args.euros > 1").shadow(true);
    let all = ToolRule::new("all", Then::Deny).shadow(true);
    let warns = ToolRule::new("odd", Then::Warn).shadow(true);
    let bot = Bot::new(rules([large, all, warns]), calls([pay(1), pay(2)]), &["pay"]);
    let told = Arc::new(Told::default());
    bot.agent.register_agent_hook(Watch(told.clone()));
    assert_eq!(bot.agent.call("Pay").await.unwrap().text(), "end");
    assert_eq!(bot.ran(0).len(), 2);
    let counts: Vec<_> =
        bot.agent.shadow_counts().iter().map(|(name, it)| format!("{name}: {it}")).collect();
    assert_eq!(
        counts,
        [
            "the rule \"large\": 2 runs, 1 would have asked, 1 calls with the first of these",
            "the rule \"all\": 2 runs, 2 would have refused, 1 calls with the first of these",
            "the rule \"odd\": 2 runs",
        ]
    );
    let mut told = told.0.take();
    told.sort();
    let messages = bot.agent.memory().messages();
    let ids: Vec<_> = messages.iter().flat_map(Msg::tool_uses).map(|call| &*call.id).collect();
    let call = |at: usize| ids[at];
    assert_eq!(
        told,
        [
            format!("the rule \"all\" PRE_ACTING refuse {}", call(0)),
            format!("the rule \"all\" PRE_ACTING refuse {}", call(1)),
            format!("the rule \"large\" PRE_ACTING ask {}", call(1)),
        ]
    );
}

#[tokio::test]
async fn what_a_call_replays_is_counted_once_of_a_rule_in_shadow() {
    let rules = rules([ToolRule::new("all", Then::Deny).shadow(true)]).build().unwrap();
    let (journal, id) = (MemoryJournal::new(), RunId::random());
    let agent = || World::default().builder().hook(rules.clone()).build().unwrap();
    run(&agent(), &journal, id).await.unwrap();
    let first = agent().shadow_counts()[0].1;
    assert!(first.refused > 0);
    run(&agent(), &journal, id).await.unwrap();
    assert_eq!(agent().shadow_counts()[0].1, first);
}

/// What is only tried, and what only warns, is in the log, once for each tool call.
#[tokio::test]
async fn shadow_and_warnings_are_in_the_log() {
    let (reports, records) = Reports::up_to(tracing::Level::INFO);
    let _guard = tracing::subscriber::set_default(reports);
    let shadow = ToolRule::new("tried", Then::Deny).reason("it is new").shadow(true);
    let warns = ToolRule::new("odd", Then::Warn).reason("it is odd");
    let allowed = ToolRule::new("all", Then::Allow).shadow(true);
    let bot = Bot::new(rules([shadow, warns, allowed]), calls([pay(1), pay(2)]), &["pay"]);
    bot.agent.call("Pay").await.unwrap();
    let records = records.take();
    let lines = |text: &str| records.iter().filter(|line| line.contains(text)).count();
    assert_eq!(
        lines("in shadow, not enforced: the rule \"tried\" denies it: it is new"),
        2,
        "{records:?}"
    );
    assert_eq!(lines("in shadow, not enforced: the rule \"all\" allows it"), 2, "{records:?}");
    assert_eq!(lines("the rule \"odd\" warns: it is odd"), 2, "{records:?}");
    // What another rule refuses before it starts was tried too.
    let denies = ToolRule::new("none", Then::Deny);
    let tried = ToolRule::new("tried", Then::Ask).shadow(true);
    let (reports, records) = Reports::up_to(tracing::Level::INFO);
    let _guard = tracing::subscriber::set_default(reports);
    let bot = Bot::new(rules([denies, tried]), calls([pay(1)]), &["pay"]);
    bot.agent.call("Pay").await.unwrap();
    assert!(records.take().iter().any(|line| line.contains("the rule \"tried\" asks")));
}

#[tokio::test]
async fn reasons_have_the_values_that_a_rule_shows_and_no_others() {
    let rule = ToolRule::new("large", Then::Deny).when("args.euros > 10").reason("too much");
    let bot = Bot::new(rules([rule.clone()]), calls([pay(20)]), &["pay"]);
    bot.agent.call("Pay").await.unwrap();
    assert_eq!(bot.read(), ["the rule \"large\" denies it: too much"]);
    let bot = Bot::new(rules([rule.show(["to", "euros", "none"])]), calls([pay(20)]), &["pay"]);
    bot.agent.call("Pay").await.unwrap();
    assert_eq!(bot.read(), ["the rule \"large\" denies it: too much (to = \"Eve\", euros = 20)"]);
}

#[tokio::test]
async fn globs_name_tools_and_those_of_servers() {
    let rule = ToolRule::new("some", Then::Deny).tools(["pay_*", "!pay_back", "shop::*"]);
    let script = calls([("pay_now", json!({})), ("pay_back", json!({})), ("pay", json!({}))]);
    let bot = Bot::new(rules([rule]), script, &["pay_now", "pay_back", "pay"]);
    bot.agent.call("Pay").await.unwrap();
    assert_eq!([bot.ran(0).len(), bot.ran(1).len(), bot.ran(2).len()], [0, 1, 1]);
}

#[test]
fn what_is_wrong_with_rules_is_said_at_once() {
    let one = ToolRule::new("large", Then::Deny).when("arg.a == 1 && user.name == ''").tools(["["]);
    let other = ToolRule::new("large", Then::Ask).roles(["\u{440}ay"]).hosts(["url"], ["*"]);
    let error = rules([one, other]).zone("Europe/Berl").build().unwrap_err();
    let places: Vec<_> = error.mistakes().map(|(place, _)| place).collect();
    assert_eq!(
        places,
        [
            "zone",
            "rule[0].tools[0]",
            "rule[0].when",
            "rule[1].name",
            "rule[1].users.roles[0]",
            "rule[1].hosts.allow[0]"
        ],
        "{error}"
    );
}

#[test]
fn a_rule_that_cannot_mean_what_it_says_is_an_error() {
    let hosts = ToolRule::new("hosts", Then::Allow).hosts(["url"], ["api.example"]);
    let requires = ToolRule::new("order", Then::Allow).requires(Requires::new("test"));
    let none: [&str; 0] = [];
    let empty =
        ToolRule::new("none", Then::Allow).tools(none).agents(none).acting(none).roles(none);
    let late = ToolRule::new("late", Then::Deny).expires_after(std::time::Duration::from_secs(1));
    let patterns = (0..9).map(|n| format!("tool.matches('{n}')")).collect::<Vec<_>>().join(" || ");
    let patterns = ToolRule::new("many", Then::Deny).when(patterns);
    let error = rules([hosts, requires, empty, patterns, late]).build().unwrap_err();
    let places: Vec<_> = error.mistakes().map(|(place, _)| place).collect();
    let lists = ["rule[2].tools", "rule[2].agents", "rule[2].acting", "rule[2].users.roles"];
    assert_eq!(places[..2], ["rule[0].then", "rule[1].then"], "{error}");
    assert_eq!(places[2..6], lists, "{error}");
    assert!(error.to_string().contains("rule[3].when: expected at most 8 patterns"), "{error}");
    assert!(
        error.to_string().contains("rule[4].expires_after: expected `then = \"ask\"`"),
        "{error}"
    );
}

/// A tool of a server.
struct Remote {
    server: &'static str,
    name: &'static str,
    schema: Option<Value>,
    calls: Calls,
}

fn remote(server: &'static str, name: &'static str) -> Remote {
    Remote { server, name, schema: None, calls: tool(name) }
}

impl Tool for Remote {
    fn name(&self) -> &str {
        self.name
    }

    fn description(&self) -> &'static str {
        "Does something elsewhere."
    }

    fn schema(&self) -> &Value {
        self.schema.as_ref().unwrap_or(self.calls.schema())
    }

    fn server(&self) -> Option<&str> {
        Some(self.server)
    }

    fn is_foreign(&self) -> bool {
        true
    }

    fn call(&self, cx: ToolContext) -> ToolFuture<'_> {
        self.calls.call(cx)
    }
}

#[tokio::test]
async fn a_glob_with_a_server_is_about_tools_of_servers_and_others_about_names() {
    for (globs, runs) in [
        (&["read_*"][..], [true, false, true]),
        (&["bank::*"][..], [false, true, false]),
        (&["*::wipe"][..], [false, true, false]),
        (&["*", "!bank::*"][..], [true, false, true]),
        (&["!read_*"][..], [false, true, false]),
        (&["*"][..], [true, true, true]),
    ] {
        let allow = ToolRule::new("some", Then::Allow).tools(globs.iter().copied());
        let script =
            calls([("read_mail", json!({})), ("wipe", json!({})), ("read_page", json!({}))]);
        let (wipe, page) = (remote("bank", "wipe"), remote("read_only", "read_page"));
        let counts = [wipe.calls.clone(), page.calls.clone()];
        let bot = Bot::with(rules([allow]).otherwise(Then::Deny), script, &["read_mail"], |it| {
            it.tool(wipe).tool(page)
        });
        bot.agent.call("Go").await.unwrap();
        let ran = [bot.ran(0), counts[0].inputs(), counts[1].inputs()].map(|it| !it.is_empty());
        assert_eq!(ran, runs, "{globs:?}: {:?}", bot.read());
    }
}

#[tokio::test]
async fn a_schema_of_others_that_doubles_without_end_refuses_the_tool() {
    let mut defs = serde_json::Map::new();
    for index in 0..40 {
        let next = format!("#/$defs/d{}", index + 1);
        defs.insert(format!("d{index}"), json!({ "anyOf": [{ "$ref": next }, { "$ref": next }] }));
    }
    defs.insert("d40".to_owned(), json!(false));
    let schema =
        json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/d0" } }, "$defs": defs });
    let rule = ToolRule::new("any", Then::Warn);
    let bot = Bot::with(rules([rule]), calls([("hostile", json!({ "a": 1 }))]), &[], |it| {
        it.tool(Remote { schema: Some(schema), ..remote("bank", "hostile") })
    });
    bot.agent.call("Go").await.unwrap();
    assert_eq!(bot.read(), ["the schema of the tool cannot be read"]);
}
