//! Lints of the compiler and of clippy that an expansion allows.

use proc_macro2::TokenStream;
use quote::quote;

use crate::hookable::model::Method;
use crate::hookable::signature::params::Param;

/// What is there for hooks may go unused, since not every point has one, and repeats types that the
/// method answers for.
pub(crate) fn unused() -> TokenStream {
    quote!(#[allow(dead_code, private_interfaces)])
}

/// Lints that clippy reports of private methods only; a body has the signature of its public method.
pub(crate) fn private() -> TokenStream {
    quote! {
        #[allow(
            non_snake_case, unused_braces, clippy::needless_pass_by_value, clippy::trivially_copy_pass_by_ref,
            clippy::no_effect_underscore_binding, clippy::unnecessary_wraps, clippy::unused_async,
            clippy::unused_self, clippy::used_underscore_binding
        )]
    }
}

/// Lints that say nothing of the signatures of an impl of a trait, which the trait has chosen.
pub(crate) fn as_in_trait() -> TokenStream {
    quote! {
        #[allow(
            unused_lifetimes, clippy::borrowed_box, clippy::fn_params_excessive_bools,
            clippy::large_types_passed_by_value, clippy::option_option, clippy::ptr_arg, clippy::ref_option,
            clippy::too_many_arguments, clippy::type_complexity, clippy::unnecessary_box_returns, clippy::vec_box
        )]
    }
}

/// A parameter that is named as if it were not used is used by the wrapper.
pub(crate) fn underscores(method: &Method) -> Option<TokenStream> {
    let is_one = |param: &Param| param.public_name.to_string().starts_with('_');
    let has_one = method.params.iter().any(is_one);
    has_one.then(|| quote!(#[allow(clippy::used_underscore_binding)]))
}
