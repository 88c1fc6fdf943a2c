//! Methods that run around calls.

use proc_macro2::{Ident, Span};
use syn::spanned::Spanned;
use syn::{Attribute, FnArg, ImplItem, ImplItemFn, ItemImpl, Type};

use crate::agent_hook::signature::{cfgs_of, refuse_generics, takes_shared_self, type_name};
use crate::support::errors::Errors;
use crate::support::types::ungrouped;

/// The calls that a hook may run around: the type of the call and of its rest, the constant of the
/// mask, the method of `AgentHook`, and what that returns.
const AROUND: [Around; 6] = [
    Around {
        call: "ModelCall",
        next: "NextModel",
        mask: "MODEL_CALL",
        method: "around_model_call",
        output: ("model", "ModelAnswer"),
        error: ("error", "AgentError"),
    },
    Around {
        call: "ToolCall",
        next: "NextTool",
        mask: "TOOL_CALL",
        method: "around_tool_call",
        output: ("message", "ToolResult"),
        error: ("tool", "ToolError"),
    },
    Around {
        call: "PermissionCheck",
        next: "NextPermission",
        mask: "PERMISSION_CHECK",
        method: "around_permission_check",
        output: ("tool", "Permission"),
        error: ("error", "AgentError"),
    },
    Around {
        call: "Compression",
        next: "NextCompression",
        mask: "COMPRESSION",
        method: "around_compression",
        output: ("message", "Messages"),
        error: ("error", "AgentError"),
    },
    Around {
        call: "AgentCall",
        next: "NextCall",
        mask: "CALL",
        method: "around_call",
        output: ("message", "Msg"),
        error: ("error", "AgentError"),
    },
    Around {
        call: "ModelAttempt",
        next: "NextAttempt",
        mask: "MODEL_ATTEMPT",
        method: "around_model_attempt",
        output: ("model", "ModelAnswer"),
        error: ("error", "AgentError"),
    },
];

pub(super) struct Around {
    pub(super) call: &'static str,
    pub(super) next: &'static str,
    pub(super) mask: &'static str,
    pub(super) method: &'static str,
    pub(super) output: (&'static str, &'static str),
    pub(super) error: (&'static str, &'static str),
}

/// A method that runs around calls.
pub(super) struct AroundHandler {
    pub(super) name: Ident,
    pub(super) around: &'static Around,
    /// Where its output is written.
    pub(super) output: Span,
    pub(super) cfgs: Vec<Attribute>,
}

pub(super) fn around_handlers(block: &ItemImpl, errors: &mut Errors) -> Vec<AroundHandler> {
    let mut handlers: Vec<AroundHandler> = Vec::new();
    for item in &block.items {
        let ImplItem::Fn(method) = item else { continue };
        let Some(around) = around_of(method) else { continue };
        check_around(method, around, errors);
        let cfgs = cfgs_of(method);
        let is_taken = |known: &AroundHandler| {
            known.around.call == around.call && cfgs.is_empty() && known.cfgs.is_empty()
        };
        if handlers.iter().any(is_taken) {
            let message = format!("two methods take `{}`, make one of them", around.call);
            errors.at(&method.sig.ident, message);
        }
        let (name, output) = (method.sig.ident.clone(), method.sig.output.span());
        handlers.push(AroundHandler { name, around, output, cfgs });
    }
    handlers
}

/// Returns whether the method is meant to run around a call.
pub(super) fn takes_call(method: &ImplItemFn) -> bool {
    around_of(method).is_some()
}

fn around_of(method: &ImplItemFn) -> Option<&'static Around> {
    let takes = |around: &&Around| {
        let mut inputs = method.sig.inputs.iter();
        inputs.any(|input| type_name(input).is_some_and(|name| name == around.call))
    };
    AROUND.iter().find(takes)
}

fn check_around(method: &ImplItemFn, around: &Around, errors: &mut Errors) {
    let Around { call, next, .. } = around;
    let signature = &method.sig;
    let form = format!("write `async fn name(&self, call: {call}<'_>, next: {next}<'_>)`");
    let types: Vec<_> = signature.inputs.iter().skip(1).map(type_name).collect();
    let are_values = signature.inputs.iter().skip(1).all(
        |input| matches!(input, FnArg::Typed(param) if matches!(ungrouped(&param.ty), Type::Path(_))),
    );
    let fits = matches!(&types[..], [Some(first), Some(second)] if first == call && second == next);
    if !takes_shared_self(method) || !fits || !are_values {
        errors.at(
            &signature.inputs,
            format!("a handler around a call takes the call and its rest: {form}"),
        );
    } else if signature.asyncness.is_none() {
        errors.at(signature.fn_token, format!("a handler around a call waits for it: {form}"));
    }
    refuse_generics(method, errors);
}
