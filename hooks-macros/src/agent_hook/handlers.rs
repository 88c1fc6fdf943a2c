//! Methods that take an event.

use proc_macro2::{Ident, Span};
use quote::format_ident;
use syn::spanned::Spanned;
use syn::{
    Attribute, FnArg, GenericArgument, ImplItem, ImplItemFn, ItemImpl, Pat, PathArguments,
    ReturnType, Type,
};

use crate::agent_hook::around::takes_call;
use crate::agent_hook::signature::{
    cfgs_of, refuse_generics, takes_shared_self, type_arguments, type_name,
};
use crate::support::errors::{Errors, near};
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

/// The type of any event.
const ANY: &str = "HookEvent";

/// A method that takes an event.
pub(super) struct Handler {
    pub(super) name: Ident,
    pub(super) event: Handled,
    pub(super) is_async: bool,
    /// Where its answer is written.
    pub(super) answer: Span,
    /// Whether its answer may be a flow other than to go on.
    pub(super) decides: bool,
    pub(super) cfgs: Vec<Attribute>,
}

/// The events that a method takes.
#[derive(PartialEq, Eq)]
pub(super) enum Handled {
    /// The event of this variant.
    One(Ident),
    /// The events that no other method takes.
    Rest,
}

/// Returns the events that no method takes by their own type.
pub(super) fn rest_of(handlers: &[Handler]) -> Vec<Ident> {
    let variants = EVENTS.map(|(_, variant)| format_ident!("{variant}"));
    let is_free = |variant: &Ident| {
        !handlers.iter().any(|it| matches!(&it.event, Handled::One(taken) if taken == variant))
    };
    variants.into_iter().filter(is_free).collect()
}

pub(super) fn handlers(block: &ItemImpl, errors: &mut Errors) -> Vec<Handler> {
    let mut handlers: Vec<Handler> = Vec::new();
    for item in &block.items {
        let ImplItem::Fn(method) = item else { continue };
        let Some((name, event)) = event_of(method) else {
            refuse_unknown(method, errors);
            continue;
        };
        check(method, name, errors);
        // Of two under conditions, one may be there at a time; the compiler sees if both are.
        let cfgs = cfgs_of(method);
        let is_taken =
            |known: &Handler| known.event == event && cfgs.is_empty() && known.cfgs.is_empty();
        if handlers.iter().any(is_taken) {
            let message = format!("two methods take `{name}`, make one of them");
            errors.at(&method.sig.ident, message);
        }
        handlers.push(Handler {
            name: method.sig.ident.clone(),
            event,
            is_async: method.sig.asyncness.is_some(),
            answer: method.sig.output.span(),
            decides: decides(&method.sig.output),
            cfgs,
        });
    }
    handlers
}

// Input:  `async fn deny(&self, event: &mut PreActing<'_>)`
// Output: `("PreActing", One(PreActing))`; nothing for a method without an event
fn event_of(method: &ImplItemFn) -> Option<(&'static str, Handled)> {
    method.sig.inputs.iter().find_map(|input| {
        let name = type_name(input)?;
        if name == ANY {
            return Some((ANY, Handled::Rest));
        }
        let (event, variant) = EVENTS.into_iter().find(|(event, _)| name == event)?;
        Some((event, Handled::One(format_ident!("{variant}"))))
    })
}

// Input:  `-> HookResult`
// Output: false; true for `-> Flow` and for what is not known
fn decides(output: &ReturnType) -> bool {
    let ReturnType::Type(_, ty) = output else { return false };
    let is_unit = |ty: &Type| matches!(ungrouped(ty), Type::Tuple(tuple) if tuple.elems.is_empty());
    let Type::Path(path) = ungrouped(ty) else { return !is_unit(ty) };
    let Some(last) = path.path.segments.last() else { return true };
    match &last.arguments {
        PathArguments::None => last.ident != "HookResult",
        PathArguments::AngleBracketed(given) => !matches!(
            given.args.first(),
            Some(GenericArgument::Type(ty)) if is_unit(ty)
        ),
        PathArguments::Parenthesized(_) => true,
    }
}

/// Refuses what looks like a handler and would never run: its event has another name here.
fn refuse_unknown(method: &ImplItemFn, errors: &mut Errors) {
    let params: Vec<_> = method.sig.inputs.iter().skip(1).collect();
    if !takes_shared_self(method) || takes_call(method) {
        return;
    }
    let is_event = |input: &FnArg| {
        let FnArg::Typed(param) = input else { return false };
        is_mut(&param.ty) || is_ref(&param.ty) && borrows_a_call(input)
    };
    let is_call = |input: &FnArg| matches!(input, FnArg::Typed(param) if is_path(&param.ty));
    let (input, expected) = match params[..] {
        [event] if is_event(event) => (
            event,
            "no event, so the method would never run: write an event by its own name, such as \
                     `&mut PreActing<'_>`, and not by that of an import `as`",
        ),
        [call, next]
            if [call, next].into_iter().all(|input| is_call(input) && borrows_a_call(input)) =>
        {
            (
                call,
                "no call that a hook runs around, so the method would never run: write a call by its own \
                    name, such as `ModelCall<'_>`, and not by that of an import `as`",
            )
        }
        _ => return,
    };
    if let (Some(name), FnArg::Typed(param)) = (type_name(input), input) {
        let message = match near(&name.to_string(), EVENTS.map(|(event, _)| event)) {
            Some(event) if is_event(input) => format!("no event, did you mean `{event}`?"),
            _ => format!(
                "{expected}; a method for other uses goes in an impl block without the attribute"
            ),
        };
        errors.at(&param.ty, format!("`{name}` is {message}"));
    }
}

fn is_mut(ty: &Type) -> bool {
    matches!(ungrouped(ty), Type::Reference(reference) if reference.mutability.is_some())
}

fn is_ref(ty: &Type) -> bool {
    matches!(ungrouped(ty), Type::Reference(_))
}

fn is_path(ty: &Type) -> bool {
    matches!(ungrouped(ty), Type::Path(_))
}

// Input:  `event: &mut Acting<'_>`
// Output: true; false for a type without exactly one lifetime
fn borrows_a_call(input: &FnArg) -> bool {
    let Some(PathArguments::AngleBracketed(given)) = type_arguments(input) else { return false };
    given.args.len() == 1 && matches!(given.args.first(), Some(GenericArgument::Lifetime(_)))
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
