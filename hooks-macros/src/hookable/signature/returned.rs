//! The return type of a method: a value, or a future of one.

use syn::{
    GenericArgument, Lifetime, PathArguments, PathSegment, ReturnType, Signature, Type,
    TypeParamBound, parse_quote, punctuated::Punctuated, token::Plus,
};

use crate::support::borrows::{Borrow, FindBorrow};
use crate::support::errors::Errors;
use crate::support::types::ungrouped;

/// What a hooked method returns.
pub(crate) struct Returned {
    /// The value, of a future its output.
    pub(crate) ty: Type,
    pub(crate) form: Form,
    /// Whether it is a boxed future that says nothing of `Send`.
    pub(crate) is_local: bool,
    /// Of a future, whether it borrows nothing.
    pub(crate) is_static: Static,
}

/// Whether a future borrows nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Static {
    No,
    /// An object in a box that names no lifetime borrows nothing.
    Implied,
    /// It says `'static`.
    Written,
}

/// How a method gives its value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// `fn f() -> T`
    Value,
    /// `async fn f() -> T`
    Async,
    /// `fn f() -> impl Future<Output = T>`
    Opaque,
    /// `fn f() -> Pin<Box<dyn Future<Output = T>>>`
    Boxed,
}

impl Returned {
    pub(crate) fn of(sig: &Signature, errors: &mut Errors) -> Self {
        let written: Type = match &sig.output {
            ReturnType::Default => parse_quote!(()),
            ReturnType::Type(_, ty) => (**ty).clone(),
        };
        let returned = match (sig.asyncness, as_future(&written)) {
            (None, Some(future)) => future,
            (None, None) => Self::plain(written, Form::Value),
            (Some(_), _) => Self::plain(written, Form::Async),
        };
        check(&returned.ty, errors);
        returned
    }

    fn plain(ty: Type, form: Form) -> Self {
        Self { ty, form, is_local: false, is_static: Static::No }
    }

    /// Whether the name of the type ends in `Result`.
    pub(crate) fn is_named_result(&self) -> bool {
        match ungrouped(&self.ty) {
            Type::Path(path) => {
                let last = path.path.segments.last();
                last.is_some_and(|last| last.ident.to_string().ends_with("Result"))
            }
            _ => false,
        }
    }

    /// Whether the method never returns.
    pub(crate) fn is_never(&self) -> bool {
        matches!(ungrouped(&self.ty), Type::Never(_))
    }
}

// Input:  `impl Future<Output = T> + Send`, `Pin<Box<dyn Future<Output = T> + Send + 'a>>`
// Output: `T`, and how it comes
fn as_future(ty: &Type) -> Option<Returned> {
    match ungrouped(ty) {
        Type::ImplTrait(ty) => Some(Returned {
            ty: output_of(&ty.bounds)?,
            form: Form::Opaque,
            is_local: false,
            is_static: static_of(lifetime_of(&ty.bounds)),
        }),
        Type::Path(path) => {
            let last = path.path.segments.last()?;
            match last.ident.to_string().as_str() {
                "Pin" => {
                    let Type::Path(boxed) = ungrouped(argument_of(last)?) else { return None };
                    let boxed = boxed.path.segments.last().filter(|last| last.ident == "Box")?;
                    let Type::TraitObject(object) = ungrouped(argument_of(boxed)?) else {
                        return None;
                    };
                    Some(Returned {
                        ty: output_of(&object.bounds)?,
                        form: Form::Boxed,
                        is_local: !has_bound(&object.bounds, "Send"),
                        is_static: match lifetime_of(&object.bounds) {
                            None => Static::Implied,
                            lifetime => static_of(lifetime),
                        },
                    })
                }
                name @ ("BoxFuture" | "LocalBoxFuture") => Some(Returned {
                    ty: argument_of(last)?.clone(),
                    form: Form::Boxed,
                    is_local: name == "LocalBoxFuture",
                    is_static: static_of(lifetime_argument_of(last)),
                }),
                _ => None,
            }
        }
        _ => None,
    }
}

fn lifetime_of(bounds: &Punctuated<TypeParamBound, Plus>) -> Option<&Lifetime> {
    bounds.iter().find_map(|bound| match bound {
        TypeParamBound::Lifetime(lifetime) => Some(lifetime),
        _ => None,
    })
}

fn lifetime_argument_of(segment: &PathSegment) -> Option<&Lifetime> {
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else { return None };
    arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::Lifetime(lifetime) => Some(lifetime),
        _ => None,
    })
}

fn static_of(lifetime: Option<&Lifetime>) -> Static {
    let is_static = lifetime.is_some_and(|lifetime| lifetime.ident == "static");
    if is_static { Static::Written } else { Static::No }
}

/// The last type argument of a path's segment.
fn argument_of(segment: &PathSegment) -> Option<&Type> {
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else { return None };
    arguments.args.iter().rev().find_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}

/// The `T` of `Future<Output = T>`.
fn output_of(bounds: &Punctuated<TypeParamBound, Plus>) -> Option<Type> {
    let future = segments(bounds).find(|last| last.ident == "Future")?;
    let PathArguments::AngleBracketed(arguments) = &future.arguments else { return None };
    arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::AssocType(output) if output.ident == "Output" => Some(output.ty.clone()),
        _ => None,
    })
}

fn has_bound(bounds: &Punctuated<TypeParamBound, Plus>, name: &str) -> bool {
    segments(bounds).any(|last| last.ident == name)
}

fn segments(bounds: &Punctuated<TypeParamBound, Plus>) -> impl Iterator<Item = &PathSegment> {
    bounds.iter().filter_map(|bound| match bound {
        TypeParamBound::Trait(bound) => bound.path.segments.last(),
        _ => None,
    })
}

/// Refuses a return type that borrows or has no name.
fn check(ty: &Type, errors: &mut Errors) {
    match FindBorrow::in_type(ty) {
        Some(Borrow::Lifetime(tokens)) => errors.at(
            tokens,
            "post hooks may replace the output, so a hooked method returns an owned value: return \
             an owned type, or leave the method out with `#[hook(skip)]`",
        ),
        Some(Borrow::ImplTrait(tokens)) => errors.at(
            tokens,
            "an `impl Trait` output has no type that hooks could name: write `async fn` or name a \
             type, or leave the method out with `#[hook(skip)]`",
        ),
        None => {}
    }
}
