//! The macros of `hooks-core`, which re-exports and documents them.
//!
//! `hookable` is the largest: its room says how tokens go through it. The others are a file each. Errors
//! are gathered; the user's item survives them.

#![expect(missing_docs, reason = "the crates that re-export the macros document them")]

mod agent_hook;
mod class_hook;
mod derive;
mod hook_closure;
mod hookable;
#[cfg(test)]
mod manifests;
mod on;
#[cfg(test)]
mod snapshots;
mod support;
mod tool;

use proc_macro::TokenStream;

// Makes hook points of the methods of an impl block or a trait.
#[proc_macro_attribute]
pub fn hookable(attr: TokenStream, item: TokenStream) -> TokenStream {
    hookable::attribute::expand(attr.into(), &item.into()).into()
}

// Registers a function as a class hook when the program is linked.
#[proc_macro_attribute]
pub fn class_hook(attr: TokenStream, item: TokenStream) -> TokenStream {
    class_hook::expand(attr.into(), &item.into()).into()
}

// Implements `Hookable` by the field of type `Hooks`.
#[proc_macro_derive(Hookable, attributes(hooks))]
pub fn derive_hookable(item: TokenStream) -> TokenStream {
    derive::expand(item.into()).into()
}

// Makes a hook of a closure.
#[proc_macro]
pub fn hook(input: TokenStream) -> TokenStream {
    hook_closure::expand(input.into()).into()
}

// Makes an event hook of a closure; the first argument is the path of `hooks-agent`.
#[proc_macro]
pub fn on(input: TokenStream) -> TokenStream {
    on::expand(input.into()).into()
}

// Makes an event hook of methods that take one event each.
#[proc_macro_attribute]
pub fn agent_hook(attr: TokenStream, item: TokenStream) -> TokenStream {
    agent_hook::attribute::expand(attr.into(), &item.into()).into()
}

// Makes a tool of a function, or tools of the methods of a type.
#[proc_macro_attribute]
pub fn tool(attr: TokenStream, item: TokenStream) -> TokenStream {
    tool::attribute::expand(attr.into(), &item.into()).into()
}
