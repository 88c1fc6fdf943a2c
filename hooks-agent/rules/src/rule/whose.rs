//! The calls that a rule or a quota is about, by their agents and users.

use hooks_agent_core::call::User;
use hooks_agent_core::options::Globs;

use crate::expression::Fault;
use crate::rule::error::Mistakes;
use crate::rule::names::{check_globs, check_name};

/// The agents and roles that a rule or a quota names; what is `None` means all.
#[derive(Clone, Debug, Default)]
pub(crate) struct Named {
    pub(crate) agents: Option<Vec<String>>,
    pub(crate) acting: Option<Vec<String>>,
    pub(crate) roles: Option<Vec<String>>,
    pub(crate) not_roles: Option<Vec<String>>,
}

/// The agents and users that a rule or a quota is about.
#[derive(Debug, Default)]
pub(crate) struct Whose {
    agents: Option<Globs>,
    acting: Option<Globs>,
    roles: Vec<String>,
    not_roles: Vec<String>,
    pub(crate) has_roles: bool,
}

impl Whose {
    /// Checks names, whose place is `at`.
    pub(crate) fn new(named: Named, at: &impl Fn(&str) -> String, mistakes: &mut Mistakes) -> Self {
        for (key, roles) in [("roles", &named.roles), ("not_roles", &named.not_roles)] {
            for (index, role) in roles.iter().flatten().enumerate() {
                mistakes.take(&at(&format!("users.{key}[{index}]")), check_name(role));
            }
        }
        // A list that was emptied is not one that was never written.
        let lists = [
            ("agents", &named.agents),
            ("acting", &named.acting),
            ("users.roles", &named.roles),
            ("users.not_roles", &named.not_roles),
        ];
        for (key, list) in lists {
            check_list(&at(key), list.as_ref(), mistakes);
        }
        let [agents, acting] =
            [("agents", named.agents), ("acting", named.acting)].map(|(key, texts)| {
                let globs = check_globs(&texts?);
                globs.map_err(|(index, why)| mistakes.add(at(&format!("{key}[{index}]")), why)).ok()
            });
        let has_roles = named.roles.is_some() || named.not_roles.is_some();
        let (roles, not_roles) =
            (named.roles.unwrap_or_default(), named.not_roles.unwrap_or_default());
        Self { agents, acting, roles, not_roles, has_roles }
    }

    /// Returns whether calls of the last one of these agents are meant, which run from the outermost one to it.
    pub(crate) fn is_in(&self, agents: &[&str]) -> bool {
        let is_in = |globs: &Option<Globs>, names: &[&str]| {
            globs.as_ref().is_none_or(|globs| {
                let is_left_out = names.iter().any(|name| globs.leaves_out(name));
                !is_left_out && names.iter().any(|name| globs.is_match(name))
            })
        };
        is_in(&self.agents, agents) && is_in(&self.acting, &agents[agents.len() - 1..])
    }

    /// Returns whether calls for a user are meant.
    pub(crate) fn is_for(&self, user: Option<&User>) -> Result<bool, Fault> {
        if self.roles.is_empty() && self.not_roles.is_empty() {
            return Ok(true);
        }
        if user.is_some_and(|user| !user.is_known()) {
            return Err(Fault::new("the roles of the user are not known"));
        }
        let has_one =
            |roles: &[String]| roles.iter().any(|role| user.is_some_and(|it| it.has_role(role)));
        Ok((self.roles.is_empty() || has_one(&self.roles)) && !has_one(&self.not_roles))
    }
}

/// Refuses a list of nothing.
pub(crate) fn check_list(place: &str, list: Option<&Vec<String>>, mistakes: &mut Mistakes) {
    if list.is_some_and(Vec::is_empty) {
        mistakes.add(place.to_owned(), "expected at least one; leave it out for all");
    }
}
