//! Meaning: what the methods of a block become. No tokens are made here.

use proc_macro2::{Group, Ident, TokenStream};
use quote::{ToTokens, format_ident};
use syn::ext::IdentExt;
use syn::{
    Attribute, FnArg, GenericParam, Generics, Path, ReceiverKind, ReturnType, Safety, Signature,
    Type, Visibility, parenthesized, parse_quote, punctuated::Punctuated,
};

use crate::attrs::{Attrs, HookOptions, Reentry};
use crate::errors::Errors;
use crate::generics::mentioned;
use crate::options::parse_arguments;
use crate::params::{Param, check_returned};
use crate::parse;
use crate::runtime::Runtime;

/// A block whose methods are understood.
pub(crate) struct Block {
    pub(crate) runtime: Runtime,
    pub(crate) derives: Vec<Path>,
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) generics: Generics,
    pub(crate) self_ty: Type,
    pub(crate) ident: Ident,
    pub(crate) items: Vec<Item>,
}

/// An item of the block.
pub(crate) enum Item {
    Hooked(Box<Method>),
    Plain(TokenStream),
}

/// A hooked method.
pub(crate) struct Method {
    pub(crate) index: u32,
    pub(crate) vis: Visibility,
    /// On everything that stands for the method.
    pub(crate) cfgs: Vec<Attribute>,
    /// On the public method: docs, and what is not known to belong elsewhere.
    pub(crate) public_attrs: Vec<Attribute>,
    /// On the body: lint levels.
    pub(crate) body_attrs: Vec<Attribute>,
    pub(crate) sig: Signature,
    pub(crate) body: Group,
    pub(crate) receiver: Receiver,
    pub(crate) params: Vec<Param>,
    pub(crate) returned: Type,
    pub(crate) is_fallible: bool,
    /// Whether its future need not be `Send`.
    pub(crate) is_local: bool,
    pub(crate) reentry: Reentry,
    pub(crate) args_ident: Ident,
    /// The generics of the block that the arguments mention.
    pub(crate) args_generics: Generics,
}

/// How a hooked method takes its instance.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Receiver {
    Shared,
    Exclusive,
}

impl Method {
    /// The method's name without `r#`.
    pub(crate) fn name(&self) -> String {
        self.sig.ident.unraw().to_string()
    }

    pub(crate) fn is_async(&self) -> bool {
        self.sig.asyncness.is_some()
    }

    /// Whether the body borrows from what the wrapper holds: arguments, or a lent instance.
    pub(crate) fn is_borrowing(&self) -> bool {
        self.receiver == Receiver::Exclusive || self.params.iter().any(Param::is_borrowed)
    }

    /// Whether around hooks can run the body, perhaps more than once.
    pub(crate) fn has_around(&self) -> bool {
        self.receiver == Receiver::Shared && !self.is_local
    }

    pub(crate) fn is_unsafe(&self) -> bool {
        matches!(self.sig.safety, Safety::Unsafe(_))
    }
}

impl Block {
    pub(crate) fn new(attr: TokenStream, block: &parse::Block, errors: &mut Errors) -> Self {
        let (krate, derives) = parse_block_options(attr, errors);
        let mut model = Self {
            runtime: Runtime::new(krate),
            derives,
            attrs: block.attrs.clone(),
            generics: block.generics.clone(),
            self_ty: block.self_ty.clone(),
            ident: ident_of(&block.self_ty, errors),
            items: Vec::new(),
        };
        let mut args: Vec<Ident> = Vec::new();
        for item in &block.items {
            let item = match item {
                parse::Item::Other(item) => Item::Plain(item.to_token_stream()),
                parse::Item::Method(method) => match HookOptions::of(method, errors) {
                    None => Item::Plain(method.without_helpers()),
                    Some(options) => {
                        let hooked = model.method(args.len(), method, &options, errors);
                        if args.contains(&hooked.args_ident) {
                            let message = format!(
                                "`{}` would be the arguments of two methods, rename one of them",
                                hooked.args_ident
                            );
                            errors.at(&method.sig.ident, message);
                        }
                        args.push(hooked.args_ident.clone());
                        Item::Hooked(Box::new(hooked))
                    }
                },
            };
            model.items.push(item);
        }
        if args.is_empty() {
            let message = "no method to hook: `reply`, `observe`, `print`, `reasoning` and \
                           `acting` are hooked by their names, others are marked `#[hook]`";
            errors.at(&block.self_ty, message);
        }
        model
    }

    pub(crate) fn methods(&self) -> impl Iterator<Item = &Method> {
        self.items.iter().filter_map(|item| match item {
            Item::Hooked(method) => Some(&**method),
            Item::Plain(_) => None,
        })
    }

