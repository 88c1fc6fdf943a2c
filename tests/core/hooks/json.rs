//! Hooks over JSON, and what of the registry can be serialised.

use hooks_core::{
    HookError, HookOptions, HookPlan, HookResult, HookType, Hookable, Hooks, Level, Phase,
    class_hook, hookable,
};
use hooks_fixtures::Reports;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Msg {
    text: String,
    #[serde(default)]
    tags: Vec<String>,
    /// Not in the JSON.
    #[serde(skip)]
    secret: Option<u32>,
}

/// A message with what JSON does not show.
fn secret(text: &str) -> Msg {
    Msg { text: text.to_owned(), secret: Some(42), ..Msg::default() }
}

#[derive(Hookable, Default)]
struct Agent {
    hooks: Hooks,
}

#[hookable(json)]
impl Agent {
    async fn reply(&self, msg: Msg, style: Option<&str>) -> Result<Msg, HookError> {
        let text = format!("{} {}", msg.text, style.unwrap_or("plain"));
        Ok(Msg { text, ..msg })
    }

    fn print(&self, text: &str) -> usize {
        text.len()
    }
}

#[tokio::test]
async fn a_hook_over_json_sees_and_changes_named_arguments() -> Result<(), HookError> {
    let agent = Agent::default();
    agent.register_json_hook("pre_reply", "style", |args: &mut Value| {
        assert_eq!(*args, json!({ "msg": { "text": "hi", "tags": [] }, "style": null }));
        args["style"] = json!("grand");
        args["msg"]["tags"] = json!(["seen"]);
    })?;
    let reply = agent.reply(secret("hi"), None).await?;
    assert_eq!(reply.text, "hi grand");
    assert_eq!(reply.tags, ["seen"]);
    Ok(())
}

#[tokio::test]
async fn where_a_hook_changes_nothing_the_value_keeps_what_json_does_not_say()
-> Result<(), HookError> {
    let agent = Agent::default();
    agent.register_json_hook("pre_reply", "look", |args: &mut Value| assert!(args.is_object()))?;
    agent.register_json_hook(Agent::POST_REPLY, "look", |args: &Value, output: &mut Value| {
        assert_eq!((&args["msg"]["text"], &output["text"]), (&json!("hi"), &json!("hi plain")));
    })?;
    assert_eq!(agent.reply(secret("hi"), None).await?.secret, Some(42));
    Ok(())
}

#[tokio::test]
async fn a_hook_over_json_changes_the_output_and_may_fail() -> Result<(), HookError> {
    let agent = Agent::default();
    agent.register_json_hook(
        "post_reply",
        "rule",
        |args: &Value, output: &mut Value| -> HookResult {
            if args["msg"]["text"] == "bad" {
                return Err("not that".into());
            }
            output["text"] = json!("ruled");
            Ok(())
        },
    )?;
    assert_eq!(agent.reply(secret("good"), None).await?.text, "ruled");
    let error = agent.reply(secret("bad"), None).await.unwrap_err();
    assert_eq!(error.to_string(), "instance hook `rule` failed at post_reply: not that");
    Ok(())
}

#[tokio::test]
async fn a_value_of_another_shape_fails_the_call_and_names_the_hook() -> Result<(), HookError> {
    let agent = Agent::default();
    agent.register_json_hook("pre_reply", "breaks", |args: &mut Value| args["msg"] = json!(7))?;
    let error = agent.reply(secret("hi"), None).await.unwrap_err();
    let begin = "instance hook `breaks` failed at pre_reply: ";
    assert!(error.to_string().starts_with(begin), "{error}");
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert!(cause.contains("invalid type: integer `7`, expected struct Msg"), "{cause}");
    Ok(())
}

#[test]
fn where_the_method_cannot_fail_a_bad_value_is_reported_and_ignored() -> Result<(), HookError> {
    let agent = Agent::default();
    agent.register_json_hook("pre_print", "breaks", |args: &mut Value| args["text"] = json!(7))?;
    agent.register_json_hook("post_print", "doubles", |_: &Value, output: &mut Value| {
        *output = json!(output.as_u64().unwrap() * 2);
    })?;
    let (reports, records) = Reports::up_to(tracing::Level::WARN);
    let reporting = tracing::subscriber::set_default(reports);
    assert_eq!(agent.print("four"), 8);
    drop(reporting);
    let records = records.take();
    assert_eq!(records.len(), 1);
    for part in ["hook=\"breaks\"", "hook_type=pre_print", "expected a string"] {
        assert!(records[0].contains(part), "{records:?}");
    }
    Ok(())
}

