//! Resolves `Self::Item` in an impl of a trait: the args struct and the bodies stand outside of the
//! impl, where it would mean nothing.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Path, PathArguments, Token, Type, TypePath};

use crate::hookable::parse::{Given, Method};
use crate::support::spans::respanned;
use crate::support::types::ungrouped;
use crate::support::words::Words;

/// What an impl gives its trait.
pub(crate) struct Associated<'a> {
    pub(crate) base: &'a Path,
    pub(crate) self_ty: &'a Type,
    pub(crate) given: Vec<&'a Given>,
}

/// Where a name stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Beside the impl: what the impl says means the same here.
    Signature,
    /// Inside of a function, where other items may have the same names. Constants and functions are found as
    /// in the impl, since the trait is in scope.
    Body,
}

impl Associated<'_> {
    // Input:  `fn handle(&self, job: Self::Job) -> usize { size_of::<Self::Job>() + Self::LIMIT }`
    // Output: `fn handle(&self, job: Letter) -> usize { size_of::<<Worker as Handler>::Job>() + Self::LIMIT }`
    /// The method without these names.
    pub(crate) fn resolved(&self, method: &Method) -> Method {
        let mut method = method.clone();
        // What was a signature is one.
        if let Ok(sig) = syn::parse2(self.resolve(method.sig.to_token_stream(), Place::Signature)) {
            method.sig = sig;
        }
        if let Some(body) = &mut method.body {
            *body = self.group(body, Place::Body);
        }
        method
    }

    fn group(&self, group: &Group, place: Place) -> Group {
        let mut resolved = Group::new(group.delimiter(), self.resolve(group.stream(), place));
        resolved.set_span(group.span());
        resolved
    }

    fn resolve(&self, tokens: TokenStream, place: Place) -> TokenStream {
        let tokens: Vec<_> = tokens.into_iter().collect();
        let mut resolved = TokenStream::new();
        let mut rest = &*tokens;
        // In an impl or a trait inside of a body, `Self` is another type.
        let mut is_other = false;
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
                    if let Some(meant) = self.meant(name, then, place).filter(|_| !is_other) {
                        resolved.extend(respanned(meant, name.span()));
                        rest = then;
                        continue;
                    }
                }
                (TokenTree::Ident(word), _) if word == "impl" || word == "trait" => {
                    is_other = place == Place::Body;
                }
                (TokenTree::Group(group), _) if !is_other => {
                    self.group(group, place).to_tokens(&mut resolved);
                    continue;
                }
                (TokenTree::Group(group), _) if group.delimiter() == Delimiter::Brace => {
                    is_other = false;
                }
                _ => {}
            }
            first.to_tokens(&mut resolved);
        }
        resolved
    }

    /// What is meant by `Self::name`, if the impl gives it.
    fn meant(&self, name: &Ident, then: &[TokenTree], place: Place) -> Option<TokenStream> {
        let Self { base, self_ty, given } = self;
        let mut named = given.iter().filter(|given| given.name == *name);
        let given = named.next()?;
        let projection = quote!(<#self_ty as #base>::#name);
        // Under conditions there may be more than one.
        let ty = given.ty.as_ref().map(ungrouped);
        let ty = ty.filter(|ty| named.next().is_none() && !is_bare(ty));
        match (place, ty) {
            // Made of another of the types; no type is made of itself.
            (Place::Signature, Some(ty)) if Words::of(ty).find("Self").is_some() => {
                let others = given_but(&self.given, given);
                let inner = Associated { given: others, ..*self };
                Some(inner.resolve(ty.to_token_stream(), place))
            }
            (Place::Signature, Some(Type::Path(path))) if path.qself.is_none() => {
                Some(with_turbofish(path).to_token_stream())
            }
            (Place::Signature, Some(ty)) => Some(ty.to_token_stream()),
            (Place::Body, _) if given.is_constant => None,
            // The name of a variant, if it is anything.
            (Place::Body, _) if starts_with(then, Delimiter::Parenthesis) => None,
            // No projection can be the name of what is made.
            (Place::Body, Some(Type::Path(path))) if path.qself.is_none() && is_made(then) => {
                let path = with_turbofish(path).to_token_stream();
                Some(self.resolve(path, Place::Signature))
            }
            _ => Some(projection),
        }
    }
}

/// Whether a type cannot stand everywhere without parentheses.
fn is_bare(ty: &Type) -> bool {
    matches!(ty, Type::TraitObject(_) | Type::ImplTrait(_))
}

fn given_but<'a>(given: &[&'a Given], but: &Given) -> Vec<&'a Given> {
    given.iter().copied().filter(|given| !std::ptr::eq(*given, but)).collect()
}

// Input:  `Vec<u8>`
// Output: `Vec::<u8>`
/// A path that is a type and the start of a value or a pattern too: `Self::Job { .. }`.
fn with_turbofish(path: &TypePath) -> TypePath {
    let mut path = path.clone();
    for segment in &mut path.path.segments {
        if let PathArguments::AngleBracketed(arguments) = &mut segment.arguments {
            arguments.colon2_token = Some(<Token![::]>::default());
        }
    }
    path
}

/// Whether a path goes on to the braces of a struct: ` { .. }`, `::Variant { .. }`.
fn is_made(tokens: &[TokenTree]) -> bool {
    match tokens {
        [TokenTree::Punct(one), TokenTree::Punct(two), TokenTree::Ident(_), then @ ..]
            if one.as_char() == ':' && two.as_char() == ':' =>
        {
            is_made(then)
        }
        then => starts_with(then, Delimiter::Brace),
    }
}

fn starts_with(tokens: &[TokenTree], delimiter: Delimiter) -> bool {
    matches!(tokens, [TokenTree::Group(group), ..] if group.delimiter() == delimiter)
}
