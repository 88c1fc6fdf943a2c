//! Reads and checks the signatures of event handlers and of handlers around calls.

use proc_macro2::Ident;
use syn::{
    Attribute, FnArg, GenericParam, ImplItemFn, PathArguments, PathSegment, ReceiverKind, Type,
};

use crate::support::errors::Errors;
use crate::support::types::ungrouped;

// Input:  `call: ModelCall<'_>` or `event: &mut PreCall<'_>`
// Output: `ModelCall` or `PreCall`
pub(super) fn type_name(input: &FnArg) -> Option<&Ident> {
    type_segment(input).map(|segment| &segment.ident)
}

// Input:  `event: &mut PreCall<'_>`
// Output: `<'_>`
pub(super) fn type_arguments(input: &FnArg) -> Option<&PathArguments> {
    type_segment(input).map(|segment| &segment.arguments)
}

fn type_segment(input: &FnArg) -> Option<&PathSegment> {
    let FnArg::Typed(param) = input else { return None };
    let Type::Path(path) = referent(&param.ty) else { return None };
    path.path.segments.last()
}

pub(super) fn takes_shared_self(method: &ImplItemFn) -> bool {
    let receiver = method.sig.receiver();
    receiver.is_some_and(|receiver| matches!(receiver.kind, ReceiverKind::Reference(_, _, None)))
}

pub(super) fn cfgs_of(method: &ImplItemFn) -> Vec<Attribute> {
    method.attrs.iter().filter(|attr| attr.path().is_ident("cfg")).cloned().collect()
}

pub(super) fn refuse_generics(method: &ImplItemFn, errors: &mut Errors) {
    let mut params = method.sig.generics.params.iter();
    if let Some(param) = params.find(|param| !matches!(param, GenericParam::Lifetime(_))) {
        errors.at(param, "a handler cannot be generic");
    }
}

/// What a reference refers to; any other type as it is.
fn referent(ty: &Type) -> &Type {
    match ungrouped(ty) {
        Type::Reference(reference) => ungrouped(&reference.elem),
        other => other,
    }
}
