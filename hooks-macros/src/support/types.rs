//! Types as they are meant.

use syn::Type;

/// The type without the parentheses, or the invisible group of a macro, around it.
pub(crate) fn ungrouped(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => ungrouped(&group.elem),
        Type::Paren(paren) => ungrouped(&paren.elem),
        _ => ty,
    }
}
