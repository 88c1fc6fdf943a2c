//! The attributes of a method: ours, and where the others belong.

use proc_macro2::{Ident, Span, TokenStream};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, LitStr, Meta, Path, Token, parse_quote};

use crate::hookable::parse;
use crate::support::arguments::{parse_arguments, parse_derives, parse_ident, parse_value};
use crate::support::errors::{Errors, suggestion};

/// Methods that are hook points without being marked.
const STANDARD_METHODS: [&str; 5] = ["reply", "observe", "print", "reasoning", "acting"];

/// What `#[hook(..)]` says of a method that is hooked.
#[derive(Default)]
pub(crate) struct HookOptions {
    /// Whether the attribute is there.
    pub(crate) is_marked: bool,
    pub(crate) is_skipped: bool,
    pub(crate) is_fallible: Option<bool>,
    /// Whether the future need not be `Send`.
    pub(crate) is_local: bool,
    /// What a nested call does, and where that was written.
    pub(crate) reentry: Option<(Reentry, Span)>,
    /// What the hook types are named after.
    pub(crate) name: Option<Ident>,
    /// The name of the args struct.
    pub(crate) args: Option<Ident>,
    /// What the args struct derives.
    pub(crate) derives: Option<Vec<Path>>,
}

impl HookOptions {
    pub(crate) fn parse(attrs: &[Attribute], errors: &mut Errors) -> Self {
        let mut options = Self::default();
        let mut attrs = attrs.iter().filter(|attr| attr.path().is_ident("hook"));
        if let Some(attr) = attrs.next() {
            options.is_marked = true;
            options.parse_one(attr, errors);
        }
        if let Some(second) = attrs.next() {
            errors.at(second, "`#[hook]` is given twice, write its arguments into one");
        }
        options
    }

    fn parse_one(&mut self, attr: &Attribute, errors: &mut Errors) {
        let arguments = match &attr.meta {
            Meta::Path(_) => TokenStream::new(),
            Meta::List(list) => list.tokens.clone(),
            Meta::NameValue(meta) => {
                errors.at(meta, "expected `#[hook]` or `#[hook(..)]`");
                return;
            }
        };
        let known =
            ["skip", "fallible", "infallible", "reentry", "?Send", "name", "args", "derive"];
        parse_arguments(arguments, &known, errors, |name, input| {
            match name.text.as_str() {
                "skip" => self.is_skipped = true,
                "?Send" => self.is_local = true,
                "reentry" => self.reentry = Some(parse_reentry(input)?),
                "name" => self.name = Some(parse_ident(input)?),
                "args" => self.args = Some(parse_ident(input)?),
                "derive" => self.derives = Some(parse_derives(input)?),
                _ if self.is_fallible.replace(name == &"fallible").is_some() => {
                    let message = "a method is `fallible` or `infallible`, not both";
                    return Err(syn::Error::new(name.span, message));
                }
                _ => {}
            }
            Ok(())
        });
    }
}

/// Whether a method is hooked by its name.
pub(crate) fn is_standard(method: &parse::Method) -> bool {
    STANDARD_METHODS.contains(&method.sig.ident.unraw().to_string().as_str())
        && method.sig.receiver().is_some()
}

/// What a call of a method from inside its own call does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reentry {
    Skip,
    Run,
    Deny,
}

fn parse_reentry(input: ParseStream<'_>) -> syn::Result<(Reentry, Span)> {
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
    Ok((reentry, value.span()))
}

// Input:  `#[cfg_attr(test, hook(skip), inline)] fn f(&self) {}`
// Output: `#[cfg(test)] #[hook(skip)] #[inline] fn f(&self) {}`, `#[cfg(not(test))] fn f(&self) {}`
/// A method that is marked under a condition is two methods, of which one is there.
pub(crate) fn split_conditional(method: &parse::Method) -> Vec<parse::Method> {
    let condition = method.attrs.iter().enumerate().find_map(|(index, attr)| {
        let list = attr.path().is_ident("cfg_attr").then(|| attr.meta.require_list().ok())??;
        let (condition, metas) = parse_cfg_attr.parse2(list.tokens.clone()).ok()?;
        metas.iter().any(|meta| meta.path().is_ident("hook")).then_some((index, condition, metas))
    });
    let Some((index, condition, metas)) = condition else { return vec![method.clone()] };
    let (mut with, mut without) = (method.clone(), method.clone());
    let mut attrs: Vec<Attribute> = vec![parse_quote!(#[cfg(#condition)])];
    attrs.extend(metas.into_iter().map(|meta| -> Attribute { parse_quote!(#[#meta]) }));
    with.attrs.splice(index..=index, attrs);
    without.attrs[index] = parse_quote!(#[cfg(not(#condition))]);
    split_conditional(&with).into_iter().chain(split_conditional(&without)).collect()
}

fn parse_cfg_attr(input: ParseStream<'_>) -> syn::Result<(Meta, Vec<Meta>)> {
    let condition = input.parse()?;
    let mut metas = Vec::new();
    while input.parse::<Option<Token![,]>>()?.is_some() && !input.is_empty() {
        metas.push(input.parse()?);
    }
    Ok((condition, metas))
}

/// The attributes of a method by where they belong.
#[derive(Default)]
pub(crate) struct Attrs {
    pub(crate) cfgs: Vec<Attribute>,
    pub(crate) public_attrs: Vec<Attribute>,
    pub(crate) body_attrs: Vec<Attribute>,
}

impl Attrs {
    pub(crate) fn split(attrs: &[Attribute]) -> Self {
        let mut split = Self::default();
        for attr in attrs {
            let name = attr.path().get_ident().map(ToString::to_string).unwrap_or_default();
            match name.as_str() {
                "hook" => {}
                "cfg" => split.cfgs.push(attr.clone()),
                "allow" | "warn" | "deny" | "forbid" | "track_caller" => {
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
