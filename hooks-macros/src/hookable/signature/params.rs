//! Parameters: their names and types in the args struct, and how they go in and come out.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::spanned::Spanned;
use syn::visit_mut::VisitMut;
use syn::{Attribute, Pat, PatType, Type, parse_quote};

use crate::hookable::signature::owned::{Access, Owning, own};
use crate::support::arguments::{parse_arguments, parse_ident};
use crate::support::errors::Errors;
use crate::support::runtime::Runtime;
use crate::support::spans::respanned;

/// A parameter of a hooked method.
pub(crate) struct Param {
    /// `#[cfg]` and lint attributes.
    pub(crate) attrs: Vec<Attribute>,
    /// The name of its field.
    pub(crate) name: Ident,
    /// Its name in the public method: as it was written, so that other attributes find it.
    pub(crate) public_name: Ident,
    /// Its pattern in the body.
    pub(crate) pattern: Pat,
    /// Its type in the args struct.
    pub(crate) field_ty: Type,
    owning: Owning,
}

impl Param {
    pub(crate) fn new(
        index: usize,
        param: &PatType,
        self_ty: &Type,
        runtime: &Runtime,
        errors: &mut Errors,
    ) -> Self {
        let (mut field_ty, owning) = own(&param.ty, runtime, errors);
        ReplaceSelf(self_ty).visit_type_mut(&mut field_ty);
        let name = name_of(index, param, errors);
        Self::named(param, name, field_ty, owning)
    }

    /// A parameter that is handed on as it is.
    pub(crate) fn handed_on(index: usize, param: &PatType) -> Self {
        let name = match &*param.pat {
            Pat::Ident(pattern) if pattern.subpat.is_none() => without_underscore(&pattern.ident),
            _ => format_ident!("arg{index}"),
        };
        Self::named(param, name, (*param.ty).clone(), Owning::Already)
    }

    fn named(param: &PatType, name: Ident, field_ty: Type, owning: Owning) -> Self {
        let attrs = param.attrs.iter().filter(|attr| !attr.path().is_ident("arg"));
        let public_name = match &*param.pat {
            Pat::Ident(pattern) => pattern.ident.clone(),
            _ => name.clone(),
        };
        let pattern = (*param.pat).clone();
        Self { attrs: attrs.cloned().collect(), name, public_name, pattern, field_ty, owning }
    }

    /// Whether the body borrows it from the args struct.
    pub(crate) fn is_borrowed(&self) -> bool {
        matches!(self.owning, Owning::Reference | Owning::Optional(_))
    }

    /// Whether its type is `impl Trait`.
    pub(crate) fn is_open(&self) -> bool {
        use Owning::{AsRef, Into, Items, ToString};
        matches!(self.owning, Into | AsRef(_) | Items(_) | ToString)
    }

    /// Its `#[cfg]` attributes.
    pub(crate) fn cfgs(&self) -> impl Iterator<Item = &Attribute> + Clone {
        self.attrs.iter().filter(|attr| attr.path().is_ident("cfg"))
    }

    // Input:  `style: Option<&str>`
    // Output: `style: style.map(::hooks_core::__private::ToOwned::to_owned)`
    /// The field of the args struct, made from the parameter.
    pub(crate) fn pack(&self, runtime: &Runtime) -> TokenStream {
        let Self { attrs, name, public_name, owning, .. } = self;
        match owning {
            Owning::Already if name == public_name => quote!(#(#attrs)* #name),
            _ => {
                let value = into_owned(owning, &public_name.to_token_stream(), runtime);
                quote!(#(#attrs)* #name: #value)
            }
        }
    }

    // Input:  `style: Option<&str>`
    // Output: `args.style.as_deref()`
    /// The argument of the body, made from the args struct.
    pub(crate) fn unpack(&self, args: &Ident, runtime: &Runtime) -> TokenStream {
        let Self { name, public_name, .. } = self;
        let cfgs = self.cfgs();
        let value = match self.owning {
            Owning::Reference => quote!(&#args.#name),
            Owning::Optional(Access::Deref) => quote!(#args.#name.as_deref()),
            Owning::Optional(Access::Ref) => quote!(#args.#name.as_ref()),
            Owning::Optional(Access::Borrow) => {
                let borrowed = runtime.private("borrowed");
                quote!(#borrowed(&#args.#name))
            }
            Owning::Cow => {
                let cow = runtime.private("StdCow");
                respanned(quote!(#cow::from_owned(#args.#name)), public_name.span())
            }
            _ => quote!(#args.#name),
        };
        quote!(#(#cfgs)* #value)
    }
}

/// What the args struct keeps of a value.
fn into_owned(owning: &Owning, value: &TokenStream, runtime: &Runtime) -> TokenStream {
    let to_owned = runtime.private("ToOwned");
    match owning {
        Owning::Already => value.clone(),
        Owning::Reference => quote!(#to_owned::to_owned(#value)),
        Owning::Optional(_) => quote!(#value.map(#to_owned::to_owned)),
        Owning::Cow => {
            let cow = runtime.private("StdCow");
            respanned(quote!(#cow::into_owned(#value)), value.span())
        }
        Owning::Into => {
            let into = runtime.private("Into");
            quote!(#into::into(#value))
        }
        Owning::AsRef(target) => {
            let as_ref = runtime.private("AsRef");
            quote!(#to_owned::to_owned(#as_ref::<#target>::as_ref(&#value)))
        }
        Owning::ToString => {
            let to_string = runtime.private("ToString");
            quote!(#to_string::to_string(&#value))
        }
        Owning::Items(item) => {
            let collect = runtime.private("collect");
            let item = into_owned(item, &quote!(item), runtime);
            quote!(#collect(#value, |item| #item))
        }
    }
}

fn name_of(index: usize, param: &PatType, errors: &mut Errors) -> Ident {
    let mut given = None;
    for attr in param.attrs.iter().filter(|attr| attr.path().is_ident("arg")) {
        match attr.meta.require_list() {
            Ok(list) => {
                parse_arguments(list.tokens.clone(), &["name"], errors, |_, input| {
                    given = Some(parse_ident(input)?);
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