    fn method(
        &self,
        index: usize,
        method: &parse::Method,
        options: &HookOptions,
        errors: &mut Errors,
    ) -> Method {
        let sig = &method.sig;
        check_signature(sig, errors);
        let params: Vec<_> = sig
            .inputs
            .iter()
            .filter_map(|input| match input {
                FnArg::Typed(param) => Some(param),
                FnArg::Receiver(_) => None,
            })
            .enumerate()
            .map(|(index, param)| Param::new(index, param, &self.self_ty, &self.runtime, errors))
            .collect();
        for (index, param) in params.iter().enumerate() {
            if params[..index].iter().any(|known| known.name == param.name) {
                let message = format!(
                    "two arguments named `{}`, name one by `#[arg(name = \"..\")]`",
                    param.name
                );
                errors.at(&param.pattern, message);
            }
        }
        let returned: Type = match &sig.output {
            ReturnType::Default => parse_quote!(()),
            ReturnType::Type(_, ty) => (**ty).clone(),
        };
        check_returned(&returned, errors);
        let Attrs { cfgs, public_attrs, body_attrs } = Attrs::split(&method.attrs);
        let name = sig.ident.unraw().to_string();
        let is_fallible = options.is_fallible.unwrap_or_else(|| is_named_result(&returned));
        if let Some((Reentry::Run | Reentry::Deny, span)) = options.reentry
            && !is_fallible
        {
            let message = "a method that cannot fail cannot refuse a nested call: return a \
                           `Result`, or leave `reentry` out";
            errors.add(syn::Error::new(span, message));
        }
        Method {
            index: u32::try_from(index).unwrap_or(u32::MAX),
            vis: method.vis.clone(),
            cfgs,
            public_attrs,
            body_attrs,
            sig: sig.clone(),
            body: method.body.clone(),
            receiver: receiver_of(sig, errors),
            is_fallible,
            is_local: options.is_local,
            reentry: options.reentry.map_or(Reentry::Skip, |(reentry, _)| reentry),
            args_ident: format_ident!(
                "{}{}Args",
                self.ident,
                pascal(&name),
                span = sig.ident.span()
            ),
            args_generics: mentioned(&self.generics, params.iter().map(|param| &param.field_ty)),
            params,
            returned,
        }
    }
}

fn parse_block_options(attr: TokenStream, errors: &mut Errors) -> (Option<Path>, Vec<Path>) {
    let mut krate = None;
    let mut derives = None;
    parse_arguments(attr, &["derive", "crate"], errors, |name, input| {
        if name == &"crate" {
            input.parse::<syn::Token![=]>()?;
            krate = Some(input.call(Path::parse_mod_style)?);
        } else {
            let content;
            parenthesized!(content in input);
            derives = Some(Punctuated::<Path, syn::Token![,]>::parse_terminated(&content)?);
        }
        Ok(())
    });
    let derives = derives.map(|derives| derives.into_iter().collect());
    (
        krate,
        derives.unwrap_or_else(|| {
            vec![parse_quote!(::core::fmt::Debug), parse_quote!(::core::clone::Clone)]
        }),
    )
}

fn check_signature(sig: &Signature, errors: &mut Errors) {
    if let Some(token) = sig.constness {
        errors.at(token, "a `const fn` cannot run hooks: remove `const` or use `#[hook(skip)]`");
    }
    if let Some(abi) = &sig.abi {
        errors.at(abi, "a hooked method has the Rust ABI: remove `extern` or use `#[hook(skip)]`");
    }
    if let Some(variadic) = &sig.variadic {
        errors.at(variadic, "a hooked method cannot be variadic");
    }
    for param in &sig.generics.params {
        if !matches!(param, GenericParam::Lifetime(_)) {
            let message = "a hooked method cannot be generic, its hooks could not name the type: \
                           name one, make the impl block generic, or use `#[hook(skip)]`";
            errors.at(param, message);
        }
    }
}

fn receiver_of(sig: &Signature, errors: &mut Errors) -> Receiver {
    let message = "a hooked method takes `&self` or `&mut self`: change the receiver, or leave \
                   the method out with `#[hook(skip)]`";
    match sig.receiver() {
        Some(receiver) => match &receiver.kind {
            ReceiverKind::Reference(_, _, None) => return Receiver::Shared,
            ReceiverKind::Reference(_, _, Some(_)) => return Receiver::Exclusive,
            _ => errors.at(receiver, message),
        },
        None => errors.at(&sig.ident, message),
    }
    Receiver::Shared
}

/// The name of the type that the block is about.
fn ident_of(ty: &Type, errors: &mut Errors) -> Ident {
    let ident = match ty {
        Type::Path(path) => path.path.segments.last().map(|last| last.ident.clone()),
        Type::Group(group) => return ident_of(&group.elem, errors),
        _ => None,
    };
    ident.unwrap_or_else(|| {
        errors.at(ty, "`#[hookable]` goes on an `impl` block of a struct");
        format_ident!("Unknown")
    })
}

/// Whether the name of a type ends in `Result`.
fn is_named_result(ty: &Type) -> bool {
    match ty {
        Type::Path(path) => {
            let last = path.path.segments.last();
            last.is_some_and(|last| last.ident.to_string().ends_with("Result"))
        }
        Type::Group(group) => is_named_result(&group.elem),
        Type::Paren(paren) => is_named_result(&paren.elem),
        _ => false,
    }
}

// Input:  `model_call`
// Output: `ModelCall`
fn pascal(name: &str) -> String {
    let words = name.split('_').filter(|word| !word.is_empty());
    words
        .map(|word| {
            let (first, rest) = word.split_at(word.chars().next().map_or(0, char::len_utf8));
            first.to_uppercase() + rest
        })
        .collect()
}
