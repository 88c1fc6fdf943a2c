//! A function or a method as a tool: name, description, parameters and output.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{
    Attribute, Expr, ExprLit, GenericParam, Generics, Lit, LitStr, Meta, ReturnType, Safety,
    Signature,
};

use crate::support::errors::Errors;
use crate::tool::options::{Ask, Options};
use crate::tool::params::{Param, params};

/// The longest name that providers accept.
const MAX_NAME: usize = 64;

/// A function or a method that is a tool.
pub(crate) struct Tool {
    pub(crate) ident: Ident,
    /// By which the model calls it.
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) params: Vec<Param>,
    pub(crate) run: Run,
    pub(crate) is_idempotent: bool,
    pub(crate) effect: Option<Ident>,
    pub(crate) ask: Option<Ask>,
    pub(crate) cfgs: Vec<Attribute>,
    /// Where its return type is written.
    pub(crate) output: Span,
}

/// How a function runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Run {
    Async,
    Sync,
    /// On a thread for blocking work.
    Blocking,
}

impl Tool {
    /// The meaning of a function in an impl block with these generics.
    pub(crate) fn new(
        attrs: &[Attribute],
        sig: &Signature,
        options: Options,
        block: &Generics,
        errors: &mut Errors,
    ) -> Self {
        check_signature(sig, errors);
        let run = match (sig.asyncness, options.blocking) {
            (Some(_), Some(place)) => {
                let message =
                    "an `async fn` does not block its thread: remove `async` or `blocking`";
                errors.add(syn::Error::new(place, message));
                Run::Async
            }
            (Some(_), None) => Run::Async,
            (None, Some(_)) => Run::Blocking,
            (None, None) => Run::Sync,
        };
        Self {
            ident: sig.ident.clone(),
            name: name_of(sig, options.name.as_ref(), errors),
            description: description_of(attrs, sig, options.description.as_ref(), errors),
            params: params(sig, block, errors),
            run,
            is_idempotent: options.is_idempotent,
            effect: options.effect,
            ask: options.ask,
            cfgs: attrs.iter().filter(|attr| attr.path().is_ident("cfg")).cloned().collect(),
            output: match &sig.output {
                ReturnType::Default => sig.ident.span(),
                ReturnType::Type(_, ty) => ty.span(),
            },
        }
    }

    // Input:  `find`
    // Output: `__FindArguments`
    /// The name of the type of its arguments.
    pub(crate) fn arguments(&self) -> Ident {
        format_ident!("__{}Arguments", camel_case(&self.ident))
    }
}

// Input:  `read_file`
// Output: `ReadFile`
pub(crate) fn camel_case(ident: &Ident) -> String {
    let capitalized = |word: &str| {
        let mut chars = word.chars();
        let first = chars.next().into_iter().flat_map(char::to_uppercase);
        first.chain(chars).collect::<String>()
    };
    ident.unraw().to_string().split('_').map(capitalized).collect()
}

fn check_signature(sig: &Signature, errors: &mut Errors) {
    if let Some(token) = sig.constness {
        errors.at(token, "a tool is not called at compile time: remove `const`");
    }
    if let Safety::Unsafe(token) = &sig.safety {
        let message = "a model calls a tool with any arguments, which an `unsafe fn` does not allow: \
                       remove `unsafe`";
        errors.at(token, message);
    }
    if let Some(abi) = &sig.abi {
        errors.at(abi, "a tool has the Rust ABI: remove `extern`");
    }
    for param in &sig.generics.params {
        if !matches!(param, GenericParam::Lifetime(_)) {
            errors.at(param, "a tool has one schema, so it cannot be generic: name the type");
        }
    }
}

fn name_of(sig: &Signature, given: Option<&LitStr>, errors: &mut Errors) -> String {
    let name = given.map_or_else(|| sig.ident.unraw().to_string(), LitStr::value);
    let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
    if name.is_empty() || name.len() > MAX_NAME || !name.chars().all(is_allowed) {
        let message = format!(
            "models know tools by 1 to {MAX_NAME} of the characters `a-z`, `A-Z`, `0-9`, `_` and \
             `-`: write `name = \"..\"` of these"
        );
        errors.at(given.map_or_else(|| sig.ident.to_token_stream(), tokens), message);
    }
    name
}

fn description_of(
    attrs: &[Attribute],
    sig: &Signature,
    given: Option<&LitStr>,
    errors: &mut Errors,
) -> String {
    let description = given.map_or_else(|| doc_of(attrs), LitStr::value);
    if description.trim().is_empty() {
        let message = format!(
            "the model needs to know what `{}` does: write a doc comment, or `description = \"..\"`",
            sig.ident
        );
        errors.at(given.map_or_else(|| sig.ident.to_token_stream(), tokens), message);
    }
    description.trim().to_owned()
}

fn tokens(literal: &LitStr) -> TokenStream {
    literal.to_token_stream()
}

/// The doc comment; of a macro in its place nothing.
fn doc_of(attrs: &[Attribute]) -> String {
    let lines = attrs.iter().filter_map(|attr| match &attr.meta {
        Meta::NameValue(meta) if meta.path.is_ident("doc") => match &meta.value {
            Expr::Lit(ExprLit { lit: Lit::Str(line), .. }) => Some(line.value()),
            _ => None,
        },
        _ => None,
    });
    let lines: Vec<_> =
        lines.map(|line| line.strip_prefix(' ').unwrap_or(&line).to_owned()).collect();
    lines.join("\n")
}
