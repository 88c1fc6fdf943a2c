//! Types as they are meant.

use syn::{GenericArgument, PathArguments, PathSegment, Type, TypePath};

/// The type without the parentheses, or the invisible group of a macro, around it.
pub(crate) fn ungrouped(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => ungrouped(&group.elem),
        Type::Paren(paren) => ungrouped(&paren.elem),
        _ => ty,
    }
}

/// The `T` of `Name<T>`, `Name<'_, T>`, if its path does not say that it is another crate's.
pub(crate) fn argument_of_std<'a>(ty: &'a Type, name: &str, module: &str) -> Option<&'a Type> {
    let Type::Path(TypePath { qself: None, path, .. }) = ty else { return None };
    let before = path.segments.iter().rev().nth(1);
    if before.is_some_and(|before| before.ident != module) {
        return None;
    }
    let last = path.segments.last().filter(|last| last.ident == name)?;
    let mut types = arguments_of(last).into_iter().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    });
    let first = types.next()?;
    types.next().is_none().then(|| ungrouped(first))
}

/// The generic arguments of a segment.
pub(crate) fn arguments_of(segment: &PathSegment) -> Vec<&GenericArgument> {
    match &segment.arguments {
        PathArguments::AngleBracketed(arguments) => arguments.args.iter().collect(),
        _ => Vec::new(),
    }
}
