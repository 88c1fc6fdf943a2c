//! Refuses methods that cannot be hooked, and traits that cannot have hooked methods.

use proc_macro2::Ident;
use quote::ToTokens;
use syn::{
    GenericParam, Generics, Path, ReturnType, Safety, Signature, Type, TypeParam, WherePredicate,
};

use crate::hookable::attrs::HookOptions;
use crate::hookable::model::Role;
use crate::hookable::options::BlockOptions;
use crate::hookable::parse;
use crate::hookable::signature::params::Param;
use crate::hookable::signature::receiver::Receiver;
use crate::hookable::signature::returned::{Returned, Static};
use crate::support::borrows::{Borrow, FindBorrow};
use crate::support::errors::Errors;
use crate::support::types::{open_type, sized, ungrouped};
use crate::support::words::Words;

/// Refuses a signature that no hook could be called with.
pub(crate) fn check_signature(sig: &Signature, open: &[(Ident, Type)], errors: &mut Errors) {
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
        let is_open = |param: &TypeParam| open.iter().any(|(ident, _)| *ident == param.ident);
        let is_kept = match param {
            GenericParam::Lifetime(_) => true,
            GenericParam::Type(param) => is_open(param),
            GenericParam::Const(_) => false,
        };
        if !is_kept {
            let message = "a hooked method cannot be generic, its hooks could not name the type: \
                           name one, write `impl Into<T>`, make the impl block generic, or use \
                           `#[hook(skip)]`";
            errors.at(param, message);
        }
    }
}

/// Refuses a future that outlives what its hooks look at.
pub(crate) fn check_static_future(
    sig: &Signature,
    receiver: Receiver,
    params: &[Param],
    returned: &Returned,
    errors: &mut Errors,
) {
    if returned.is_static == Static::No {
        return;
    }
    if !receiver.is_counted() {
        let message = "this future is `'static`, but hooks run on the agent while it runs: return \
                       `BoxFuture<'_, T>` or `Pin<Box<dyn Future<Output = T> + Send + '_>>`, or take \
                       `self: Arc<Self>`";
        errors.at(&sig.output, message);
    } else if let Some(param) = params.iter().find(|param| param.is_borrowed()) {
        let message = "the future is `'static`, so it cannot borrow this: take an owned value";
        errors.at(&param.pattern, message);
    }
}

/// Refuses what would make `dyn Trait` impossible; says whether nothing would.
pub(crate) fn check_unhooked_of_trait(
    method: &parse::Method,
    is_async_trait: bool,
    errors: &mut Errors,
) -> bool {
    let sig = &method.sig;
    if needs_sized(sig) {
        return true;
    }
    let known_errors = errors.len();
    if let Some(token) = sig.asyncness
        && !is_async_trait
    {
        let message = "an `async fn` makes `dyn Trait` impossible unless it is hooked: mark it \
                       `#[hook]`, return a boxed future, or add `where Self: Sized`";
        errors.at(token, message);
    }
    let is_type = |param: &&GenericParam| !matches!(param, GenericParam::Lifetime(_));
    let not_dyn = "makes `dyn Trait` impossible, which hooks of every implementor need: add \
                   `where Self: Sized`";
    if let Some(param) = sig.generics.params.iter().find(is_type) {
        errors.at(param, format!("a generic method {not_dyn}"));
    } else if sig.receiver().is_none() {
        errors.at(&sig.ident, format!("a function without `self` {not_dyn}"));
    } else if let Some(ty) = sig.inputs.iter().find_map(open_type) {
        errors.at(ty, format!("an `impl Trait` parameter {not_dyn}"));
    } else if let ReturnType::Type(_, ty) = &sig.output
        && matches!(ungrouped(ty), Type::Path(path) if path.path.is_ident("Self"))
    {
        errors.at(ty, format!("a method that returns `Self` {not_dyn}"));
    }
    errors.len() == known_errors
}

/// Refuses a type or constant of a trait.
pub(crate) fn check_associated(token: &impl ToTokens, errors: &mut Errors) {
    let message = "a hookable trait is one type, `dyn Trait`, so it has no associated types or \
                   constants: make it a method, move it to a trait of its own, or leave the attribute \
                   out here and write `#[hookable(own)]` on its impls";
    errors.at(token, message);
}

/// Whether a method says `where Self: Sized`.
pub(crate) fn needs_sized(sig: &Signature) -> bool {
    sized(sig.generics.where_clause.as_ref()).is_some()
}

