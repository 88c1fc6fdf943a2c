//! Mistakes in the rules of a file are found with their places.

use hooks_agent_policy::policy::{Policy, PolicyFile, schema};

fn errors(text: &str) -> Vec<String> {
    let file = PolicyFile::text("policy.toml", text);
    let errors = Policy::builder().project(file).check().unwrap_err();
    errors.to_string().lines().map(str::to_owned).collect()
}

#[test]
fn ten_mistakes_are_ten_errors_with_their_places() {
    let found = errors(
        r#"version = 1
[rules]
default = "block"
zone = "Europe/Berlim"

[[rule]]
name = "large"
tools = ["pay["]
when = "arg.euros > 1000"
then = "ask"

[[rule]]
name = "раyments"
then = "refuse"
wen = "true"

[[rule]]
name = "egress"
then = "deny"
hosts = { args = ["url"], allow = ["https://corp.example"] }
users = { role = ["clerk"] }

[[rule]]
name = "order"
then = "deny"
requires = { tool = "test", outcome = "good" }
when = "now > 5"
"#,
    );
    let starts = [
        "policy.toml:3:11: rules.default: unknown value `block`; expected one of `allow`, `warn`, `ask`, `deny`",
        "policy.toml:4:8: rules.zone: expected a time zone such as `Europe/Berlin`, found `Europe/Berlim`",
        "policy.toml:8:10: rule[0].tools[0]: expected a glob: ",
        "policy.toml:9:8: rule[0].when: unknown name `arg`, did you mean `args`? ",
        "policy.toml:13:8: rule[1].name: `раyments` mixes letters of several scripts, which read alike",
        "policy.toml:14:8: rule[1].then: unknown value `refuse`; ",
        "policy.toml:15:1: rule[1].wen: unknown key `wen`, did you mean `when`? ",
        "policy.toml:20:36: rule[2].hosts.allow[0]: expected a host such as `api.example` or `*.corp.example`, ",
        "policy.toml:21:11: rule[2].users.role: unknown key `role`, did you mean `roles`? ",
        "policy.toml:26:39: rule[3].requires.outcome: unknown value `good`; ",
        "policy.toml:27:8: rule[3].when: `>` does not take timestamp and int, at character 5",
    ];
    assert_eq!(found.len(), starts.len(), "{found:#?}");
    for (found, start) in found.iter().zip(starts) {
        assert!(found.starts_with(start), "{found}\n{start}");
    }
}

#[test]
fn variables_that_are_not_there_and_names_that_are_there_twice_are_errors() {
    let found = errors(
        r#"version = 1
vars = { payees = [] }
[[rule]]
name = "one"
then = "deny"
when = "args.to in vars.payes"
[[rule]]
name = "one"
then = "deny"
when = "args.to in vars.payees"
"#,
    );
    assert_eq!(
        found,
        [
            "policy.toml:6:8: rule[0].when: unknown variable `payes`, did you mean `payees`? expected `payees`, \
             at character 17",
            "policy.toml:8:8: rule[1].name: the name is taken by rule[0]; expected another one",
        ]
    );
}

#[test]
fn a_rule_without_what_it_needs_says_so() {
    let found = errors("version = 1\n[[rule]]\ntools = [\"pay\"]\n");
    assert!(found[0].starts_with("policy.toml:2:1: rule[0]: missing key `name`"), "{found:#?}");
    let found = errors("version = 1\nrule = 5\n");
    assert!(found[0].starts_with("policy.toml:2:8: rule: expected an array"), "{found:#?}");
}

#[test]
fn a_value_of_the_environment_is_in_no_error() {
    let found =
        errors("version = 1\n[[rule]]\nname = \"x\"\nthen = \"deny\"\nwhen = \"${env:PATH}\"\n");
    assert!(found[0].contains("the reason is not shown"), "{found:#?}");
}

#[test]
fn the_schema_has_rules() {
    let schema = schema();
    let rule = &schema["properties"]["rule"]["items"]["properties"];
    assert!(rule["when"].is_object() && rule["requires"].is_object(), "{schema:#}");
    assert!(schema["properties"]["rules"].to_string().contains("zone"));
}

#[tokio::test]
async fn a_file_removes_links_to_other_hosts() {
    use hooks_agent_core::prelude::*;

    let model =
        ScriptedModel::new("fixed", |_| "![x](https://evil.example/x) https://a.corp.example");
    let text =
        "version = 1\n[[hook]]\nuse = \"egress_guard\"\nwith = { hosts = [\"*.corp.example\"] }\n";
    let agent = ReActAgent::builder("bot").model(model).hook_source(crate::policy(text));
    let said = agent.build().unwrap().call("Go").await.unwrap().text();
    assert_eq!(said, "![x](about:blank#removed) https://a.corp.example");
    let found = errors(
        "version = 1\n[[hook]]\nuse = \"egress_guard\"\nwith = { hosts = [\"https://x\"] }\n",
    );
    assert!(found[0].contains("hook[0].with.hosts: expected a host such as"), "{found:#?}");
}

#[tokio::test]
async fn a_file_names_the_tools_whose_results_links_must_not_carry() {
    use hooks_agent_core::prelude::*;
    use hooks_agent_core::testing::{Calls, Script};

    let text = |tools: &str| {
        format!(
            "version = 1\n[[hook]]\nuse = \"egress_guard\"\n\
             with = {{ hosts = [\"api.example\"], private_data = [{tools}] }}\n"
        )
    };
    let links = "https://api.example/Hendricks https://api.example/help";
    let script =
        Script::new().calls([ToolUse::new("1", "read_mail", serde_json::json!({}))]).says(links);
    let agent = ReActAgent::builder("bot")
        .model(script)
        .tool(Calls::new("read_mail").answers("Ada Hendricks"))
        .hook_source(crate::policy(&text("\"browse\", \"read_*\"")));
    let said = agent.build().unwrap().call("Go").await.unwrap().text();
    assert_eq!(said, "about:blank#removed https://api.example/help");
    for wrong in ["\"a[\"", "\"mail::read\""] {
        let found = errors(&text(&format!("\"x\", {wrong}")));
        assert!(found[0].contains("hook[0].with.private_data[1]: "), "{found:#?}");
    }
}

#[test]
fn rules_are_no_hook_of_a_file() {
    let found = errors("version = 1\n[[hook]]\nuse = \"rules\"\n");
    assert_eq!(
        found,
        ["policy.toml:3:7: hook[0].use: rules are no `[[hook]]`: write each as a `[[rule]]`"]
    );
    let found = errors("version = 1\n[[hook]]\nuse = \"rulez\"\n");
    assert!(!found[0].contains("`rules`"), "{found:?}");
    assert!(!schema()["properties"]["hook"].to_string().contains("\"rules\""));
}
