//! Meaning: what the methods of a block become. No tokens are made here.

use proc_macro2::{Group, Ident, TokenStream};
use quote::format_ident;
use syn::ext::IdentExt;
use syn::visit_mut::VisitMut;
use syn::{
    Attribute, FnArg, Generics, Path, Safety, Signature, Token, Type, TypeParamBound, Visibility,
    WhereClause, parse_quote,
};

use crate::hookable::attrs::{Attrs, HookOptions, Reentry, is_standard, split_conditional};
use crate::hookable::check::{
    check_associated, check_base, check_of_trait, check_options_of_impl, check_signature,
    check_static_future, check_type, check_unhooked_of_trait, needs_sized,
};
use crate::hookable::generics::mentioned;
use crate::hookable::options::BlockOptions;
use crate::hookable::owned::open_generics;
use crate::hookable::params::Param;
use crate::hookable::parse;
use crate::hookable::receiver::Receiver;
use crate::hookable::refused::Named;
use crate::hookable::returned::{Form, Returned};
use crate::support::errors::Errors;
use crate::support::runtime::Runtime;

/// An impl block or a trait whose methods are understood.
pub(crate) struct Block {
    pub(crate) role: Role,
    pub(crate) runtime: Runtime,
    /// What the args structs derive; `Debug` and `Clone` unless said otherwise.
    pub(crate) derives: Option<Vec<Path>>,
    /// Whether its methods take hooks over JSON.
    pub(crate) is_json: bool,
    /// Whether the args structs are `#[non_exhaustive]`.
    pub(crate) is_non_exhaustive: bool,
    /// Whether nothing can be made of it.
    pub(crate) is_refused: bool,
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) generics: Generics,
    pub(crate) self_ty: Type,
    pub(crate) ident: Ident,
    pub(crate) items: Vec<Item>,
    /// Methods of an impl of a trait that are not marked: the trait must not hook them.
    pub(crate) unmarked: Vec<Unmarked>,
}

