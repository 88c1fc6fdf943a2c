//! Borrows in types.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::Type;
use syn::visit_mut::VisitMut;

/// What cannot be kept in a struct without lifetimes.
pub(crate) enum Borrow {
    Lifetime(TokenStream),
    ImplTrait(TokenStream),
}

/// Finds the first borrow or nameless type; function pointers have lifetimes of their own.
#[derive(Default)]
pub(crate) struct FindBorrow {
    found: Option<Borrow>,
}

impl FindBorrow {
    pub(crate) fn in_type(ty: &Type) -> Option<Borrow> {
        let mut finder = Self::default();
        finder.visit_type_mut(&mut ty.clone());
        finder.found
    }
}

impl VisitMut for FindBorrow {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        match ty {
            Type::FnPtr(_) => {}
            Type::ImplTrait(ty) => {
                self.found.get_or_insert_with(|| Borrow::ImplTrait(ty.to_token_stream()));
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
            self.found.get_or_insert_with(|| Borrow::Lifetime(lifetime.to_token_stream()));
        }
    }
}
