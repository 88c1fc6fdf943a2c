//! `#[derive(Hookable)]`: finds the field of type `Hooks`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Field, Fields, Index, Member, Path, Type, parse_quote};

use crate::support::arguments::{self, parse_arguments};
use crate::support::errors::Errors;
use crate::support::runtime::Runtime;

// Input:  `struct Agent { name: String, hooks: Hooks }`
// Output: `impl ::hooks_core::HasHooks for Agent { fn hooks(&self) -> &Hooks { &self.hooks } }`
pub(crate) fn expand(item: TokenStream) -> TokenStream {
    let input: DeriveInput = match syn::parse2(item) {
        Ok(input) => input,
        Err(error) => return error.into_compile_error(),
    };
    let mut errors = Errors::default();
    let runtime = Runtime::new(parse_crate(&input, &mut errors));
    let field = find_field(&input, &mut errors);
    match errors.or(field) {
        Ok(field) => implementation(&input, &quote!({ &self.#field }), &runtime),
        Err(errors) => {
            // Something to go on with, so that nothing else is said to be missing.
            let stand_in = implementation(&input, &quote!({ loop {} }), &runtime);
            quote!(#errors #stand_in)
        }
    }
}

fn parse_crate(input: &DeriveInput, errors: &mut Errors) -> Option<Path> {
    let mut krate = None;
    for attr in input.attrs.iter().filter(|attr| attr.path().is_ident("hooks")) {
        match attr.meta.require_list() {
            Ok(list) => parse_arguments(list.tokens.clone(), &["crate"], errors, |_, input| {
                krate = Some(arguments::parse_crate(input)?);
                Ok(())
            }),
            Err(_) => errors.at(attr, "expected `#[hooks(crate = path)]`"),
        }
    }
    krate
}

fn find_field(input: &DeriveInput, errors: &mut Errors) -> Option<Member> {
    let fields = match &input.data {
        Data::Struct(data) => &data.fields,
        _ => {
            errors.at(&input.ident, "`Hookable` is derived for structs, which hold their hooks");
            return None;
        }
    };
    let mut found = fields.iter().enumerate().filter(|(_, field)| is_hooks(field));
    let Some((index, field)) = found.next() else {
        let cure = match fields {
            Fields::Named(_) => "`hooks: Hooks`",
            _ => "`Hooks`",
        };
        errors.at(&input.ident, format!("no field of type `Hooks` itself, add {cure}"));
        return None;
    };
    if let Some((_, second)) = found.next() {
        errors.at(&second.ty, "a second field of type `Hooks`, an agent has one");
    }
    let member = field.ident.clone().map(Member::Named);
    Some(member.unwrap_or_else(|| Member::Unnamed(Index::from(index))))
}

fn is_hooks(field: &Field) -> bool {
    match &field.ty {
        Type::Path(path) => path.path.segments.last().is_some_and(|last| last.ident == "Hooks"),
        _ => false,
    }
}

fn implementation(input: &DeriveInput, body: &TokenStream, runtime: &Runtime) -> TokenStream {
    let ident = &input.ident;
    let mut generics = input.generics.clone();
    if !generics.params.is_empty() {
        generics.make_where_clause().predicates.push(parse_quote!(Self: 'static));
    }
    let (impl_generics, ty_generics, clause) = generics.split_for_impl();
    let has_hooks = runtime.public("HasHooks");
    let hooks = runtime.public("Hooks");
    quote! {
        impl #impl_generics #has_hooks for #ident #ty_generics #clause {
            fn hooks(&self) -> &#hooks #body
        }
    }
}
