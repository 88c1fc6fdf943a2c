//! Borrows in types.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::visit_mut::VisitMut;
use syn::{GenericParam, TraitBound, Type};

/// What cannot be kept in a struct without lifetimes.
pub(crate) enum Borrow {
    Lifetime(TokenStream),
    ImplTrait(TokenStream),
}

/// Finds the first borrow or nameless type; function pointers and `for<'a> ..` have lifetimes of their own.
#[derive(Default)]
pub(crate) struct FindBorrow {
    /// The lifetimes that a `for<..>` around has declared.
    declared: Vec<Ident>,
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

    fn visit_trait_bound_mut(&mut self, bound: &mut TraitBound) {
        let outer = self.declared.len();
        let declared = bound.lifetimes.take().into_iter().flat_map(|bound| bound.lifetimes);
        self.declared.extend(declared.filter_map(|param| match param {
            GenericParam::Lifetime(param) => Some(param.lifetime.ident),
            _ => None,
        }));
        syn::visit_mut::visit_trait_bound_mut(self, bound);
        self.declared.truncate(outer);
    }

    fn visit_lifetime_mut(&mut self, lifetime: &mut syn::Lifetime) {
        if lifetime.ident != "static" && !self.declared.contains(&lifetime.ident) {
            self.found.get_or_insert_with(|| Borrow::Lifetime(lifetime.to_token_stream()));
        }
    }
}