/// Refuses what a hooked method of a trait cannot be, in the trait or in an impl of it.
pub(crate) fn check_of_trait(
    method: &parse::Method,
    options: &HookOptions,
    receiver: Receiver,
    params: &[Param],
    returned: &Returned,
    errors: &mut Errors,
) {
    let sig = &method.sig;
    if let Some(name) = &options.name {
        let message = "a hooked method of a hookable trait has one name: remove `name`";
        errors.at(name, message);
    }
    if receiver != Receiver::Shared {
        let message = "a hooked method of a trait takes `&self`";
        errors.at(sig.receiver().map(ToTokens::to_token_stream), message);
    }
    if let Some(predicate) = sized(sig.generics.where_clause.as_ref()) {
        let message = "a hooked method of a trait is one of `dyn Trait` too: remove `Self: Sized`, or leave \
                       the method out with `#[hook(skip)]`";
        errors.at(predicate, message);
    }
    if let Safety::Unsafe(token) = &sig.safety {
        errors.at(token, "a hooked method of a trait cannot be `unsafe`");
    }
    if returned.is_never() {
        errors.at(&returned.ty, "a hooked method of a trait returns a value");
    }
    if options.is_local {
        let message = "a hooked method of a trait gives a future that is `Send`: leave `?Send` out";
        errors.at(&sig.ident, message);
    }
    if returned.is_static == Static::Written {
        let message = "the future of a hooked method of a trait lasts as long as the borrow of \
                       `self`: leave `'static` out";
        errors.at(&sig.output, message);
    }
    if let Some(open) = sig.inputs.iter().find_map(open_type)
        && params.iter().any(Param::is_open)
    {
        let message = "an `impl Trait` parameter makes `dyn Trait` impossible: name its type";
        errors.at(open, message);
    }
    if let Some(attr) = method.attrs.iter().find(|attr| attr.path().is_ident("track_caller")) {
        let message = "`#[track_caller]` does not see through the hooks of a trait: remove it";
        errors.at(attr, message);
    }
    check_lifetimes(method, errors);
}

/// Refuses to let a body name a lifetime that becomes another: a hooked method of a trait has one.
fn check_lifetimes(method: &parse::Method, errors: &mut Errors) {
    let Some(body) = &method.body else { return };
    for param in method.sig.generics.lifetimes().skip(1) {
        let mut finder = Mentions { name: &param.lifetime.ident.to_string(), found: false };
        finder.look(body.stream());
        if finder.found {
            let first = method.sig.generics.lifetimes().next();
            let first = first.map(|first| first.lifetime.to_string()).unwrap_or_default();
            let message = format!(
                "a hooked method of a trait has one lifetime, which its body may name: write \
                 `{first}` for `{}`",
                param.lifetime
            );
            errors.at(&param.lifetime, message);
        }
    }
}

/// Looks for a lifetime in tokens.
struct Mentions<'a> {
    name: &'a str,
    found: bool,
}

impl Mentions<'_> {
    fn look(&mut self, tokens: proc_macro2::TokenStream) {
        let mut is_after_tick = false;
        for token in tokens {
            match token {
                proc_macro2::TokenTree::Ident(ident) => {
                    self.found |= is_after_tick && ident == self.name;
                    is_after_tick = false;
                }
                proc_macro2::TokenTree::Punct(punct) => is_after_tick = punct.as_char() == '\'',
                proc_macro2::TokenTree::Group(group) => self.look(group.stream()),
                proc_macro2::TokenTree::Literal(_) => is_after_tick = false,
            }
        }
    }
}

/// Refuses a type that borrows: hooks may outlive what it borrows.
pub(crate) fn check_type(ty: &Type, errors: &mut Errors) {
    if let Some(Borrow::Lifetime(lifetime)) = FindBorrow::in_type(ty) {
        let message = "hooks may outlive what an instance borrows, so a hooked type owns what it \
                       has: take owned data, an `Arc`, or hook `impl Type<'static>`";
        errors.at(lifetime, message);
    }
}

