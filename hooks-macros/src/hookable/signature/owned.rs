//! Owned forms of borrowed and open parameters, for the args struct.

use proc_macro2::Ident;
use syn::{
    FnArg, GenericArgument, PathSegment, Signature, Type, TypeImplTrait, TypeParamBound,
    TypeReference, WherePredicate, parse_quote,
};

use crate::support::borrows::{Borrow, FindBorrow};
use crate::support::errors::Errors;
use crate::support::runtime::Runtime;
use crate::support::types::{argument_of_std, arguments_of, ungrouped};
use crate::support::words::Words;

/// How the args struct owns a parameter.
#[derive(Clone)]
pub(crate) enum Owning {
    /// It is owned already.
    Already,
    /// `&T` is kept as the owned form of `T`.
    Reference,
    /// `Option<&T>` is kept as an option of the owned form of `T`.
    Optional(Access),
    /// `Cow<'_, T>` is kept as the owned form of `T`.
    Cow,
    /// `impl Into<T>` is kept as `T`.
    Into,
    /// `impl AsRef<T>` is kept as the owned form of `T`.
    AsRef(Box<Type>),
    /// `impl ToString` is kept as a `String`.
    ToString,
    /// `impl IntoIterator<Item = T>` is kept as a `Vec` of what `T` is kept as.
    Items(Box<Owning>),
}

/// How an option of an owned value is borrowed again.
#[derive(Clone, Copy)]
pub(crate) enum Access {
    /// It is `Option<String>` or `Option<Vec<_>>`.
    Deref,
    /// It is an option of the type itself.
    Ref,
    /// What it is depends on the type's `ToOwned`.
    Borrow,
}

impl Access {
    fn is_of_unsized(self) -> bool {
        !matches!(self, Self::Ref)
    }
}

