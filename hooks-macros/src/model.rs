//! Meaning: what the methods of a block become. No tokens are made here.

use proc_macro2::{Group, Ident, TokenStream};
use quote::format_ident;
use syn::ext::IdentExt;
use syn::{
    Attribute, FnArg, Generics, Path, Safety, Signature, Token, Type, TypeParamBound, Visibility,
    WhereClause, parse_quote,
};

use crate::attrs::{Attrs, HookOptions, Reentry};
use crate::check::{
    check_of_trait, check_options_of_impl, check_signature, check_undefined,
    check_unhooked_of_trait,
};
use crate::errors::Errors;
use crate::generics::mentioned;
use crate::options::BlockOptions;
use crate::params::Param;
use crate::parse;
use crate::receiver::Receiver;
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
        let options = BlockOptions::parse(attr, known, errors);
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
        let options = BlockOptions::parse(attr, &["json", "derive", "crate"], errors);
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
                        if matches!(self.role, Role::Trait(_)) {
                            check_unhooked_of_trait(method, errors);
                        }
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
        let receiver = Receiver::of(sig, errors);
        if !matches!(self.role, Role::Inherent) {
            check_of_trait(sig, options, receiver, &returned, errors);
        }
        match self.role {
            Role::Inherent => {}
            Role::Trait(_) => check_undefined(method, errors),
            Role::Impl(_) => check_options_of_impl(sig, options, errors),
        }
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
