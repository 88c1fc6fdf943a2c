//! Meaning: what the methods of a block become. No tokens are made here.

use proc_macro2::{Group, Ident, TokenStream};
use syn::{
    Attribute, GenericParam, Generics, Path, Safety, Signature, Token, Type, TypeParamBound,
    Visibility, WhereClause,
};

use crate::hookable::attrs::Reentry;
use crate::hookable::options::BlockOptions;
use crate::hookable::signature::params::Param;
use crate::hookable::signature::receiver::Receiver;
use crate::hookable::signature::returned::{Form, Returned};
use crate::support::runtime::Runtime;
use crate::support::types::open_type;

/// An impl block or a trait whose methods are understood.
pub(crate) struct Block {
    pub(crate) role: Role,
    pub(crate) runtime: Runtime,
    pub(crate) options: BlockOptions,
    /// Whether nothing can be made of it.
    pub(crate) is_refused: bool,
    /// Whether a method says that it is not hooked.
    pub(crate) has_skipped: bool,
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) unsafety: Option<Token![unsafe]>,
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
    /// `impl Assistant { .. }`, or an impl of a trait that is not hookable: the hooks are those of the type
    Own(Option<Path>),
    /// `trait Agent { .. }`, whose type is `dyn Agent`
    Trait(Head),
    /// `impl Agent for Assistant { .. }` of a hookable trait
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
    /// What its hook types are named after: the method, unless said otherwise.
    pub(crate) name: String,
    /// Of what is there for hooks.
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

    /// Whether it is refused because no `dyn Trait` can have it.
    pub(crate) fn is_never_dyn(&self) -> bool {
        let is_lifetime = |param: &GenericParam| matches!(param, GenericParam::Lifetime(_));
        self.refused.is_some()
            && !(self.sig.generics.params.iter().all(is_lifetime)
                && self.sig.inputs.iter().all(|input| open_type(input).is_none()))
    }

    pub(crate) fn is_unsafe(&self) -> bool {
        matches!(self.sig.safety, Safety::Unsafe(_))
    }
}

impl Block {
    pub(crate) fn methods(&self) -> impl Iterator<Item = &Method> {
        self.items.iter().filter_map(|item| match item {
            Item::Hooked(method) => Some(&**method),
            Item::Plain(_) => None,
        })
    }
}
