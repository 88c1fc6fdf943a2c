//! Parameters: their names in the args struct, and how borrowed ones are owned there.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::visit_mut::VisitMut;
use syn::{
    Attribute, GenericArgument, LitStr, Pat, PatType, PathArguments, Type, TypeReference,
    parse_quote,
};

use crate::errors::Errors;
use crate::options::{parse_arguments, parse_value};
use crate::runtime::Runtime;
use crate::types::ungrouped;

/// A parameter of a hooked method.
pub(crate) struct Param {
    /// `#[cfg]` and lint attributes.
    pub(crate) attrs: Vec<Attribute>,
    /// The name of its field, and of the parameter of the public method.
    pub(crate) name: Ident,
    /// Its pattern in the body.
    pub(crate) pattern: Pat,
    /// Its type in the args struct.
    pub(crate) field_ty: Type,
    owning: Owning,
}

/// How the args struct owns what a parameter borrows.
enum Owning {
    /// It is owned already.
    Already,
    /// `&T` is kept as the owned form of `T`.
    Reference,
    /// `Option<&T>` is kept as an option of the owned form of `T`.
    Optional { deref: bool },
    /// `Cow<'_, T>` is kept as the owned form of `T`.
    Cow,
}

impl Param {
    pub(crate) fn new(
        index: usize,
        param: &PatType,
        self_ty: &Type,
        runtime: &Runtime,
        errors: &mut Errors,
    ) -> Self {
        let (field_ty, owning) = own(&param.ty, runtime, errors);
        let mut field_ty = field_ty;
        ReplaceSelf(self_ty).visit_type_mut(&mut field_ty);
        let attrs = param.attrs.iter().filter(|attr| !attr.path().is_ident("arg"));
        Self {
            attrs: attrs.cloned().collect(),
            name: name_of(index, param, errors),
            pattern: (*param.pat).clone(),
            field_ty,
            owning,
        }
    }

    /// A parameter that is handed on as it is.
    pub(crate) fn handed_on(index: usize, param: &PatType) -> Self {
        let attrs = param.attrs.iter().filter(|attr| !attr.path().is_ident("arg"));
        let name = match &*param.pat {
            Pat::Ident(pattern) if pattern.subpat.is_none() => without_underscore(&pattern.ident),
            _ => format_ident!("arg{index}"),
        };
        Self {
            attrs: attrs.cloned().collect(),
            name,
            pattern: (*param.pat).clone(),
            field_ty: (*param.ty).clone(),
            owning: Owning::Already,
        }
    }

    /// Whether the body borrows it from the args struct.
    pub(crate) fn is_borrowed(&self) -> bool {
        matches!(self.owning, Owning::Reference | Owning::Optional { .. })
    }

