//! From syntax to meaning: a hooked method.

use proc_macro2::Ident;
use quote::format_ident;
use syn::ext::IdentExt;
use syn::visit_mut::VisitMut;
use syn::{FnArg, Signature, Type};

use crate::hookable::attrs::{Attrs, HookOptions, Reentry, is_standard};
use crate::hookable::check::{
    check_of_trait, check_options_of_impl, check_signature, check_static_future,
};
use crate::hookable::model::{Block, Method, Role};
use crate::hookable::parse;
use crate::hookable::signature::generics::mentioned;
use crate::hookable::signature::owned::open_generics;
use crate::hookable::signature::params::Param;
use crate::hookable::signature::receiver::Receiver;
use crate::hookable::signature::refused::Named;
use crate::hookable::signature::returned::{Form, Returned};
use crate::support::errors::Errors;

impl Block {
    fn params(&self, sig: &Signature, open: &[(Ident, Type)], errors: &mut Errors) -> Vec<Param> {
        let params = sig.inputs.iter().filter_map(|input| match input {
            FnArg::Typed(param) => Some(param),
            FnArg::Receiver(_) => None,
        });
        let mut params: Vec<_> = params
            .enumerate()
            .map(|(index, param)| match self.role {
                Role::Impl(_) => Param::handed_on(index, param),
                _ => {
                    let mut param = param.clone();
                    let is_it = |(ident, _): &&(Ident, Type)| {
                        matches!(&*param.ty, Type::Path(path) if path.path.is_ident(ident))
                    };
                    if let Some((_, ty)) = open.iter().find(is_it) {
                        *param.ty = ty.clone();
                    }
                    Param::new(index, &param, &self.self_ty, &self.runtime, errors)
                }
            })
            .collect();
        for index in 1..params.len() {
            let (known, param) = params.split_at_mut(index);
            let param = &mut param[0];
            if known.iter().any(|known| known.name == param.name) {
                let message = format!(
                    "two arguments named `{}`, name one by `#[arg(name = \"..\")]`",
                    param.name
                );
                errors.at(&param.pattern, message);
                // So that this is said once.
                param.name = format_ident!("{}_{index}", param.name);
            }
        }
        params
    }

    /// The meaning of a hooked method.
    pub(crate) fn method(
        &self,
        method: &parse::Method,
        options: HookOptions,
        errors: &mut Errors,
    ) -> Method {
        let sig = &method.sig;
        let known_errors = errors.len();
        let open = match self.role {
            Role::Own(_) => open_generics(sig),
            Role::Trait(_) | Role::Impl(_) => Vec::new(),
        };
        check_signature(sig, &open, errors);
        let mut params = self.params(sig, &open, errors);
        let mut returned = Returned::of(sig, errors);
        let receiver = Receiver::of(sig, errors);
        match self.role {
            Role::Own(_) => check_static_future(sig, receiver, &params, &returned, errors),
            Role::Trait(_) | Role::Impl(_) => {
                check_of_trait(method, &options, receiver, &params, &returned, errors);
            }
        }
        let is_local = options.is_local
            || returned.is_local
            || matches!(self.role, Role::Own(Some(_))) && self.is_async_trait_local();
        let is_refused = errors.len() > known_errors;
        if is_refused {
            let mut named = Named { generics: &sig.generics, runtime: &self.runtime };
            named.visit_type_mut(&mut returned.ty);
            for param in &mut params {
                named.visit_type_mut(&mut param.field_ty);
            }
        }
        if matches!(self.role, Role::Impl(_)) {
            check_options_of_impl(sig, &options, errors);
        }
        let is_fallible = options.is_fallible.unwrap_or_else(|| returned.is_named_result());
        if let Some((Reentry::Deny, span)) = options.reentry
            && !is_fallible
        {
            let message = "a method that cannot fail cannot refuse a nested call: return a \
                           `Result`, or leave `reentry` out";
            errors.add(syn::Error::new(span, message));
        }
        let Attrs { cfgs, public_attrs, body_attrs } = Attrs::split(&method.attrs);
        let name = options.name.as_ref().filter(|_| matches!(self.role, Role::Own(_)));
        let name = name.unwrap_or(&sig.ident).unraw().to_string();
        let body_ident = match self.role {
            // The compiler says this name where the mark is forgotten in an impl.
            Role::Trait(_) | Role::Impl(_)
                if returned.form == Form::Value && !is_standard(method) =>
            {
                format_ident!("__hooks_mark_{name}_with_hook", span = sig.ident.span())
            }
            _ => format_ident!("__hooks_{name}", span = sig.ident.span()),
        };
        let args_ident = options.args.unwrap_or_else(|| {
            let name = pascal(&name);
            format_ident!("{}{name}Args", self.ident.unraw(), span = sig.ident.span())
        });
        Method {
            index: u32::try_from(self.methods().count()).unwrap_or(u32::MAX),
            name,
            vis: method.vis.clone(),
            cfgs,
            public_attrs,
            body_attrs,
            sig: sig.clone(),
            body: method.body.clone(),
            receiver,
            refused: is_refused.then(|| method.without_helpers()),
            is_fallible,
            is_local,
            reentry: options.reentry.map_or(Reentry::Skip, |(reentry, _)| reentry),
            body_ident,
            args_ident,
            args_generics: mentioned(&self.generics, params.iter().map(|param| &param.field_ty)),
            derives: options.derives.or_else(|| self.options.derives.clone()),
            params,
            returned,
        }
    }
}

// Input:  `model_call`, `_add`
// Output: `ModelCall`, `_Add`
/// In camel case; underscores that separate no words are kept, since they may tell names apart.
fn pascal(name: &str) -> String {
    let words = name.split('_').map(|word| {
        if word.is_empty() {
            return "_".to_owned();
        }
        let (first, rest) = word.split_at(word.chars().next().map_or(0, char::len_utf8));
        first.to_uppercase() + rest
    });
    words.collect()
}
