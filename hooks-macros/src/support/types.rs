//! Types as they are meant.

use syn::{
    FnArg, GenericArgument, PathArguments, PathSegment, Type, TypeParamBound, TypePath,
    WhereClause, WherePredicate,
};

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

/// The predicate `Self: Sized` of a clause.
pub(crate) fn sized(clause: Option<&WhereClause>) -> Option<&WherePredicate> {
    let is_sized = |bound: &TypeParamBound| match bound {
        TypeParamBound::Trait(bound) => {
            bound.path.segments.last().is_some_and(|it| it.ident == "Sized")
        }
        _ => false,
    };
    clause.into_iter().flat_map(|clause| &clause.predicates).find(|predicate| match predicate {
        WherePredicate::Type(predicate) => {
            matches!(&predicate.bounded_ty, Type::Path(path) if path.path.is_ident("Self"))
                && predicate.bounds.iter().any(is_sized)
        }
        _ => false,
    })
}

/// The type of a parameter that is an `impl Trait`.
pub(crate) fn open_type(input: &FnArg) -> Option<&Type> {
    match input {
        FnArg::Typed(param) => {
            matches!(ungrouped(&param.ty), Type::ImplTrait(_)).then_some(&*param.ty)
        }
        FnArg::Receiver(_) => None,
    }
}