    // Input:  `style: Option<&str>`
    // Output: `style: style.map(::hooks_core::__private::ToOwned::to_owned)`
    /// The field of the args struct, made from the parameter.
    pub(crate) fn pack(&self, runtime: &Runtime) -> TokenStream {
        let Self { attrs, name, .. } = self;
        let to_owned = runtime.private("ToOwned");
        match self.owning {
            Owning::Already => quote!(#(#attrs)* #name),
            Owning::Reference => quote!(#(#attrs)* #name: #to_owned::to_owned(#name)),
            Owning::Optional { .. } => quote!(#(#attrs)* #name: #name.map(#to_owned::to_owned)),
            Owning::Cow => quote!(#(#attrs)* #name: #name.into_owned()),
        }
    }

    // Input:  `style: Option<&str>`
    // Output: `args.style.as_deref()`
    /// The argument of the body, made from the args struct.
    pub(crate) fn unpack(&self, args: &Ident, runtime: &Runtime) -> TokenStream {
        let Self { attrs, name, .. } = self;
        let cfgs = attrs.iter().filter(|attr| attr.path().is_ident("cfg"));
        let value = match self.owning {
            Owning::Already => quote!(#args.#name),
            Owning::Reference => quote!(&#args.#name),
            Owning::Optional { deref: true } => quote!(#args.#name.as_deref()),
            Owning::Optional { deref: false } => quote!(#args.#name.as_ref()),
            Owning::Cow => {
                let cow = runtime.private("Cow");
                quote!(#cow::Owned(#args.#name))
            }
        };
        quote!(#(#cfgs)* #value)
    }
}

fn name_of(index: usize, param: &PatType, errors: &mut Errors) -> Ident {
    let mut given = None;
    for attr in param.attrs.iter().filter(|attr| attr.path().is_ident("arg")) {
        match attr.meta.require_list() {
            Ok(list) => {
                parse_arguments(list.tokens.clone(), &["name"], errors, |_, input| {
                    given = Some(parse_value::<LitStr>(input)?.parse::<Ident>()?);
                    Ok(())
                });
            }
            Err(_) => errors.at(attr, "expected `#[arg(name = \"..\")]`"),
        }
    }
    match (&*param.pat, given) {
        (_, Some(name)) => name,
        (Pat::Ident(pattern), None) if pattern.subpat.is_none() => {
            without_underscore(&pattern.ident)
        }
        (Pat::Wild(_), None) => format_ident!("arg{index}"),
        (pattern, None) => {
            let message = "a pattern gives the argument no name, write \
                           `#[arg(name = \"..\")]` before it";
            errors.at(pattern, message);
            format_ident!("arg{index}")
        }
    }
}

// Input:  `_style`
// Output: `style`
/// The name of a parameter that the body leaves unused; hooks may use it.
fn without_underscore(ident: &Ident) -> Ident {
    let text = ident.to_string();
    let rest = text.trim_start_matches('_');
    match syn::parse_str::<Ident>(rest) {
        Ok(_) if rest != text => Ident::new(rest, ident.span()),
        _ => ident.clone(),
    }
}

/// The owned form of a parameter's type.
fn own(ty: &Type, runtime: &Runtime, errors: &mut Errors) -> (Type, Owning) {
    let ty = ungrouped(ty);
    if let Some(borrowed) = as_reference(ty) {
        if let Some(token) = borrowed.mutability {
            let message = "a `&mut` parameter cannot be kept for hooks: take the value and return \
                           it, or leave the method out with `#[hook(skip)]`";
            errors.at(token, message);
        }
        return (owned_form(&borrowed.elem, runtime, errors), Owning::Reference);
    }
    if let Some(inner) = single_argument(ty, "Option")
        && let Some(borrowed) = as_reference(inner)
    {
        let deref = is_unsized(&borrowed.elem);
        let owned = owned_form(&borrowed.elem, runtime, errors);
        let option = runtime.private("Option");
        return (parse_quote!(#option<#owned>), Owning::Optional { deref });
    }
    if let Some(inner) = single_argument(ty, "Cow") {
        return (owned_form(inner, runtime, errors), Owning::Cow);
    }
    check_owned(ty, errors);
    (ty.clone(), Owning::Already)
}

/// A reference that must be made owned: `&'static T` is as good as owned.
fn as_reference(ty: &Type) -> Option<&TypeReference> {
    match ungrouped(ty) {
        Type::Reference(reference) => {
            let is_static = reference.lifetime.as_ref().is_some_and(|name| name.ident == "static");
            (!is_static).then_some(reference)
        }
        _ => None,
    }
}

// Input:  `str`, `[T]`, `Path`, `Msg`
// Output: `String`, `Vec<T>`, `<Path as ToOwned>::Owned`, `Msg`
fn owned_form(ty: &Type, runtime: &Runtime, errors: &mut Errors) -> Type {
    let ty = ungrouped(ty);
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
        _ if is_unsized(ty) => {
            let to_owned = runtime.private("ToOwned");
            parse_quote!(<#ty as #to_owned>::Owned)
        }
        _ => ty.clone(),
    }
}

/// Whether a type is one of those that exist only behind a reference.
fn is_unsized(ty: &Type) -> bool {
    match ty {
        Type::Slice(_) => true,
        Type::Path(path) => path.path.segments.last().is_some_and(|last| {
            ["str", "Path", "OsStr", "CStr"].iter().any(|name| last.ident == name)
        }),
        _ => false,
    }
}

/// The `T` of `Name<T>`, `Name<'_, T>`.
fn single_argument<'a>(ty: &'a Type, name: &str) -> Option<&'a Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == name)?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    let mut types = arguments.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    });
    let first = types.next()?;
    types.next().is_none().then(|| ungrouped(first))
}

/// Refuses what cannot be kept in a struct without lifetimes.
fn check_owned(ty: &Type, errors: &mut Errors) {
    let mut ty = ty.clone();
    let mut finder = FindBorrow::default();
    finder.visit_type_mut(&mut ty);
    match finder.found {
        Some(Borrow::Lifetime(tokens)) => errors.at(
            tokens,
            "hooks keep the arguments, so this borrow would have to be owned: `&T`, `&str`, `&[T]`, \
             `Option<&T>` and `Cow<'_, T>` are made owned for you, others are not; take an owned \
             type, or leave the method out with `#[hook(skip)]`",
        ),
        Some(Borrow::ImplTrait(tokens)) => errors.at(
            tokens,
            "an `impl Trait` parameter has no type that hooks could name: name a type, or leave \
             the method out with `#[hook(skip)]`",
        ),
        None => {}
    }
}

/// What cannot be kept in a struct without lifetimes.
pub(crate) enum Borrow {
    Lifetime(TokenStream),
    ImplTrait(TokenStream),
}

/// Finds the first borrow or nameless type; function pointers have lifetimes of their own.
#[derive(Default)]
pub(crate) struct FindBorrow {
    pub(crate) found: Option<Borrow>,
}

impl VisitMut for FindBorrow {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        match ty {
            Type::FnPtr(_) => {}
            Type::ImplTrait(ty) => {
                self.found.get_or_insert(Borrow::ImplTrait(quote!(#ty)));
            }
            Type::Reference(reference) if reference.lifetime.is_none() => {
                let and = reference.and_token;
                self.found.get_or_insert(Borrow::Lifetime(quote!(#and)));
            }
            _ => syn::visit_mut::visit_type_mut(self, ty),
        }
    }

    fn visit_parenthesized_generic_arguments_mut(
        &mut self,
        _: &mut syn::ParenthesizedGenericArguments,
    ) {
    }

    fn visit_lifetime_mut(&mut self, lifetime: &mut syn::Lifetime) {
        if lifetime.ident != "static" {
            self.found.get_or_insert(Borrow::Lifetime(quote!(#lifetime)));
        }
    }
}

/// Writes the type for `Self`, which means something else in the args struct.
struct ReplaceSelf<'a>(&'a Type);

impl VisitMut for ReplaceSelf<'_> {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        match ty {
            Type::Path(path) if path.qself.is_none() && path.path.is_ident("Self") => {
                *ty = self.0.clone();
            }
            _ => syn::visit_mut::visit_type_mut(self, ty),
        }
    }

    fn visit_type_path_mut(&mut self, ty: &mut syn::TypePath) {
        self.qualify(&mut ty.qself, &mut ty.path);
        syn::visit_mut::visit_type_path_mut(self, ty);
    }

    fn visit_expr_path_mut(&mut self, expr: &mut syn::ExprPath) {
        self.qualify(&mut expr.qself, &mut expr.path);
        syn::visit_mut::visit_expr_path_mut(self, expr);
    }
}

impl ReplaceSelf<'_> {
    // Input:  `Self::SIZE`
    // Output: `<Agent>::SIZE`
    fn qualify(&self, qself: &mut Option<syn::QSelf>, path: &mut syn::Path) {
        let starts_with_self = path.segments.first().is_some_and(|first| first.ident == "Self");
        if qself.is_none() && path.leading_colon.is_none() && starts_with_self {
            let ty = self.0;
            let rest = path.segments.iter().skip(1);
            let qualified: syn::ExprPath = parse_quote!(<#ty>::#(#rest)::*);
            *qself = qualified.qself;
            *path = qualified.path;
        }
    }
}