#[test]
fn hooks_over_json_stand_in_the_order_of_all_others() -> Result<(), HookError> {
    #[derive(Hookable, Default)]
    struct Ordered {
        hooks: Hooks,
    }
    #[hookable(json, derive(Clone, Debug, Serialize, Deserialize))]
    impl Ordered {
        fn print(&self, text: String) -> String {
            text
        }
    }
    let push = |letter: &'static str| {
        move |args: &mut Value| {
            args["text"] = json!(format!("{}{letter}", args["text"].as_str().unwrap()));
        }
    };
    let ordered = Ordered::default();
    Ordered::register_json_class_hook("pre_print", HookOptions::named("class"), push("d"))?;
    ordered.register_instance_hook(
        Ordered::PRE_PRINT,
        "typed",
        |_: &Ordered, args: &mut OrderedPrintArgs| args.text.push('b'),
    );
    ordered.register_json_hook("pre_print", "json", push("c"))?;
    ordered.register_json_hook("pre_print", HookOptions::named("first").priority(1), push("a"))?;
    assert_eq!(ordered.print(String::new()), "abcd");
    ordered.remove_instance_hook("pre_print", "json")?;
    assert_eq!(ordered.print(String::new()), "abd");
    Ok(())
}

#[test]
fn hook_points_that_take_no_json_say_so() {
    #[derive(Hookable, Default)]
    struct Closed {
        hooks: Hooks,
    }
    #[hookable]
    impl Closed {
        fn print(&self) {}
    }
    let closed = Closed::default();
    let nothing = |_: &mut Value| {};
    let error = closed.register_json_hook("pre_print", "x", nothing).unwrap_err();
    assert_eq!(
        error.to_string(),
        "pre_print of Closed does not take this hook over JSON: mark the block \
         `#[hookable(json)]`; a generic type takes none"
    );
    let agent = Agent::default();
    for (hook_type, part) in [
        ("post_print", "a post hook takes `|args: &Value, output: &mut Value|`"),
        ("settled_print", "pre or post hooks"),
        ("pre_plan", "unknown hook type 'pre_plan' of Agent"),
    ] {
        let error = agent.register_json_hook(hook_type, "x", nothing).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
    let plan = agent.hook_plan();
    assert_eq!(
        plan.hooks().iter().map(hooks_core::plan::PlannedHook::name).collect::<Vec<_>>(),
        ["linked"]
    );
}

#[tokio::test]
async fn hooks_over_json_of_a_trait_run_for_every_implementor() -> Result<(), HookError> {
    #[hookable(json, derive(Clone, Debug, Serialize))]
    trait Talker {
        async fn reply(&self, msg: String) -> Result<String, HookError>;
    }
    #[derive(Hookable, Default)]
    struct Parrot {
        hooks: Hooks,
    }
    #[hookable]
    impl Talker for Parrot {
        async fn reply(&self, msg: String) -> Result<String, HookError> {
            Ok(msg)
        }
    }
    let parrot = Parrot::default();
    let add = |text: &'static str| {
        move |args: &mut Value| args["msg"] = json!(args["msg"].as_str().unwrap().to_owned() + text)
    };
    parrot.register_json_hook("pre_reply", "instance", add(" instance"))?;
    <dyn Talker>::register_json_class_hook("pre_reply", HookOptions::named("all"), add(" class"))?;
    assert_eq!(parrot.reply("hi".to_owned()).await?, "hi instance class");
    let error = Parrot::register_json_class_hook("pre_reply", HookOptions::named("x"), add(""))
        .unwrap_err();
    assert!(error.to_string().contains("register the hook on `<dyn Trait>`"), "{error}");
    let talker: &dyn Talker = &parrot;
    talker.register_json_hook("post_reply", "sign", |_: &Value, output: &mut Value| {
        *output = json!("signed");
    })?;
    assert_eq!(parrot.reply("hi".to_owned()).await?, "signed");
    Ok(())
}

