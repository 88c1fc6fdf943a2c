//! The attributes of a method: ours, and where the others belong.

use proc_macro2::{Span, TokenStream};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Attribute, LitStr, Meta, parse_quote};

use crate::errors::{Errors, suggestion};
use crate::options::{parse_arguments, parse_value};
use crate::parse;

/// Methods that are hook points without being marked.
const STANDARD_METHODS: [&str; 5] = ["reply", "observe", "print", "reasoning", "acting"];

/// What `#[hook(..)]` says of a method that is hooked.
#[derive(Default)]
pub(crate) struct HookOptions {
    pub(crate) is_fallible: Option<bool>,
    /// Whether the future need not be `Send`.
    pub(crate) is_local: bool,
    /// What a nested call does, and where that was written.
    pub(crate) reentry: Option<(Reentry, Span)>,
}

impl HookOptions {
    /// `None` if the method is not hooked.
    pub(crate) fn of(method: &parse::Method, errors: &mut Errors) -> Option<Self> {
        let mut marked = STANDARD_METHODS.contains(&method.sig.ident.unraw().to_string().as_str())
            && method.sig.receiver().is_some();
        let mut skipped = false;
        let mut options = Self::default();
        let mut attrs = method.attrs.iter().filter(|attr| attr.path().is_ident("hook"));
        if let Some(attr) = attrs.next() {
            marked = true;
            let arguments = match &attr.meta {
                Meta::Path(_) => TokenStream::new(),
                Meta::List(list) => list.tokens.clone(),
                Meta::NameValue(meta) => {
                    errors.at(meta, "expected `#[hook]` or `#[hook(..)]`");
                    TokenStream::new()
                }
            };
            let known = ["skip", "fallible", "infallible", "reentry", "?Send"];
            parse_arguments(arguments, &known, errors, |name, input| {
                match name.text.as_str() {
                    "skip" => skipped = true,
                    "?Send" => options.is_local = true,
                    "reentry" => options.reentry = parse_reentry(input)?,
                    _ if options.is_fallible.replace(name == &"fallible").is_some() => {
                        let message = "a method is `fallible` or `infallible`, not both";
                        return Err(syn::Error::new(name.span, message));
                    }
                    _ => {}
                }
                Ok(())
            });
        }
        if let Some(second) = attrs.next() {
            errors.at(second, "`#[hook]` is given twice, write its arguments into one");
        }
        (marked && !skipped).then_some(options)
    }
}

/// What a call of a method from inside its own call does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reentry {
    Skip,
    Run,
    Deny,
}

fn parse_reentry(input: ParseStream<'_>) -> syn::Result<Option<(Reentry, Span)>> {
    let value: LitStr = parse_value(input)?;
    let reentry = match value.value().as_str() {
        "skip" => Reentry::Skip,
        "run" => Reentry::Run,
        "deny" => Reentry::Deny,
        other => {
            let hint = suggestion(other, &["skip", "run", "deny"]);
            return Err(syn::Error::new(value.span(), format!("unknown reentry `{other}`{hint}")));
        }
    };
    Ok(Some((reentry, value.span())))
}

/// The attributes of a method by where they belong.
pub(crate) struct Attrs {
    pub(crate) cfgs: Vec<Attribute>,
    pub(crate) public_attrs: Vec<Attribute>,
    pub(crate) body_attrs: Vec<Attribute>,
}

impl Attrs {
    pub(crate) fn split(attrs: &[Attribute]) -> Self {
        let mut split = Self { cfgs: Vec::new(), public_attrs: Vec::new(), body_attrs: Vec::new() };
        for attr in attrs {
            let name = attr.path().get_ident().map(ToString::to_string).unwrap_or_default();
            match name.as_str() {
                "hook" => {}
                "cfg" => split.cfgs.push(attr.clone()),
                "allow" | "warn" | "deny" | "forbid" => {
                    split.body_attrs.push(attr.clone());
                    split.public_attrs.push(attr.clone());
                }
                "expect" => {
                    // Only one of the two may fulfil the expectation; what is left is the permission.
                    if let Ok(list) = attr.meta.require_list() {
                        let lints = &list.tokens;
                        split.body_attrs.push(parse_quote!(#[allow(#lints)]));
                        split.public_attrs.push(parse_quote!(#[allow(#lints)]));
                    }
                }
                _ => split.public_attrs.push(attr.clone()),
            }
        }
        split
    }
}

/// Whether an attribute says how loud a lint is.
pub(crate) fn is_lint_level(attr: &Attribute) -> bool {
    ["allow", "warn", "deny", "forbid"].iter().any(|level| attr.path().is_ident(level))
}
