//! The types of a method that is refused, as they would be if nothing was wrong with them: the rest of
//! the program may go on naming its hook types, so that one mistake is one error.

use syn::visit_mut::VisitMut;
use syn::{GenericParam, Generics, Lifetime, Type, parse_quote};

use crate::support::runtime::Runtime;

/// Makes of a type one that can be named without lifetimes and without the generics of its method.
pub(crate) struct Named<'a> {
    pub(crate) generics: &'a Generics,
    pub(crate) runtime: &'a Runtime,
}

impl VisitMut for Named<'_> {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        match ty {
            Type::ImplTrait(_) | Type::TraitObject(_) | Type::Slice(_) => *ty = self.stand_in(),
            Type::Path(path) if path.path.get_ident().is_some_and(|ident| self.is_open(ident)) => {
                *ty = self.stand_in();
            }
            Type::Reference(reference) => {
                reference.lifetime = Some(parse_quote!('static));
                self.visit_type_mut(&mut reference.elem);
            }
            _ => syn::visit_mut::visit_type_mut(self, ty),
        }
    }

    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        *lifetime = parse_quote!('static);
    }
}

impl Named<'_> {
    fn stand_in(&self) -> Type {
        let refused = self.runtime.private("Refused");
        parse_quote!(#refused)
    }

    fn is_open(&self, ident: &proc_macro2::Ident) -> bool {
        self.generics
            .params
            .iter()
            .any(|param| matches!(param, GenericParam::Type(param) if param.ident == *ident))
    }
}
