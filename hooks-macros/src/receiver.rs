//! How a method takes its instance.

use syn::{ReceiverKind, Signature, Type};

use crate::errors::Errors;
use crate::types::ungrouped;

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

impl Receiver {
    pub(crate) fn of(sig: &Signature, errors: &mut Errors) -> Self {
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
