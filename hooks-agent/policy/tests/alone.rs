//! Policies in a program that names no crate with built-in hooks: the linker collects nothing for it.
#![cfg(feature = "policy")]

use hooks_agent_policy::policy::{Policy, PolicyFile};

#[test]
fn a_hook_that_is_not_linked_is_refused_with_where_it_is() {
    let file = PolicyFile::text("policy.toml", "version = 1\n[[hook]]\nuse = \"budget\"\n");
    let errors = Policy::builder().project(file).open().unwrap_err();
    assert_eq!(
        errors.list()[0].message(),
        "the program has no hooks for files, so none is called `budget`; the built-in ones are in \
         `hooks-agent`: depend on it, and name it in the program"
    );
}
