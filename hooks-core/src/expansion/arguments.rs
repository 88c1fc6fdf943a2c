//! Keeps arguments in the args struct, and gives them back.

use std::borrow::{Borrow, Cow};
use std::fmt;

/// An argument that is copied for hooks which see it after the body.
#[diagnostic::on_unimplemented(
    message = "the argument of type `{Self}` is not `Clone`, so post hooks could not see it",
    label = "an argument that is not `Clone`",
    note = "derive `Clone` for `{Self}`, take an `Arc` of it, or give up the post hooks of the method: \
            `#[hook(derive())]` on the method, `#[hookable(derive())]` on the block"
)]
pub trait CloneArg {
    /// The copy.
    #[must_use]
    fn clone_arg(&self) -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: Clone> CloneArg for T {
    #[inline]
    fn clone_arg(&self) -> Self {
        self.clone()
    }
}

/// An argument as `{:?}` of its args struct shows it: by its own `Debug`, or else as `_`.
///
/// The method of [`ShowDebug`] is found first, that of [`ShowAny`] only with one more reference.
#[derive(Debug)]
pub struct Shown<'a, T: ?Sized>(pub &'a T);

/// An argument that is `Debug`.
pub trait ShowDebug {
    /// The argument.
    fn shown(&self) -> &dyn fmt::Debug;
}

impl<T: fmt::Debug> ShowDebug for Shown<'_, T> {
    fn shown(&self) -> &dyn fmt::Debug {
        &self.0
    }
}

/// Any argument.
pub trait ShowAny {
    /// What stands for the argument.
    fn shown(&self) -> &dyn fmt::Debug;
}

impl<T> ShowAny for &Shown<'_, T> {
    fn shown(&self) -> &dyn fmt::Debug {
        const UNKNOWN: &fmt::Arguments<'static> = &format_args!("_");
        UNKNOWN
    }
}

/// A `Cow` of the standard library.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not `std::borrow::Cow`, hooks cannot keep it",
    label = "its name is that of `std::borrow::Cow`",
    note = "write its path (`my::Cow<T>`) if it is owned, take an owned type, or leave the method out with \
            `#[hook(skip)]`"
)]
pub trait StdCow {
    /// What it owns.
    type Owned;

    /// The owned form.
    fn into_owned(self) -> Self::Owned;

    /// It, owning its value.
    fn from_owned(owned: Self::Owned) -> Self;
}

impl<T: ?Sized + ToOwned> StdCow for Cow<'_, T> {
    type Owned = T::Owned;

    fn into_owned(self) -> T::Owned {
        self.into_owned()
    }

    fn from_owned(owned: T::Owned) -> Self {
        Cow::Owned(owned)
    }
}

/// What an optional argument borrowed, from what the args struct keeps of it.
#[must_use]
pub fn borrowed<T: ?Sized + ToOwned>(owned: &Option<T::Owned>) -> Option<&T> {
    owned.as_ref().map(Borrow::borrow)
}

/// What the args struct keeps of an argument that can be iterated over.
pub fn collect<T: IntoIterator, U>(items: T, keep: impl FnMut(T::Item) -> U) -> Vec<U> {
    items.into_iter().map(keep).collect()
}