#[class_hook(Agent::SETTLED_PRINT, name = "linked", priority = 7)]
fn linked(_: &Agent, _: &hooks_core::Outcome<'_, usize, std::convert::Infallible>) {}

#[test]
fn a_plan_and_what_the_linker_brought_can_be_serialised() {
    let agent = Agent::default();
    agent.register_instance_hook(Agent::PRE_PRINT, "look", |_: &Agent, _: &AgentPrintArgs| {});
    let line = line!() - 1;
    let plan: HookPlan = agent.hook_plan();
    assert_eq!(
        serde_json::to_value(&plan).unwrap(),
        json!({
            "agent": "Agent",
            "hooks": [
                {
                    "type": "pre_print", "level": "instance", "name": "look", "priority": 100,
                    "registered_at": format!("{}:{line}", file!()),
                },
                {
                    "type": "settled_print", "level": "class", "name": "linked", "priority": 7,
                    "registered_at": plan.hooks()[1].registered_at(),
                },
            ],
        })
    );
    let linked = serde_json::to_value(hooks_core::class_hooks()).unwrap();
    let ours = linked.as_array().unwrap().iter().find(|hook| hook["name"] == "linked").unwrap();
    assert_eq!((&ours["agent"], &ours["type"]), (&json!("Agent"), &json!("settled_print")));
    assert_eq!((&ours["module"], &ours["priority"]), (&json!(module_path!()), &json!(7)));
}

#[test]
fn hook_types_are_read_from_configuration() {
    let types: Vec<HookType> =
        serde_json::from_str(r#"["pre_reply", "error_model_call"]"#).unwrap();
    assert_eq!(types[1].to_string(), "error_model_call");
    assert_eq!(serde_json::to_string(&types).unwrap(), r#"["pre_reply","error_model_call"]"#);
    let error = serde_json::from_str::<HookType>("\"reply\"").unwrap_err().to_string();
    assert!(error.starts_with("'reply' is not a hook type, expected a phase"), "{error}");
}

#[test]
fn a_generic_type_takes_json_through_its_trait_alone() -> Result<(), HookError> {
    /// Two types of one name.
    macro_rules! pair {
        ($module:ident, $talker:ident) => {
            mod $module {
                use hooks_core::{Hookable, Hooks, hookable};

                #[hookable(json)]
                pub(super) trait $talker {
                    fn print(&self, text: String) -> String;
                }

                #[derive(Hookable)]
                pub(super) struct Pair<T> {
                    pub(super) value: T,
                    pub(super) hooks: Hooks,
                }

                #[hookable]
                impl<T: Send + Sync + 'static> $talker for Pair<T> {
                    fn print(&self, text: String) -> String {
                        let _ = &self.value;
                        text
                    }
                }
            }
        };
    }
    pair!(one, OneTalker);
    pair!(two, TwoTalker);
    use one::OneTalker;
    use two::TwoTalker;
    let (one, two) =
        (one::Pair { value: 1, hooks: Hooks::new() }, two::Pair { value: 1, hooks: Hooks::new() });
    let shout = |args: &mut Value| args["text"] = json!("shout");
    assert!(two.register_json_hook("pre_print", "shout", shout).is_err());
    (&two as &dyn TwoTalker).register_json_hook("pre_print", "shout", shout)?;
    (&one as &dyn OneTalker).register_json_hook("pre_print", "shout", shout)?;
    assert_eq!(
        (one.print("a".to_owned()), two.print("b".to_owned())),
        ("shout".into(), "shout".into())
    );
    Ok(())
}

#[tokio::test]
async fn a_field_that_does_not_exist_fails_the_call_and_the_near_one_is_named()
-> Result<(), HookError> {
    let failing = async |hook: fn(&mut Value)| {
        let agent = Agent::default();
        agent.register_json_hook("pre_reply", "rule", hook).unwrap();
        let error = agent.reply(secret("hi"), None).await.unwrap_err();
        std::error::Error::source(&error).expect("it has a cause").to_string()
    };
    let reason = failing(|args| args["stile"] = json!("grand")).await;
    assert_eq!(reason, "unknown field `stile`, did you mean `style`?");
    let reason = failing(|args| args["msg"]["txt"] = json!("ho")).await;
    assert_eq!(reason, "unknown field `msg.txt`, did you mean `text`?");
    let reason = failing(|args| args["something_else"] = json!(1)).await;
    assert_eq!(reason, "unknown field `something_else`");

    // Where the method cannot fail, the rule is reported and the arguments stay as they were.
    let agent = Agent::default();
    agent.register_json_hook("pre_print", "rule", |args: &mut Value| {
        args["text"] = json!("changed");
        args["texts"] = json!("misspelt");
    })?;
    assert_eq!(agent.print("four"), 4);
    Ok(())
}

#[test]
fn phases_and_levels_are_read_from_their_texts() {
    for phase in Phase::ALL {
        assert_eq!(phase.to_string().parse(), Ok(*phase));
        assert_eq!(serde_json::from_value::<Phase>(json!(phase)).unwrap(), *phase);
    }
    for level in Level::ALL {
        assert_eq!(level.to_string().parse(), Ok(*level));
        assert_eq!(serde_json::from_value::<Level>(json!(level)).unwrap(), *level);
    }
    let unknown = "before".parse::<Phase>().unwrap_err().to_string();
    assert_eq!(
        unknown,
        "'before' is not a phase, expected one of pre, around, post, error, settled"
    );
    let unknown = serde_json::from_value::<Level>(json!("type")).unwrap_err().to_string();
    assert_eq!(unknown, "'type' is not a level, expected instance or class");
}
