//! Parameters: what the model fills in, and the context.

use proc_macro2::{Ident, Span};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{
    Attribute, FnArg, GenericParam, Generics, Pat, PatType, Signature, Type, TypeReference,
    parse_quote_spanned,
};

use crate::support::borrows::{Borrow, FindBorrow};
use crate::support::errors::Errors;
use crate::support::types::{argument_of_std, ungrouped};
use crate::support::words::Words;

/// A parameter of a tool.
pub(crate) struct Param {
    pub(crate) cfgs: Vec<Attribute>,
    pub(crate) kind: Kind,
}

/// Where the value of a parameter comes from.
pub(crate) enum Kind {
    /// The context of the tool call.
    Context { is_borrowed: bool },
    /// The arguments of the tool call.
    Argument(Box<Argument>),
}

/// A property of the schema.
pub(crate) struct Argument {
    /// `#[doc]`, `#[serde]` and `#[schemars]`.
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) name: Ident,
    /// Its type, owned.
    pub(crate) ty: Type,
    pub(crate) passing: Passing,
}

/// How the function is given what the tool owns.
pub(crate) enum Passing {
    Owned,
    Borrowed,
    /// As an option of a borrow.
    Optional,
}

/// The parameters of a function in an impl block with these generics.
pub(crate) fn params(sig: &Signature, block: &Generics, errors: &mut Errors) -> Vec<Param> {
    let mut params: Vec<Param> = Vec::new();
    for input in &sig.inputs {
        let FnArg::Typed(input) = input else { continue };
        let kind = kind_of(input, block, errors);
        let is_context = |kind: &Kind| matches!(kind, Kind::Context { .. });
        if is_context(&kind) && params.iter().any(|known| is_context(&known.kind)) {
            errors.at(&input.ty, "a tool has one context, remove one of the two parameters");
        }
        let cfgs = input.attrs.iter().filter(|attr| attr.path().is_ident("cfg"));
        params.push(Param { cfgs: cfgs.cloned().collect(), kind });
    }
    params
}

/// Takes from the parameters what is written for the schema, which a function cannot have.
pub(crate) fn strip(sig: &mut Signature) {
    for input in &mut sig.inputs {
        if let FnArg::Typed(param) = input {
            param.attrs.retain(|attr| !is_of_schema(attr));
        }
    }
}

fn is_of_schema(attr: &Attribute) -> bool {
    ["doc", "serde", "schemars"].iter().any(|name| attr.path().is_ident(name))
}

fn kind_of(param: &PatType, block: &Generics, errors: &mut Errors) -> Kind {
    let ty = ungrouped(&param.ty);
    if is_context(ty) {
        return Kind::Context { is_borrowed: false };
    }
    if let Type::Reference(reference) = ty
        && is_context(ungrouped(&reference.elem))
    {
        if let Some(token) = reference.mutability {
            errors.at(token, "a tool call has a shared context: write `&ToolContext`");
        }
        return Kind::Context { is_borrowed: true };
    }
    let name = name_of(param, errors);
    let (ty, passing) = own(ty, errors);
    check_names(&ty, block, errors);
    let attrs = param.attrs.iter().filter(|attr| is_of_schema(attr)).cloned().collect();
    Kind::Argument(Box::new(Argument { attrs, name, ty, passing }))
}

fn is_context(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "ToolContext"))
}

fn name_of(param: &PatType, errors: &mut Errors) -> Ident {
    match &*param.pat {
        Pat::Ident(pattern) if pattern.subpat.is_none() => pattern.ident.clone(),
        pattern => {
            let message = "a parameter is a property of the schema, with its name: give it one";
            errors.at(pattern, message);
            Ident::new("unnamed", Span::call_site())
        }
    }
}

// Input:  `&str`, `Option<&[T]>`, `u8`
// Output: `String`, `Option<Vec<T>>`, `u8`
fn own(ty: &Type, errors: &mut Errors) -> (Type, Passing) {
    if let Type::Reference(reference) = ty {
        let owned = referent(reference, errors).unwrap_or_else(|| ty.clone());
        return (owned, Passing::Borrowed);
    }
    if let Some(Type::Reference(reference)) = argument_of_std(ty, "Option", "option") {
        let owned = referent(reference, errors);
        let option =
            owned.map(|owned| parse_quote_spanned!(ty.span()=> ::std::option::Option<#owned>));
        return (option.unwrap_or_else(|| ty.clone()), Passing::Optional);
    }
    match FindBorrow::in_type(ty) {
        Some(Borrow::Lifetime(tokens)) => refuse_borrow(tokens, errors),
        Some(Borrow::ImplTrait(tokens)) => {
            let message = "the arguments are read from JSON, for which the type must be known: \
                           name it";
            errors.at(tokens, message);
        }
        None => {}
    }
    (ty.clone(), Passing::Owned)
}

/// The owned form of `str` and of slices; of others an error.
fn referent(reference: &TypeReference, errors: &mut Errors) -> Option<Type> {
    if let Some(token) = reference.mutability {
        errors.at(token, "the arguments are read from JSON: take the value without `&mut`");
        return None;
    }
    if let Some(lifetime) = reference.lifetime.as_ref().filter(|name| name.ident == "static") {
        errors.at(lifetime, "the arguments last as long as the tool call: leave `'static` out");
        return None;
    }
    let elem = ungrouped(&reference.elem);
    match elem {
        Type::Path(path) if path.path.is_ident("str") => {
            Some(parse_quote_spanned!(elem.span()=> ::std::string::String))
        }
        Type::Slice(slice) if FindBorrow::in_type(&slice.elem).is_none() => {
            let item = &slice.elem;
            Some(parse_quote_spanned!(elem.span()=> ::std::vec::Vec<#item>))
        }
        _ => {
            refuse_borrow(reference.and_token, errors);
            None
        }
    }
}

fn refuse_borrow(tokens: impl ToTokens, errors: &mut Errors) {
    let message = "the arguments are read from JSON, and lent to the function as `&str`, `&[T]` or \
                   an option of these: take an owned type";
    errors.at(tokens, message);
}

/// Refuses names that only the impl block knows: the type of the arguments stands for itself.
fn check_names(ty: &Type, block: &Generics, errors: &mut Errors) {
    let words = Words::of(ty);
    if let Some(token) = words.find("Self") {
        errors.at(token, "the schema does not know `Self`: name the type");
    }
    for param in &block.params {
        let (GenericParam::Type(syn::TypeParam { ident, .. })
        | GenericParam::Const(syn::ConstParam { ident, .. })) = param
        else {
            continue;
        };
        if let Some(token) = words.find(&ident.to_string()) {
            let message = format!("the schema does not know `{ident}` of the block: name a type");
            errors.at(token, message);
        }
    }
}
