//! The receiver of a method.

use syn::{ReceiverKind, Signature, Type};

use crate::support::errors::Errors;
use crate::support::types::ungrouped;

/// How a hooked method takes its instance.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Receiver {
    /// `&self`
    Shared,
    /// `&mut self`
    Exclusive,
    /// `self: Arc<Self>`
    Counted,
    /// `self: &Arc<Self>`
    CountedRef,
}

impl Receiver {
    pub(crate) fn of(sig: &Signature, errors: &mut Errors) -> Self {
        let message = "a hooked method takes `&self`, `&mut self`, `self: Arc<Self>` or `self: \
                       &Arc<Self>`: change the receiver, or leave the method out with \
                       `#[hook(skip)]`";
        let found = match sig.receiver().map(|receiver| &receiver.kind) {
            Some(ReceiverKind::Reference(_, _, None)) => Some(Self::Shared),
            Some(ReceiverKind::Reference(_, _, Some(_))) => Some(Self::Exclusive),
            Some(ReceiverKind::Typed(_, ty)) => Self::of_type(ty),
            _ => None,
        };
        found.unwrap_or_else(|| {
            match sig.receiver() {
                Some(receiver) => errors.at(receiver, message),
                None => errors.at(&sig.ident, message),
            }
            Self::Shared
        })
    }

    // Input:  `&Self`, `&mut Self`, `Arc<Self>`, `Rc<Self>`, `&Arc<Self>`
    fn of_type(ty: &Type) -> Option<Self> {
        match ungrouped(ty) {
            Type::Reference(reference) => {
                let referent = ungrouped(&reference.elem);
                match reference.mutability {
                    None if is_self(referent) => Some(Self::Shared),
                    Some(_) if is_self(referent) => Some(Self::Exclusive),
                    None if is_counted(referent) => Some(Self::CountedRef),
                    _ => None,
                }
            }
            ty => is_counted(ty).then_some(Self::Counted),
        }
    }

    /// Whether the call can own a counted reference to the instance.
    pub(crate) fn is_counted(self) -> bool {
        matches!(self, Self::Counted | Self::CountedRef)
    }
}

fn is_self(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.is_ident("Self"))
}

/// Whether a type is `Arc<Self>` or `Rc<Self>`.
fn is_counted(ty: &Type) -> bool {
    match ty {
        Type::Path(path) => {
            let last = path.path.segments.last();
            last.is_some_and(|last| last.ident == "Arc" || last.ident == "Rc")
        }
        _ => false,
    }
}
