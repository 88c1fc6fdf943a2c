//! Meaning: what the methods of a block become. No tokens are made here.

use proc_macro2::{Group, Ident, TokenStream};
use quote::{ToTokens, format_ident};
use syn::ext::IdentExt;
use syn::{
    Attribute, FnArg, GenericParam, Generics, Path, ReceiverKind, Safety, Signature, Token, Type,
    TypeParamBound, Visibility, WhereClause, parenthesized, parse_quote, punctuated::Punctuated,
};

use crate::attrs::{Attrs, HookOptions, Reentry};
use crate::errors::Errors;
use crate::generics::mentioned;
use crate::options::parse_arguments;
use crate::params::{Param, ungrouped};
use crate::parse;
use crate::returned::{Form, Returned};
use crate::runtime::Runtime;

/// An impl block or a trait whose methods are understood.
pub(crate) struct Block {
    pub(crate) role: Role,
    pub(crate) runtime: Runtime,
    pub(crate) derives: Vec<Path>,
    /// Whether its methods take hooks over JSON.
    pub(crate) is_json: bool,
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) generics: Generics,
    pub(crate) self_ty: Type,
    pub(crate) ident: Ident,
    pub(crate) items: Vec<Item>,
}

/// What the block is.
pub(crate) enum Role {
    /// `impl Agent { .. }`
    Inherent,
    /// `trait Agent { .. }`, whose type is `dyn Agent`
    Trait(Head),
    /// `impl Agent for Assistant { .. }`
    Impl(Path),
}

/// What a trait has besides its items.
pub(crate) struct Head {
    pub(crate) vis: Visibility,
    pub(crate) token: Token![trait],
    pub(crate) supertraits: Vec<TypeParamBound>,
    pub(crate) where_clause: Option<WhereClause>,
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
    /// Nothing in a trait.
    pub(crate) body: Option<Group>,
    pub(crate) receiver: Receiver,
    pub(crate) params: Vec<Param>,
    pub(crate) returned: Returned,
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
    /// `&self`
    Shared,
    /// `&mut self`
    Exclusive,
    /// `self: Arc<Self>`, `self: &Arc<Self>`
    Counted,
}

impl Method {
    /// The method's name without `r#`.
    pub(crate) fn name(&self) -> String {
        self.sig.ident.unraw().to_string()
    }

