//! What a hooked method cannot be.

use quote::ToTokens;
use syn::{Error, GenericParam, Safety, Signature};

use crate::attrs::HookOptions;
use crate::errors::Errors;
use crate::parse;
use crate::receiver::Receiver;
use crate::returned::Returned;

/// Refuses a signature that no hook could be called with.
pub(crate) fn check_signature(sig: &Signature, errors: &mut Errors) {
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

/// Refuses what would make `dyn Trait` impossible.
pub(crate) fn check_unhooked_of_trait(method: &parse::Method, errors: &mut Errors) {
    if let Some(token) = method.sig.asyncness
        && method.sig.generics.where_clause.is_none()
    {
        let message = "an `async fn` makes `dyn Trait` impossible unless it is hooked: mark it \
                       `#[hook]`, return a boxed future, or add `where Self: Sized`";
        errors.at(token, message);
    }
}

/// Refuses what a hooked method of a trait cannot be, in the trait or in an impl of it.
pub(crate) fn check_of_trait(
    sig: &Signature,
    options: &HookOptions,
    receiver: Receiver,
    returned: &Returned,
    errors: &mut Errors,
) {
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
        let message = "a hooked method of a trait gives a future that is `Send`: leave `?Send` out";
        errors.at(&sig.ident, message);
    }
}

/// Refuses options that are the trait's to give.
pub(crate) fn check_options_of_impl(sig: &Signature, options: &HookOptions, errors: &mut Errors) {
    if options.reentry.is_some() || options.is_fallible.is_some() {
        let message = "what holds for every implementor is said in the trait: move `reentry`, \
                       `fallible` or `infallible` there";
        errors.at(&sig.ident, message);
    }
}

/// Refuses a body where a trait only declares the method.
pub(crate) fn check_undefined(method: &parse::Method, errors: &mut Errors) {
    if let Some(body) = &method.body {
        let message = "a hooked method of a trait has no default body, its wrapper belongs to the \
                       type: end it with `;`, or leave it out with `#[hook(skip)]`";
        errors.add(Error::new(body.span_open(), message));
    }
}
