//! What `Self::Item` means in an impl of a trait: in the args struct and in a body, which stand outside of the
//! impl, it would mean nothing.

use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Path, PathArguments, Token, Type, TypePath};

use crate::hookable::parse::{Given, Method};
use crate::support::spans::respanned;

/// What an impl gives its trait.
pub(crate) struct Associated<'a> {
    pub(crate) base: &'a Path,
    pub(crate) self_ty: &'a Type,
    pub(crate) given: Vec<&'a Given>,
}

impl Associated<'_> {
    // Input:  `fn handle(&self, job: Self::Job) -> usize { Self::LIMIT }`
    // Output: `fn handle(&self, job: Letter) -> usize { <Worker as Handler>::LIMIT }`
    /// The method without these names.
    pub(crate) fn resolved(&self, method: &Method) -> Method {
        let mut method = method.clone();
        // What was a signature is one.
        if let Ok(sig) = syn::parse2(self.resolve(method.sig.to_token_stream())) {
            method.sig = sig;
        }
        if let Some(body) = &mut method.body {
            *body = self.group(body);
        }
        method
    }

    fn group(&self, group: &Group) -> Group {
        let mut resolved = Group::new(group.delimiter(), self.resolve(group.stream()));
        resolved.set_span(group.span());
        resolved
    }

    fn resolve(&self, tokens: TokenStream) -> TokenStream {
        let tokens: Vec<_> = tokens.into_iter().collect();
        let mut resolved = TokenStream::new();
        let mut rest = &*tokens;
        while let [first, behind @ ..] = rest {
            rest = behind;
            match (first, behind) {
                (
                    TokenTree::Ident(word),
                    [
                        TokenTree::Punct(one),
                        TokenTree::Punct(two),
                        TokenTree::Ident(name),
                        then @ ..,
                    ],
                ) if word == "Self" && one.as_char() == ':' && two.as_char() == ':' => {
                    if let Some(meant) = self.meant(name, is_path_separator(then)) {
                        resolved.extend(respanned(meant, name.span()));
                        rest = then;
                        continue;
                    }
                    first.to_tokens(&mut resolved);
                }
                (TokenTree::Group(group), _) => self.group(group).to_tokens(&mut resolved),
                _ => first.to_tokens(&mut resolved),
            }
        }
        resolved
    }

    /// What is meant by `Self::name`, if the impl gives it.
    fn meant(&self, name: &Ident, goes_on: bool) -> Option<TokenStream> {
        let Self { base, self_ty, given } = self;
        let given = given.iter().find(|given| given.name == *name)?;
        Some(match &given.ty {
            Some(Type::Path(path)) if path.qself.is_none() => {
                with_turbofish(path).to_token_stream()
            }
            Some(ty) if goes_on => quote!(<#ty>),
            Some(ty) => ty.to_token_stream(),
            None => quote!(<#self_ty as #base>::#name),
        })
    }
}

// Input:  `Vec<u8>`
// Output: `Vec::<u8>`
/// A path that is a type and the start of a value or a pattern too: `Self::Job { .. }`, `Self::Job::new()`.
fn with_turbofish(path: &TypePath) -> TypePath {
    let mut path = path.clone();
    for segment in &mut path.path.segments {
        if let PathArguments::AngleBracketed(arguments) = &mut segment.arguments {
            arguments.colon2_token = Some(<Token![::]>::default());
        }
    }
    path
}

fn is_path_separator(tokens: &[TokenTree]) -> bool {
    matches!(
        tokens,
        [TokenTree::Punct(one), TokenTree::Punct(two), ..]
            if one.as_char() == ':' && two.as_char() == ':'
    )
}