/// The owned form of a parameter's type, and how it comes about. What has none is an error, and kept
/// as if it borrowed nothing.
pub(crate) fn own(ty: &Type, runtime: &Runtime, errors: &mut Errors) -> (Type, Owning) {
    let ty = ungrouped(ty);
    if let Some(borrowed) = as_reference(ty) {
        return (referent(borrowed, runtime, errors), Owning::Reference);
    }
    if let Some(inner) = argument_of_std(ty, "Option", "option")
        && let Some(borrowed) = as_reference(inner)
    {
        let access = access_of(&borrowed.elem);
        let owned = referent(borrowed, runtime, errors);
        let option = runtime.private("Option");
        return (parse_quote!(#option<#owned>), Owning::Optional(access));
    }
    if let Some(inner) = argument_of_std(ty, "Cow", "borrow") {
        return (owned_form(inner, runtime, errors), Owning::Cow);
    }
    if let Type::ImplTrait(open) = ty
        && let Some((bound, last)) = conversion(open)
    {
        return own_open(bound, last, runtime, errors);
    }
    check_owned(ty, errors);
    (ty.clone(), Owning::Already)
}

// Input:  `Into<String>`, `AsRef<Path>`, `ToString`, `IntoIterator<Item = T>`
// Output: `String`, `<Path as ToOwned>::Owned`, `String`, `Vec<T>`
fn own_open(
    bound: &str,
    last: &PathSegment,
    runtime: &Runtime,
    errors: &mut Errors,
) -> (Type, Owning) {
    let arguments = arguments_of(last);
    let inner = arguments.iter().find_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ungrouped(ty)),
        GenericArgument::AssocType(item) if item.ident == "Item" => Some(ungrouped(&item.ty)),
        _ => None,
    });
    match (bound, inner) {
        ("Into", Some(into)) => {
            check_owned(into, errors);
            (into.clone(), Owning::Into)
        }
        ("AsRef", Some(target)) => {
            let owned = owned_form(target, runtime, errors);
            (owned, Owning::AsRef(Box::new(target.clone())))
        }
        ("IntoIterator", Some(item)) => {
            let (item, owning) = match item {
                Type::ImplTrait(_) => own(item, runtime, errors),
                _ => {
                    check_owned(item, errors);
                    (item.clone(), Owning::Already)
                }
            };
            let vec = runtime.private("Vec");
            (parse_quote!(#vec<#item>), Owning::Items(Box::new(owning)))
        }
        _ => {
            let string = runtime.private("String");
            (parse_quote!(#string), Owning::ToString)
        }
    }
}

/// Type parameters of a method with a bound that says what they can be turned into are kept as that, like
/// `impl Trait`: each as the `impl` of its bounds.
pub(crate) fn open_generics(sig: &Signature) -> Vec<(Ident, Type)> {
    let is_whole =
        |ty: &Type, ident: &Ident| matches!(ty, Type::Path(path) if path.path.is_ident(ident));
    let of_clause = |ident: &Ident| {
        let predicates = sig.generics.where_clause.iter().flat_map(|clause| &clause.predicates);
        let is_of = |ty: &Type| is_whole(ty, ident);
        let bounds = predicates.filter_map(move |predicate| match predicate {
            WherePredicate::Type(predicate) if is_of(&predicate.bounded_ty) => {
                Some(predicate.bounds.iter().cloned())
            }
            _ => None,
        });
        bounds.flatten().collect::<Vec<_>>()
    };
    // As the type of a parameter, or not at all.
    let is_kept = |ident: &Ident| {
        let of_param = |input: &FnArg| match input {
            FnArg::Typed(param) => {
                is_whole(&param.ty, ident) || !Words::of(&param.ty).contains(ident)
            }
            FnArg::Receiver(_) => true,
        };
        sig.inputs.iter().all(of_param) && !Words::of(&sig.output).contains(ident)
    };
    let open =
        sig.generics.type_params().filter(|param| is_kept(&param.ident)).filter_map(|param| {
            let bounds = param.bounds.iter().cloned().chain(of_clause(&param.ident));
            let bounds: Vec<_> = bounds.collect();
            if bounds.is_empty() {
                return None;
            }
            let open: TypeImplTrait = parse_quote!(impl #(#bounds)+*);
            conversion(&open)
                .is_some()
                .then(|| (param.ident.clone(), Type::ImplTrait(open.clone())))
        });
    open.collect()
}

/// The bound of an `impl Trait` that says what it can be turned into.
fn conversion(open: &TypeImplTrait) -> Option<(&'static str, &PathSegment)> {
    let known = ["Into", "AsRef", "IntoIterator", "ToString"];
    open.bounds.iter().find_map(|bound| {
        let TypeParamBound::Trait(bound) = bound else { return None };
        let last = bound.path.segments.last()?;
        let name = known.into_iter().find(|name| last.ident == name)?;
        let is_enough = match name {
            "ToString" => true,
            // Its owned form can be seen as it again, which that of another type need not.
            "AsRef" => arguments_of(last).iter().any(|argument| match argument {
                GenericArgument::Type(ty) => access_of(ty).is_of_unsized(),
                _ => false,
            }),
            _ => !arguments_of(last).is_empty(),
        };
        is_enough.then_some((name, last))
    })
}

/// A reference that must be made owned: `&'static T` is as good as owned.
fn as_reference(ty: &Type) -> Option<&TypeReference> {
    match ungrouped(ty) {
        Type::Reference(reference) => {
            let is_static = reference.lifetime.as_ref().is_some_and(|name| name.ident == "static");
            (!is_static || reference.mutability.is_some()).then_some(reference)
        }
        _ => None,
    }
}

/// The owned form of what a reference refers to.
fn referent(reference: &TypeReference, runtime: &Runtime, errors: &mut Errors) -> Type {
    if let Some(token) = reference.mutability {
        let message = "a `&mut` parameter cannot be kept for hooks: take the value and return it, \
                       or leave the method out with `#[hook(skip)]`";
        errors.at(token, message);
        return owned_form(&reference.elem, runtime, &mut Errors::default());
    }
    owned_form(&reference.elem, runtime, errors)
}

// Input:  `str`, `[T]`, `Path`, `Msg`
// Output: `String`, `Vec<T>`, `<Path as ToOwned>::Owned`, `Msg`
fn owned_form(ty: &Type, runtime: &Runtime, errors: &mut Errors) -> Type {
    let ty = ungrouped(ty);
    if let Type::TraitObject(object) = ty {
        let message = "a borrowed `dyn Trait` has no owned form that hooks could keep: take an \
                       `Arc<dyn Trait>`, or leave the method out with `#[hook(skip)]`";
        errors.at(object, message);
        return ty.clone();
    }
    check_owned(ty, errors);
    match ty {
        Type::Slice(slice) => {
            let (vec, elem) = (runtime.private("Vec"), &slice.elem);
            parse_quote!(#vec<#elem>)
        }
        Type::Path(path) if path.path.is_ident("str") => {
            let string = runtime.private("String");
            parse_quote!(#string)
        }
        _ if is_perhaps_unsized(ty) => {
            let to_owned = runtime.private("ToOwned");
            parse_quote!(<#ty as #to_owned>::Owned)
        }
        _ => ty.clone(),
    }
}

fn access_of(ty: &Type) -> Access {
    match ungrouped(ty) {
        Type::Slice(_) => Access::Deref,
        Type::Path(path) if path.path.is_ident("str") => Access::Deref,
        ty if is_perhaps_unsized(ty) => Access::Borrow,
        _ => Access::Ref,
    }
}

/// Whether a type is named like those that exist only behind a reference, as `Path` and `OsStr` are:
/// its owned form is what its `ToOwned` says.
fn is_perhaps_unsized(ty: &Type) -> bool {
    match ty {
        Type::Path(path) => path.path.segments.last().is_some_and(|last| {
            let name = last.ident.to_string();
            last.arguments.is_none() && (name.ends_with("Path") || name.ends_with("Str"))
        }),
        _ => false,
    }
}

/// Refuses what cannot be kept in a struct without lifetimes.
fn check_owned(ty: &Type, errors: &mut Errors) {
    match FindBorrow::in_type(ty) {
        Some(Borrow::Lifetime(tokens)) => errors.at(
            tokens,
            "hooks keep the arguments, so this borrow would have to be owned: `&T`, `&str`, `&[T]`, \
             `Option<&T>` and `Cow<'_, T>` are made owned for you, others are not; take an owned \
             type, or leave the method out with `#[hook(skip)]`",
        ),
        Some(Borrow::ImplTrait(tokens)) => errors.at(
            tokens,
            "hooks cannot name the type of this parameter: `impl Into<T>`, `impl AsRef<T>`, `impl \
             ToString` and `impl IntoIterator<Item = T>` are kept as what they give, others are \
             not; name a type, or leave the method out with `#[hook(skip)]`",
        ),
        None => {}
    }
}
