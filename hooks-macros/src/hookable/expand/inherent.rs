//! An impl block whose hooks are those of the type.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{FnArg, Path, PathArguments, parse_quote};

use crate::hookable::attrs::is_lint_level;
use crate::hookable::expand::args_struct::args_struct;
use crate::hookable::expand::hook_point::{
    constants, heading, hook_point, hooked_methods, methods,
};
use crate::hookable::expand::lints::{as_in_trait, private, underscores, unused};
use crate::hookable::expand::names::{args_type, arguments, name_params, packing, typed, unpacked};
use crate::hookable::model::{Block, Item, Method};
use crate::hookable::parse::is_inner;
use crate::hookable::signature::receiver::Receiver;
use crate::hookable::signature::returned::Form;

// Input:  `impl Agent { pub async fn reply(&self, msg: Msg) -> Msg { .. } }`
// Output: the impl block, then per method an args struct and a hook point
pub(crate) fn block(block: &Block, base: Option<&Path>) -> TokenStream {
    let Block { attrs, unsafety, generics, self_ty, items, .. } = block;
    let of_trait = base.map(|base| quote!(#base for));
    // How visible a trait is, its impl does not say.
    let vis = |method: &Method| match base {
        Some(_) if !block.options.is_private => parse_quote!(pub),
        _ => method.vis.clone(),
    };
    let (impl_generics, _, clause) = generics.split_for_impl();
    let items = items.iter().map(|item| match item {
        Item::Plain(item) => item.clone(),
        Item::Hooked(method) => match &method.refused {
            Some(method) => method.clone(),
            None => wrapper(block, method),
        },
    });
    let constants =
        block.methods().map(|method| constants(block, method, &vis(method), &args_type(method)));
    let accepted = block.methods().filter(|method| method.refused.is_none());
    let bodies = accepted.map(|method| body(block, method, base));
    let structs = block.methods().map(|method| args_struct(block, method, &vis(method)));
    let points = block.methods().map(|method| hook_point(block, method));
    let methods = hooked_methods(block, None, &methods(block));
    let (inner, outer) = attrs.iter().partition::<Vec<_>, _>(|attr| is_inner(attr));
    let lints = attrs.iter().filter(|attr| is_lint_level(attr));
    let (lints_inner, lints_outer) = lints.partition::<Vec<_>, _>(|attr| is_inner(attr));
    let (unused, heading) = (unused(), heading(block));
    let (private, as_in_trait) = (private(), base.is_some().then(as_in_trait));
    quote! {
        #(#outer)*
        #unsafety impl #impl_generics #of_trait #self_ty #clause { #(#inner)* #(#items)* }
        #heading
        #unused
        impl #impl_generics #self_ty #clause { #(#constants)* }
        #private
        #as_in_trait
        #(#lints_outer)*
        impl #impl_generics #self_ty #clause { #(#lints_inner)* #(#bodies)* }
        #(#structs)*
        #(#points)*
        #methods
    }
}

// Input:  `pub async fn reply(&self, msg: Msg) -> Msg { .. }`
// Output: `pub async fn reply(&self, msg: Msg) -> Msg { if is_unhooked(self) { .. } .. run(..).await }`
fn wrapper(block: &Block, method: &Method) -> TokenStream {
    let Method { vis, cfgs, public_attrs, .. } = method;
    let runtime = &block.runtime;
    let mut sig = method.sig.clone();
    name_params(&mut sig, method);
    if let Some(FnArg::Receiver(receiver)) = sig.inputs.first_mut() {
        receiver.mutability = None;
    }
    let receiver = sig.receiver().map(|receiver| receiver.self_token);
    let args = Ident::new("args", Span::mixed_site());
    let pack = packing(block, method, &args);
    let (agent, call) = hooked_call(block, method, &quote!(#receiver), &args);
    let (names, body) = (arguments(method), method.body_ident.clone());
    let direct = guarded(method, quote!(#receiver.#body(#names)));
    let (is_unhooked, args_ty) = (runtime.private("is_unhooked"), args_type(method));
    let is_unhooked = quote!(#is_unhooked::<Self, #args_ty>(#agent));
    // A counted reference that the future owns is taken before the future is made.
    let before = (method.receiver == Receiver::CountedRef).then(|| {
        let (this, clone) = (this(), runtime.private("Clone"));
        quote!(let #this = #clone::clone(#receiver);)
    });
    let steps = match method.returned.form {
        // The body of a method that never returns gives a value that cannot be.
        Form::Value | Form::Async if method.returned.is_never() => {
            let wait = method.is_async().then(|| quote!(.await));
            quote!(if #is_unhooked { match #direct #wait {} } #before #pack match { #call } {})
        }
        Form::Value => quote!(if #is_unhooked { return #direct; } #before #pack #call),
        Form::Async => quote!(if #is_unhooked { return #direct.await; } #before #pack #call),
        Form::Opaque => {
            let either = runtime.private("EitherFuture");
            quote! {
                if #is_unhooked { return #either::Unhooked { future: #direct }; }
                #before
                #pack
                #either::Hooked { future: async move { #call } }
            }
        }
        Form::Boxed => {
            let boxed = runtime.private("Box");
            quote! {
                if #is_unhooked { return #direct; }
                #before
                #pack
                #boxed::pin(async move { #call })
            }
        }
    };
    let lints = underscores(method);
    quote! {
        #(#cfgs)* #(#public_attrs)* #lints
        #vis #sig { #steps }
    }
}

/// What the method is called on, and the call with its hooks.
fn hooked_call(
    block: &Block,
    method: &Method,
    receiver: &TokenStream,
    args: &Ident,
) -> (TokenStream, TokenStream) {
    let runtime = &block.runtime;
    let this = this();
    let wait = method.is_async().then(|| quote!(.await));
    let call = |run: &str, called_on: TokenStream, binding: TokenStream, hooked: TokenStream| {
        let run = runtime.private(run);
        quote!(#run(#called_on, #args, |#binding, #args| #hooked) #wait)
    };
    let run = if method.is_async() { "run" } else { "run_sync" };
    let run_alone = if method.is_async() { "run_alone" } else { "run_sync_alone" };
    let shared = runtime.private("SharedReceiver");
    let body = |this: &TokenStream| body_call(block, method, this, args);
    let steps = match method.receiver {
        Receiver::Shared if method.is_async() && method.is_local => {
            call(run_alone, quote!(#shared(#receiver)), quote!(#this), body(&quote!(#this)))
        }
        Receiver::Shared => {
            let run = runtime.private(run);
            quote!(#run(#receiver, #args) #wait)
        }
        Receiver::Exclusive => {
            let exclusive = runtime.private("ExclusiveReceiver");
            let call = call(run_alone, quote!(&#this), quote!(mut #this), body(&quote!(#this)));
            quote!(let #this = #exclusive::new(#receiver); #call)
        }
        Receiver::Counted => {
            let clone = runtime.private("Clone");
            let on = quote!(#shared::<Self>(&#this));
            let call = call(run_alone, on, quote!(_), body(receiver));
            quote!(let #this = #clone::clone(&#receiver); #call)
        }
        Receiver::CountedRef => {
            // Lent to the hooks and to the body.
            let on = quote!(#shared::<Self>(#this));
            let call = call(run_alone, on, quote!(_), body(&quote!(#this)));
            quote!(let #this = &#this; #call)
        }
    };
    let agent = match method.receiver {
        Receiver::Counted => quote!(&#receiver),
        _ => receiver.clone(),
    };
    (agent, steps)
}

// Output: `this.__hooks_reply(args.msg)`
fn body_call(block: &Block, method: &Method, this: &TokenStream, args: &Ident) -> TokenStream {
    let (body, unpacked) = (method.body_ident.clone(), unpacked(block, method, args));
    let call = guarded(method, quote!(#this.#body(#unpacked)));
    let borrows = method.is_async() && method.is_borrowing();
    if borrows { quote!(async move { #call.await }) } else { call }
}

fn guarded(method: &Method, call: TokenStream) -> TokenStream {
    if method.is_unsafe() { quote!(unsafe { #call }) } else { call }
}

fn this() -> Ident {
    Ident::new("this", Span::mixed_site())
}

// Input:  `/// Docs. pub async fn reply(&self, msg: Msg) -> Msg { .. }`
// Output: `async fn __hooks_reply(&self, msg: Msg) -> Msg { .. }`
fn body(block: &Block, method: &Method, base: Option<&Path>) -> TokenStream {
    let Method { cfgs, body_attrs, body, params, .. } = method;
    let mut sig = method.sig.clone();
    sig.ident = method.body_ident.clone();
    for (input, param) in typed(&mut sig).zip(params) {
        input.attrs.clone_from(&param.attrs);
        *input.pat = param.pattern.clone();
    }
    if method.returned.is_never() {
        let never = block.runtime.private("Never");
        sig.output = parse_quote!(-> #never);
    }
    // In an impl of a trait, its methods are there without being imported.
    let body = match base.map(without_arguments) {
        Some(path) => quote!({ #[allow(unused_imports)] use #path as _; #body }),
        None => body.to_token_stream(),
    };
    quote!(#(#cfgs)* #(#body_attrs)* #sig #body)
}

// Input:  `handlers::Handler<Job>`
// Output: `handlers::Handler`
fn without_arguments(path: &Path) -> Path {
    let mut path = path.clone();
    for segment in &mut path.segments {
        segment.arguments = PathArguments::None;
    }
    path
}
