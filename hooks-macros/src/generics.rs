//! The generics of an args struct: those of its block that it needs.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{GenericParam, Generics, Type};

/// The generics that the types of the arguments mention, with those that their bounds mention.
pub(crate) fn mentioned<'a>(
    generics: &Generics,
    types: impl IntoIterator<Item = &'a Type>,
) -> Generics {
    let mut words = Words::default();
    for ty in types {
        words.add(ty);
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
            if !others.iter().any(|other| words.contains(other)) && !words.has("Self") {
                mentioned.make_where_clause().predicates.push(predicate.clone());
            }
        }
    }
    mentioned
}

fn name_of(param: &GenericParam) -> &Ident {
    match param {
        GenericParam::Lifetime(param) => &param.lifetime.ident,
        GenericParam::Type(param) => &param.ident,
        GenericParam::Const(param) => &param.ident,
    }
}

/// The identifiers in some tokens.
#[derive(Default)]
struct Words(Vec<Ident>);

impl Words {
    fn add(&mut self, tokens: impl ToTokens) {
        self.collect(tokens.into_token_stream());
    }

    fn collect(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => self.0.push(ident),
                TokenTree::Group(group) => self.collect(group.stream()),
                _ => {}
            }
        }
    }

    fn contains(&self, ident: &Ident) -> bool {
        self.0.contains(ident)
    }

    fn has(&self, text: &str) -> bool {
        self.0.iter().any(|ident| ident == text)
    }
}
