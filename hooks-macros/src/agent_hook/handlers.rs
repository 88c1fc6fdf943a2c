//! Methods that take an event.

use proc_macro2::{Ident, Span};
use quote::format_ident;
use syn::spanned::Spanned;
use syn::{Attribute, FnArg, ImplItem, ImplItemFn, ItemImpl, Pat, Type};

use crate::agent_hook::signature::{cfgs_of, refuse_generics, takes_shared_self, type_name};
use crate::support::errors::Errors;
use crate::support::types::ungrouped;

/// The events, as types and as variants of `HookEvent`.
const EVENTS: [(&str, &str); 13] = [
    ("PreCall", "PreCall"),
    ("PostCall", "PostCall"),
    ("PreReasoning", "PreReasoning"),
    ("ReasoningChunk", "ReasoningChunk"),
    ("PostReasoning", "PostReasoning"),
    ("PreActing", "PreActing"),
    ("ActingChunk", "ActingChunk"),
    ("PostActing", "PostActing"),
    ("PreSummary", "PreSummary"),
    ("SummaryChunk", "SummaryChunk"),
    ("PostSummary", "PostSummary"),
    ("ErrorEvent", "Error"),
    ("Settled", "Settled"),
];

/// A method that takes an event.
pub(super) struct Handler {
    pub(super) name: Ident,
    pub(super) variant: Ident,
    pub(super) is_async: bool,
    /// Where its answer is written.
    pub(super) answer: Span,
    pub(super) cfgs: Vec<Attribute>,
}

pub(super) fn handlers(block: &ItemImpl, errors: &mut Errors) -> Vec<Handler> {
    let mut handlers: Vec<Handler> = Vec::new();
    for item in &block.items {
        let ImplItem::Fn(method) = item else { continue };
        let Some((event, variant)) = event_of(method) else { continue };
        check(method, event, errors);
        // Of two under conditions, one may be there at a time; the compiler sees if both are.
        let cfgs = cfgs_of(method);
        let is_taken =
            |known: &Handler| known.variant == variant && cfgs.is_empty() && known.cfgs.is_empty();
        if handlers.iter().any(is_taken) {
            let message = format!("two methods take `{event}`, make one of them");
            errors.at(&method.sig.ident, message);
        }
        handlers.push(Handler {
            name: method.sig.ident.clone(),
            variant: format_ident!("{variant}"),
            is_async: method.sig.asyncness.is_some(),
            answer: method.sig.output.span(),
            cfgs,
        });
    }
    handlers
}

// Input:  `async fn deny(&self, event: &mut PreActing<'_>)`
// Output: `("PreActing", "PreActing")`; nothing for a method without an event
fn event_of(method: &ImplItemFn) -> Option<(&'static str, &'static str)> {
    method.sig.inputs.iter().find_map(|input| {
        let name = type_name(input)?;
        EVENTS.into_iter().find(|(event, _)| name == event)
    })
}

fn check(method: &ImplItemFn, event: &str, errors: &mut Errors) {
    let signature = &method.sig;
    let form = format!("write `&self, event: &mut {event}<'_>`");
    if !takes_shared_self(method) {
        errors.at(&signature.inputs, format!("a handler is called on the shared hook: {form}"));
    } else if signature.inputs.len() != 2 {
        errors.at(&signature.inputs, format!("a handler takes one event: {form}"));
    } else if let Some(FnArg::Typed(param)) = signature.inputs.last() {
        if !matches!(ungrouped(&param.ty), Type::Reference(_)) {
            errors.at(&param.ty, format!("a handler sees the event by reference: {form}"));
        } else if !matches!(*param.pat, Pat::Ident(_) | Pat::Wild(_)) {
            errors.at(&param.pat, "an event has no pattern, give it a name");
        }
    }
    refuse_generics(method, errors);
}