/// Traits that many types implement, none of them hookable.
const FOREIGN_TRAITS: [&str; 32] = [
    "AsRef",
    "AsyncRead",
    "AsyncWrite",
    "BufRead",
    "Clone",
    "Debug",
    "Default",
    "Deref",
    "DerefMut",
    "Display",
    "Drop",
    "Error",
    "Extend",
    "Fn",
    "From",
    "FromStr",
    "Future",
    "Hash",
    "Index",
    "Into",
    "IntoFuture",
    "IntoIterator",
    "Iterator",
    "Layer",
    "PartialEq",
    "Read",
    "Seek",
    "Service",
    "Sink",
    "Stream",
    "TryFrom",
    "Write",
];

/// Refuses an impl of a trait that is known not to be hookable; of others the compiler says so.
pub(crate) fn check_base(base: &Path, errors: &mut Errors) {
    let Some(last) = base.segments.last() else { return };
    if !last.arguments.is_none() || FOREIGN_TRAITS.iter().any(|name| last.ident == name) {
        let message = "this trait is not `#[hookable]`: write `#[hookable(own)]` to hook its methods for \
                       this type alone";
        errors.at(base, message);
    }
}

/// Refuses an impl of a trait for many types at once: the hook types are constants of one.
pub(crate) fn check_generics(generics: &Generics, self_ty: &Type, errors: &mut Errors) {
    let words = Words::of(self_ty);
    for param in &generics.params {
        let ident = match param {
            GenericParam::Type(param) => &param.ident,
            GenericParam::Const(param) => &param.ident,
            GenericParam::Lifetime(_) => continue,
        };
        if matches!(self_ty, Type::Path(path) if path.path.is_ident(ident)) {
            let message =
                "hooks are of one type, and this impl is of many: write the impl of a type";
            errors.at(self_ty, message);
        } else if !words.contains(ident) && !is_fixed(ident, generics) {
            let message = format!(
                "the hook types are constants of the type, which does not have the parameter `{ident}`: \
                 write the impl for one `{ident}`, or give the type the parameter"
            );
            errors.at(param, message);
        }
    }
}

/// Whether another parameter may fix this one, as a closure does its output: the compiler knows.
fn is_fixed(ident: &Ident, generics: &Generics) -> bool {
    let in_params = generics.type_params().any(|other| Words::of(&other.bounds).contains(ident));
    let predicates = generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    let mut bounds = predicates.filter_map(|predicate| match predicate {
        WherePredicate::Type(predicate) => Some(&predicate.bounds),
        _ => None,
    });
    in_params || bounds.any(|bounds| Words::of(bounds).contains(ident))
}

/// Refuses a lifetime that the future of a body could not name: it belongs to no parameter of the body.
pub(crate) fn check_lifetimes_of_block(generics: &Generics, self_ty: &Type, errors: &mut Errors) {
    let words = Words::of(self_ty);
    for param in generics.lifetimes() {
        if !words.contains(&param.lifetime.ident) {
            let message = format!(
                "the hooks of an async method cannot name a lifetime of the trait alone: write `'_` in place \
                 of `{}`, or leave it out, as in `impl Handler<&str> for Worker`",
                param.lifetime
            );
            errors.at(param, message);
        }
    }
}

/// Refuses options of a block that are not its own to give.
pub(crate) fn check_block_options(
    role: &Role,
    options: &BlockOptions,
    place: &impl ToTokens,
    errors: &mut Errors,
) {
    let is_own = matches!(role, Role::Own(Some(_)));
    if options.is_own && !is_own {
        errors.at(place, "`own` is for an impl of a trait that is not `#[hookable]`: remove it");
    }
    if options.is_private && !is_own {
        let message = "the hook types are as visible as the method: `private` is for an impl of a trait, \
                       beside `own`";
        errors.at(place, message);
    }
    let is_of_trait = options.is_json || options.derives.is_some() || options.is_non_exhaustive;
    if let Role::Impl(base) = role
        && is_of_trait
    {
        let message = "what holds for every implementor is said in the trait: move `json`, `derive` or \
                       `non_exhaustive` there; if the trait is not `#[hookable]`, add `own`";
        errors.at(base, message);
    }
}

/// Refuses options that are the trait's to give.
pub(crate) fn check_options_of_impl(sig: &Signature, options: &HookOptions, errors: &mut Errors) {
    let is_given = options.reentry.is_some()
        || options.is_fallible.is_some()
        || options.args.is_some()
        || options.derives.is_some();
    if is_given {
        let message = "what holds for every implementor is said in the trait: move `reentry`, \
                       `fallible`, `infallible`, `args` or `derive` there";
        errors.at(&sig.ident, message);
    }
}
