//! The generics of an args struct: those of its block that it needs.

use proc_macro2::Ident;
use quote::ToTokens;
use syn::{GenericParam, Generics, Type, TypeParamBound};

use crate::support::words::Words;

/// The generics that the types of the arguments mention. They need no bounds, unless a type is one
/// of another, as `T::Item` is; then all bounds come along, and what they mention.
pub(crate) fn mentioned<'a>(
    generics: &Generics,
    types: impl IntoIterator<Item = &'a Type>,
) -> Generics {
    let mut words = Words::default();
    for ty in types {
        words.add(ty);
    }
    if !words.has_projection {
        let kept = generics.params.iter().filter(|param| words.contains(name_of(param)));
        return Generics { params: kept.cloned().map(unbounded).collect(), ..Generics::default() };
    }
    let all: Vec<_> = generics.params.iter().collect();
    let mut kept: Vec<&GenericParam> = Vec::new();
    while let Some(param) = all.iter().find(|param| {
        !kept.iter().any(|known| name_of(known) == name_of(param)) && words.contains(name_of(param))
    }) {
        words.add(param);
        kept.push(param);
    }
    let is_kept = |param: &&GenericParam| kept.iter().any(|it| name_of(it) == name_of(param));
    let params = all.into_iter().filter(is_kept).cloned().collect();
    let mut mentioned = Generics { params, ..Generics::default() };
    if let Some(clause) = generics.where_clause.as_ref().filter(|_| !kept.is_empty()) {
        let others = generics.params.iter().map(name_of);
        let others: Vec<_> =
            others.filter(|name| !kept.iter().any(|it| name_of(it) == *name)).collect();
        for predicate in &clause.predicates {
            let mut words = Words::default();
            words.add(predicate);
            if !others.iter().any(|other| words.contains(other)) && words.find("Self").is_none() {
                mentioned.make_where_clause().predicates.push(predicate.clone());
            }
        }
    }
    mentioned
}

/// The parameter without its bounds; that it may be unsized is none.
fn unbounded(mut param: GenericParam) -> GenericParam {
    if let GenericParam::Type(param) = &mut param {
        let may_be_unsized = |bound: &TypeParamBound| {
            bound.to_token_stream().into_iter().next().is_some_and(|it| it.to_string() == "?")
        };
        param.bounds = param.bounds.iter().filter(|bound| may_be_unsized(bound)).cloned().collect();
        param.default = None;
    }
    param
}

/// The name of a parameter.
pub(crate) fn name_of(param: &GenericParam) -> &Ident {
    match param {
        GenericParam::Lifetime(param) => &param.lifetime.ident,
        GenericParam::Type(param) => &param.ident,
        GenericParam::Const(param) => &param.ident,
    }
}
