//! The identifiers in tokens.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;

/// The identifiers in some tokens.
#[derive(Default)]
pub(crate) struct Words {
    idents: Vec<Ident>,
    /// Whether there is a `::`, as in `T::Item`.
    pub(crate) has_projection: bool,
}

impl Words {
    pub(crate) fn of(tokens: impl ToTokens) -> Self {
        let mut words = Self::default();
        words.add(tokens);
        words
    }

    pub(crate) fn add(&mut self, tokens: impl ToTokens) {
        self.collect(tokens.into_token_stream());
    }

    fn collect(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => self.idents.push(ident),
                TokenTree::Group(group) => self.collect(group.stream()),
                TokenTree::Punct(punct) => {
                    self.has_projection |= punct.as_char() == ':';
                }
                TokenTree::Literal(_) => {}
            }
        }
    }

    pub(crate) fn contains(&self, ident: &Ident) -> bool {
        self.idents.contains(ident)
    }

    pub(crate) fn find(&self, text: &str) -> Option<&Ident> {
        self.idents.iter().find(|ident| *ident == text)
    }
}