/// A method without a mark, and what it depends on.
pub(crate) struct Unmarked {
    pub(crate) name: Ident,
    pub(crate) cfgs: Vec<Attribute>,
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
    /// In a trait there may be none.
    pub(crate) body: Option<Group>,
    pub(crate) receiver: Receiver,
    pub(crate) params: Vec<Param>,
    pub(crate) returned: Returned,
    /// If it has an error, the method as it was written: its hook types are there to be named all the
    /// same.
    pub(crate) refused: Option<TokenStream>,
    pub(crate) is_fallible: bool,
    /// Whether its future need not be `Send`.
    pub(crate) is_local: bool,
    pub(crate) reentry: Reentry,
    /// The name of its body.
    pub(crate) body_ident: Ident,
    pub(crate) args_ident: Ident,
    /// What its args struct derives; `Debug` and `Clone` unless said otherwise.
    pub(crate) derives: Option<Vec<Path>>,
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
            None => &["json", "derive", "non_exhaustive", "crate"],
        };
        let options = BlockOptions::parse(attr, known, errors);
        let known_errors = errors.len();
        if let Some(base) = &block.base {
            check_base(base, errors);
        }
        check_type(&block.self_ty, errors);
        let role = block.base.clone().map_or(Role::Inherent, Role::Impl);
        let ident = ident_of(&block.self_ty, errors);
        let generics = block.generics.clone();
        let mut model =
            Self::new(role, options, &block.attrs, generics, block.self_ty.clone(), ident);
        model.is_refused = errors.len() > known_errors;
        model.with_items(&block.items, errors)
    }

    pub(crate) fn of_trait(attr: TokenStream, item: &parse::Trait, errors: &mut Errors) -> Self {
        let known = ["json", "derive", "non_exhaustive", "crate"];
        let options = BlockOptions::parse(attr, &known, errors);
        let is_generic = !item.generics.params.is_empty();
        if is_generic {
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
        let (role, self_ty) = (Role::Trait(head), parse_quote!(dyn #ident));
        let mut model =
            Self::new(role, options, &item.attrs, Generics::default(), self_ty, ident.clone());
        model.is_refused = is_generic;
        model.with_items(&item.items, errors)
    }

    fn new(
        role: Role,
        options: BlockOptions,
        attrs: &[Attribute],
        generics: Generics,
        self_ty: Type,
        ident: Ident,
    ) -> Self {
        Self {
            role,
            runtime: Runtime::new(options.krate),
            derives: options.derives,
            is_json: options.is_json,
            is_non_exhaustive: options.is_non_exhaustive,
            is_refused: false,
            attrs: attrs.to_vec(),
            generics,
            self_ty,
            ident,
            items: Vec::new(),
            unmarked: Vec::new(),
        }
    }

    fn with_items(mut self, items: &[parse::Item], errors: &mut Errors) -> Self {
        for item in items {
            match item {
                parse::Item::Other(item) => self.items.push(Item::Plain(item.clone())),
                parse::Item::Associated(item, token) => {
                    self.is_refused = true;
                    check_associated(token, errors);
                    self.items.push(Item::Plain(item.clone()));
                }
                parse::Item::Method(method) => {
                    for method in split_conditional(method) {
                        let item = self.item(&method, errors);
                        self.items.push(item);
                    }
                }
            }
        }
        // In an impl of a trait all may be left to the bodies of the trait.
        if self.methods().next().is_none() && !matches!(self.role, Role::Impl(_)) {
            self.is_refused = true;
            let message = "no method to hook: `reply`, `observe`, `print`, `reasoning` and \
                           `acting` are hooked by their names, others are marked `#[hook]`";
            errors.at(&self.ident, message);
        }
        self
    }

    fn item(&mut self, method: &parse::Method, errors: &mut Errors) -> Item {
        let options = HookOptions::parse(&method.attrs, errors);
        if options.is_skipped || !self.is_hooked(method, &options) {
            let mut method = method.clone();
            if matches!(self.role, Role::Impl(_))
                && !options.is_skipped
                && method.sig.receiver().is_some()
            {
                let Attrs { cfgs, .. } = Attrs::split(&method.attrs);
                self.unmarked.push(Unmarked { name: method.sig.ident.clone(), cfgs });
            }
            if matches!(self.role, Role::Trait(_))
                && !check_unhooked_of_trait(&method, self.is_async_trait(), errors)
            {
                // So that what is wrong is said once.
                let clause = method.sig.generics.make_where_clause();
                clause.predicates.push(parse_quote!(Self: ::core::marker::Sized));
            }
            return Item::Plain(method.without_helpers());
        }
        let hooked = self.method(method, options, errors);
        // Of two under conditions, one may be there at a time; the compiler sees if both are.
        let twin = self.methods().find(|known| {
            known.args_ident == hooked.args_ident
                && (known.cfgs.is_empty() || hooked.cfgs.is_empty())
        });
        if let Some(twin) = twin {
            let message = format!(
                "`{}` would be the arguments of `{}` too: name one of them by \
                 `#[hook(args = \"..\")]`",
                hooked.args_ident,
                twin.name()
            );
            errors.at(&method.sig.ident, message);
            return Item::Plain(method.without_helpers());
        }
        Item::Hooked(Box::new(hooked))
    }

    fn is_hooked(&self, method: &parse::Method, options: &HookOptions) -> bool {
        // What a hookable trait has of async methods is hooked.
        let is_of_trait = matches!(self.role, Role::Impl(_))
            && method.sig.asyncness.is_some()
            && !needs_sized(&method.sig)
            && !self.is_async_trait();
        options.is_marked || is_standard(method) || is_of_trait
    }

    /// Whether `#[async_trait]` makes boxed methods of what is left async.
    fn is_async_trait(&self) -> bool {
        let is_it = |attr: &Attribute| {
            attr.path().segments.last().is_some_and(|last| last.ident == "async_trait")
        };
        self.attrs.iter().any(is_it)
    }

    pub(crate) fn methods(&self) -> impl Iterator<Item = &Method> {
        self.items.iter().filter_map(|item| match item {
            Item::Hooked(method) => Some(&**method),
            Item::Plain(_) => None,
        })
    }

    fn params(&self, sig: &Signature, open: &[(Ident, Type)], errors: &mut Errors) -> Vec<Param> {
        let params = sig.inputs.iter().filter_map(|input| match input {
            FnArg::Typed(param) => Some(param),
            FnArg::Receiver(_) => None,
        });
        let params: Vec<_> = params
            .enumerate()
            .map(|(index, param)| match self.role {
                Role::Impl(_) => Param::handed_on(index, param),
                _ => {
                    let mut param = param.clone();
                    let is_it = |(ident, _): &&(Ident, Type)| {
                        matches!(&*param.ty, Type::Path(path) if path.path.is_ident(ident))
                    };
                    if let Some((_, ty)) = open.iter().find(is_it) {
                        *param.ty = ty.clone();
                    }
                    Param::new(index, &param, &self.self_ty, &self.runtime, errors)
                }
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
        params
    }

    fn method(&self, method: &parse::Method, options: HookOptions, errors: &mut Errors) -> Method {
        let sig = &method.sig;
        let known_errors = errors.len();
        let open = match self.role {
            Role::Inherent => open_generics(sig),
            Role::Trait(_) | Role::Impl(_) => Vec::new(),
        };
        check_signature(sig, &open, errors);
        let mut params = self.params(sig, &open, errors);
        let mut returned = Returned::of(sig, errors);
        let receiver = Receiver::of(sig, errors);
        match self.role {
            Role::Inherent => check_static_future(sig, receiver, &params, &returned, errors),
            Role::Trait(_) | Role::Impl(_) => {
                check_of_trait(method, &options, receiver, &params, &returned, errors);
            }
        }
        let is_refused = errors.len() > known_errors;
        if is_refused {
            let mut named = Named { generics: &sig.generics, runtime: &self.runtime };
            named.visit_type_mut(&mut returned.ty);
            for param in &mut params {
                named.visit_type_mut(&mut param.field_ty);
            }
        }
        if matches!(self.role, Role::Impl(_)) {
            check_options_of_impl(sig, &options, errors);
        }
        let is_fallible = options.is_fallible.unwrap_or_else(|| returned.is_named_result());
        if let Some((Reentry::Run | Reentry::Deny, span)) = options.reentry
            && !is_fallible
        {
            let message = "a method that cannot fail cannot refuse a nested call: return a \
                           `Result`, or leave `reentry` out";
            errors.add(syn::Error::new(span, message));
        }
        let Attrs { cfgs, public_attrs, body_attrs } = Attrs::split(&method.attrs);
        let name = sig.ident.unraw().to_string();
        let body_ident = match self.role {
            // The compiler says this name where the mark is forgotten in an impl.
            Role::Trait(_) | Role::Impl(_)
                if returned.form == Form::Value && !is_standard(method) =>
            {
                format_ident!("__hooks_mark_{name}_with_hook", span = sig.ident.span())
            }
            _ => format_ident!("__hooks_{name}", span = sig.ident.span()),
        };
        let args_ident = options.args.unwrap_or_else(|| {
            let name = pascal(&name);
            format_ident!("{}{name}Args", self.ident.unraw(), span = sig.ident.span())
        });
        Method {
            index: u32::try_from(self.methods().count()).unwrap_or(u32::MAX),
            vis: method.vis.clone(),
            cfgs,
            public_attrs,
            body_attrs,
            sig: sig.clone(),
            body: method.body.clone(),
            receiver,
            refused: is_refused.then(|| method.without_helpers()),
            is_fallible,
            is_local: options.is_local || returned.is_local,
            reentry: options.reentry.map_or(Reentry::Skip, |(reentry, _)| reentry),
            body_ident,
            args_ident,
            args_generics: mentioned(&self.generics, params.iter().map(|param| &param.field_ty)),
            derives: options.derives.or_else(|| self.derives.clone()),
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

// Input:  `model_call`, `_add`
// Output: `ModelCall`, `_Add`
/// In camel case; underscores that separate no words are kept, since they may tell names apart.
fn pascal(name: &str) -> String {
    let words = name.split('_').map(|word| {
        if word.is_empty() {
            return "_".to_owned();
        }
        let (first, rest) = word.split_at(word.chars().next().map_or(0, char::len_utf8));
        first.to_uppercase() + rest
    });
    words.collect()
}
