//! Finds the hooked method of a trait from an impl of it.

/// How an impl of a hookable trait finds what the trait has for a method.
///
/// It is the same for every `Type`, the implementor. Without it the compiler would not look at what
/// another crate says: that could come to say something else.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no hooked method of this name",
    label = "hooked here, but not in the trait",
    note = "mark it `#[hook]` in the trait, which must be `#[hookable]`, or `#[hook(skip)]` here; an impl of \
            another trait is `#[hookable(own)]`"
)]
pub trait TraitMethod<const METHOD: u64, Type: ?Sized> {
    /// The arguments of the method.
    type Args;
}

/// The number that stands for a method in [`TraitMethod`]: the hash of its name, by FNV-1a.
#[must_use]
pub const fn method(name: &str) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325;
    let mut rest = name.as_bytes();
    while let [byte, others @ ..] = rest {
        hash = (hash ^ *byte as u64).wrapping_mul(0x0100_0000_01b3);
        rest = others;
    }
    hash
}