    pub(crate) fn is_async(&self) -> bool {
        self.returned.form != Form::Value
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
    pub(crate) fn of_impl(attr: TokenStream, block: &parse::Block, errors: &mut Errors) -> Self {
        let known: &[&str] = match block.base {
            Some(_) => &["crate"],
            None => &["json", "derive", "crate"],
        };
        let options = parse_block_options(attr, known, errors);
        for param in block.generics.lifetimes() {
            let message = "hooks may outlive what an instance borrows, so a hooked type owns what \
                           it has: take owned data, an `Arc`, or hook `impl Type<'static>`";
            errors.at(param, message);
        }
        let model = Self {
            role: block.base.clone().map_or(Role::Inherent, Role::Impl),
            runtime: Runtime::new(options.krate),
            derives: options.derives,
            is_json: options.is_json,
            attrs: block.attrs.clone(),
            generics: block.generics.clone(),
            self_ty: block.self_ty.clone(),
            ident: ident_of(&block.self_ty, errors),
            items: Vec::new(),
        };
        model.with_items(&block.items, errors)
    }

    pub(crate) fn of_trait(attr: TokenStream, item: &parse::Trait, errors: &mut Errors) -> Self {
        let options = parse_block_options(attr, &["json", "derive", "crate"], errors);
        if !item.generics.params.is_empty() {
            let message = "a hookable trait is one type, `dyn Trait`: it cannot be generic";
            errors.at(&item.generics, message);
        }
        let ident = &item.ident;
        let head = Head {
            vis: item.vis.clone(),
            token: item.token,
            supertraits: item.supertraits.iter().cloned().collect(),
            where_clause: item.generics.where_clause.clone(),
        };
        let model = Self {
            role: Role::Trait(head),
            runtime: Runtime::new(options.krate),
            derives: options.derives,
            is_json: options.is_json,
            attrs: item.attrs.clone(),
            generics: Generics::default(),
            self_ty: parse_quote!(dyn #ident),
            ident: ident.clone(),
            items: Vec::new(),
        };
        model.with_items(&item.items, errors)
    }

    fn with_items(mut self, items: &[parse::Item], errors: &mut Errors) -> Self {
        let mut args: Vec<Ident> = Vec::new();
        for item in items {
            let item = match item {
                parse::Item::Other(item) => Item::Plain(item.clone()),
                parse::Item::Method(method) => match HookOptions::of(method, errors) {
                    None => {
                        self.check_unhooked(method, errors);
                        Item::Plain(method.without_helpers())
                    }
                    Some(options) => {
                        let hooked = self.method(args.len(), method, &options, errors);
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
            self.items.push(item);
        }
        if args.is_empty() {
            let message = "no method to hook: `reply`, `observe`, `print`, `reasoning` and \
                           `acting` are hooked by their names, others are marked `#[hook]`";
            errors.at(&self.ident, message);
        }
        self
    }

    /// Refuses what would make `dyn Trait` impossible.
    fn check_unhooked(&self, method: &parse::Method, errors: &mut Errors) {
        if let (Role::Trait(_), Some(token)) = (&self.role, method.sig.asyncness)
            && method.sig.generics.where_clause.is_none()
        {
            let message = "an `async fn` makes `dyn Trait` impossible unless it is hooked: mark it \
                           `#[hook]`, return a boxed future, or add `where Self: Sized`";
            errors.at(token, message);
        }
    }

    /// Refuses what a method of a trait cannot be.
    fn check_of_trait(
        &self,
        method: &parse::Method,
        options: &HookOptions,
        receiver: Receiver,
        returned: &Returned,
        errors: &mut Errors,
    ) {
        let sig = &method.sig;
        let is_trait = matches!(self.role, Role::Trait(_));
        if !is_trait && !matches!(self.role, Role::Impl(_)) {
            return;
        }
        if receiver != Receiver::Shared {
            let message = "a hooked method of a trait takes `&self`";
            errors.at(sig.receiver().map(ToTokens::to_token_stream), message);
        }
        if let Safety::Unsafe(token) = &sig.safety {
            errors.at(token, "a hooked method of a trait cannot be `unsafe`");
        }
        if returned.is_never() {
            errors.at(&returned.ty, "a hooked method of a trait returns a value");
        }
        if options.is_local {
            let message = "a hooked method of a trait gives a future that is `Send`: leave \
                           `?Send` out";
            errors.at(&sig.ident, message);
        }
        if let (true, Some(body)) = (is_trait, &method.body) {
            let message = "a hooked method of a trait has no default body, its wrapper belongs to \
                           the type: end it with `;`, or leave it out with `#[hook(skip)]`";
            errors.add(syn::Error::new(body.span_open(), message));
        }
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
            .map(|(index, param)| match self.role {
                Role::Impl(_) => Param::handed_on(index, param),
                _ => Param::new(index, param, &self.self_ty, &self.runtime, errors),
            })
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
        let returned = Returned::of(sig, errors);
        let receiver = receiver_of(sig, errors);
        self.check_of_trait(method, options, receiver, &returned, errors);
        let Attrs { cfgs, public_attrs, body_attrs } = Attrs::split(&method.attrs);
        let name = sig.ident.unraw().to_string();
        let is_fallible = options.is_fallible.unwrap_or_else(|| returned.is_named_result());
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
            receiver,
            is_fallible,
            is_local: options.is_local || returned.is_local,
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

/// What `#[hookable(..)]` says of the block.
struct BlockOptions {
    krate: Option<Path>,
    derives: Vec<Path>,
    is_json: bool,
}

fn parse_block_options(attr: TokenStream, known: &[&str], errors: &mut Errors) -> BlockOptions {
    let (mut krate, mut derives, mut is_json) = (None, None, false);
    parse_arguments(attr, known, errors, |name, input| {
        match name.text.as_str() {
            "crate" => {
                input.parse::<Token![=]>()?;
                krate = Some(input.call(Path::parse_mod_style)?);
            }
            "json" => is_json = true,
            _ => {
                let content;
                parenthesized!(content in input);
                derives = Some(Punctuated::<Path, Token![,]>::parse_terminated(&content)?);
            }
        }
        Ok(())
    });
    let derives = derives.map_or_else(
        || vec![parse_quote!(::core::fmt::Debug), parse_quote!(::core::clone::Clone)],
        |derives| derives.into_iter().collect(),
    );
    BlockOptions { krate, derives, is_json }
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
    let message = "a hooked method takes `&self`, `&mut self`, `self: Arc<Self>` or `self: \
                   &Arc<Self>`: change the receiver, or leave the method out with \
                   `#[hook(skip)]`";
    match sig.receiver() {
        Some(receiver) => match &receiver.kind {
            ReceiverKind::Reference(_, _, None) => return Receiver::Shared,
            ReceiverKind::Reference(_, _, Some(_)) => return Receiver::Exclusive,
            ReceiverKind::Typed(_, ty) if is_counted(ty) => return Receiver::Counted,
            _ => errors.at(receiver, message),
        },
        None => errors.at(&sig.ident, message),
    }
    Receiver::Shared
}

/// Whether a type is `Arc<Self>`, `Rc<Self>`, or a reference to one.
fn is_counted(ty: &Type) -> bool {
    match ungrouped(ty) {
        Type::Reference(reference) if reference.mutability.is_none() => is_counted(&reference.elem),
        Type::Path(path) => {
            let last = path.path.segments.last();
            last.is_some_and(|last| last.ident == "Arc" || last.ident == "Rc")
        }
        _ => false,
    }
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
