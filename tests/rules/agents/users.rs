//! Rules about users.

use hooks_agent_core::call::User;
use hooks_agent_core::prelude::*;
use hooks_agent_rules::{Then, ToolRule};
use serde_json::json;

use crate::{Bot, calls, rules};

async fn ran(rule: ToolRule, user: Option<User>) -> (usize, String) {
    let bot = Bot::new(rules([rule]), calls([("pay", json!({}))]), &["pay"]);
    let options = user.into_iter().fold(CallOptions::new(), CallOptions::user);
    bot.agent.call_with(options, "Pay").await.unwrap();
    (bot.ran(0).len(), bot.read()[0].clone())
}

fn clerk() -> User {
    User::new("ada").with_role("clerk").with_attribute("region", "eu")
}

#[tokio::test]
async fn a_rule_for_roles_is_about_users_who_have_one() {
    let rule = || ToolRule::new("clerks", Then::Deny).roles(["clerk", "guest"]);
    assert_eq!(ran(rule(), Some(clerk())).await.0, 0);
    assert_eq!(ran(rule(), Some("bob".into())).await.0, 1);
    assert_eq!(ran(rule(), None).await.0, 1);
}

#[tokio::test]
async fn a_rule_for_all_but_some_roles_is_about_calls_without_a_user_too() {
    let rule = || ToolRule::new("others", Then::Deny).not_roles(["clerk"]);
    assert_eq!(ran(rule(), Some(clerk())).await.0, 1);
    assert_eq!(ran(rule(), Some("bob".into())).await.0, 0);
    assert_eq!(ran(rule(), None).await.0, 0);
}

#[tokio::test]
async fn conditions_read_the_user() {
    let when = "user.id != '' && !('clerk' in user.roles && user.attributes.region == 'eu')";
    let rule = || ToolRule::new("region", Then::Deny).when(when);
    assert_eq!(ran(rule(), Some(clerk())).await.0, 1);
    assert_eq!(ran(rule(), Some(User::new("bob").with_role("clerk"))).await.0, 0);
    assert_eq!(ran(rule(), None).await.0, 1);
}

#[tokio::test]
async fn roles_that_are_not_known_decide_nothing() {
    let unknown = || Some(User::unverified("ada"));
    let expected = "the rule \"r\" cannot be decided: the roles of the user are not known";
    for rule in [
        ToolRule::new("r", Then::Deny).roles(["clerk"]),
        ToolRule::new("r", Then::Deny).not_roles(["clerk"]),
        ToolRule::new("r", Then::Deny).when("'clerk' in user.roles"),
    ] {
        assert_eq!(ran(rule, unknown()).await, (0, expected.to_owned()));
    }
}
