//! Tokens: what an impl block of a type becomes. Nothing here can fail.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::{FnArg, parse_quote};

use crate::attrs::is_lint_level;
use crate::model::{Block, Item, Method};
use crate::parse::is_inner;
use crate::parts::{
    args_struct, args_type, arguments, body_ident, constants, hook_point, hooked_methods, methods,
    name_params, private, return_type, typed, unused, with_ident,
};
use crate::receiver::Receiver;
use crate::returned::Form;

// Input:  `impl Agent { pub async fn reply(&self, msg: Msg) -> Msg { .. } }`
// Output: the impl block, then per method an args struct and a hook point
pub(crate) fn block(block: &Block) -> TokenStream {
    let Block { attrs, generics, self_ty, items, .. } = block;
    let (impl_generics, _, clause) = generics.split_for_impl();
    let items = items.iter().map(|item| match item {
        Item::Plain(item) => item.clone(),
        Item::Hooked(method) => wrapper(block, method),
    });
    let constants =
        block.methods().map(|method| constants(block, method, &method.vis, &args_type(method)));
    let bodies = block.methods().map(|method| body(block, method));
    let structs = block.methods().map(|method| args_struct(block, method, &method.vis));
    let points = block.methods().map(|method| hook_point(block, method));
    let methods = hooked_methods(block, None, &methods(block));
    let (inner, outer) = attrs.iter().partition::<Vec<_>, _>(|attr| is_inner(attr));
    let lints = attrs.iter().filter(|attr| is_lint_level(attr));
    let (lints_inner, lints_outer) = lints.partition::<Vec<_>, _>(|attr| is_inner(attr));
    let (unused, private) = (unused(), private());
    quote! {
        #(#outer)*
        impl #impl_generics #self_ty #clause { #(#inner)* #(#items)* }
        #unused
        impl #impl_generics #self_ty #clause { #(#constants)* }
        #private
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
    let Method { vis, cfgs, public_attrs, params, .. } = method;
    let runtime = &block.runtime;
    let args_ty = args_type(method);
    let args_ident = &method.args_ident;
    let body = body_ident(method);
    let this = Ident::new("this", Span::mixed_site());
    let args = Ident::new("args", Span::mixed_site());

    let mut sig = method.sig.clone();
    let receiver = sig.receiver().map(|receiver| receiver.self_token);
    name_params(&mut sig, method);
    if let Some(FnArg::Receiver(receiver)) = sig.inputs.first_mut() {
        receiver.mutability = None;
    }

    let names = arguments(method);
    let packed = params.iter().map(|param| param.pack(runtime));
    let unpacked: Vec<_> = params.iter().map(|param| param.unpack(&args, runtime)).collect();
    let wait = method.is_async().then(|| quote!(.await));
    let guarded = |call: TokenStream| {
        if method.is_unsafe() { quote!(unsafe { #call }) } else { call }
    };
    let direct = guarded(quote!(#receiver.#body(#names)#wait));
    let hooked = |this: TokenStream| {
        if is_unpacked_apart(method) {
            let with = with_ident(method);
            return quote!(#this.#with(#args));
        }
        let hooked = guarded(quote!(#this.#body(#(#unpacked),*)));
        let borrows = method.is_async() && method.is_borrowing();
        if borrows { quote!(async move { #hooked.await }) } else { hooked }
    };
    let (shared, exclusive) =
        (runtime.private("SharedReceiver"), runtime.private("ExclusiveReceiver"));
    let call = |run: &str, called_on: TokenStream, binding: TokenStream, hooked: TokenStream| {
        let run = runtime.private(run);
        quote!(#run(#called_on, #args, |#binding, #args| #hooked) #wait)
    };
    let mut agent = quote!(#receiver);
    let call = match (method.is_async(), method.receiver) {
        (true, Receiver::Shared) if method.is_local => {
            let called_on = quote!(#shared(#receiver));
            call("run_alone", called_on, quote!(#this), hooked(quote!(#this)))
        }
        (is_async, Receiver::Shared) => {
            let run = if is_async { "run" } else { "run_sync" };
            call(run, quote!(#receiver), quote!(#this), hooked(quote!(#this)))
        }
        (is_async, Receiver::Exclusive) => {
            let run = if is_async { "run_alone" } else { "run_sync_alone" };
            let call = call(run, quote!(&#this), quote!(mut #this), hooked(quote!(#this)));
            quote!(let #this = #exclusive::new(#receiver); #call)
        }
        (is_async, Receiver::Counted) => {
            agent = quote!(&#receiver);
            let run = if is_async { "run_alone" } else { "run_sync_alone" };
            let called_on = quote!(#shared::<Self>(&#this));
            let call = call(run, called_on, quote!(_), hooked(quote!(#receiver)));
            let clone = runtime.private("Clone");
            quote!(let #this = #clone::clone(&#receiver); #call)
        }
    };
    // The body of a method that never returns gives a value that cannot be.
    let (direct, call) = if method.returned.is_never() {
        (quote!(match #direct {}), quote!(match { #call } {}))
    } else {
        (quote!(return #direct;), call)
    };
    let is_unhooked = runtime.private("is_unhooked");
    let steps = quote! {
        if #is_unhooked::<Self, #args_ty>(#agent) {
            #direct
        }
        let #args = #args_ident { #(#packed),* };
        #call
    };
    let steps = match method.returned.form {
        Form::Value | Form::Async => steps,
        Form::Opaque => quote!(async move { #steps }),
        Form::Boxed => {
            let boxed = runtime.private("Box");
            quote!(#boxed::pin(async move { #steps }))
        }
    };
    quote! {
        #(#cfgs)* #(#public_attrs)*
        #vis #sig { #steps }
    }
}

// Input:  `/// Docs. pub async fn reply(&self, msg: Msg) -> Msg { .. }`
// Output: `async fn __hooks_reply(&self, msg: Msg) -> Msg { .. }`
fn body(block: &Block, method: &Method) -> TokenStream {
    let Method { cfgs, body_attrs, body, params, .. } = method;
    let mut sig = method.sig.clone();
    sig.ident = body_ident(method);
    for (input, param) in typed(&mut sig).zip(params) {
        input.attrs.clone_from(&param.attrs);
        *input.pat = param.pattern.clone();
    }
    if method.returned.is_never() {
        let never = block.runtime.private("Never");
        sig.output = parse_quote!(-> #never);
    }
    let unpacking = is_unpacked_apart(method).then(|| unpacking(block, method));
    quote!(#(#cfgs)* #(#body_attrs)* #sig #body #unpacking)
}

/// Whether what unpacks the arguments is a function of its own: the call and around hooks share it.
fn is_unpacked_apart(method: &Method) -> bool {
    method.is_async() && method.is_borrowing() && method.receiver == Receiver::Shared
}

// Input:  `async fn reply(&self, msg: &Msg) -> Msg { .. }`
// Output: `async fn __hooks_reply_with(&self, args: AgentReplyArgs) -> Msg { self.__hooks_reply(&args.msg).await }`
fn unpacking(block: &Block, method: &Method) -> TokenStream {
    let Method { cfgs, params, .. } = method;
    let args = Ident::new("args", Span::mixed_site());
    let unpacked = params.iter().map(|param| param.unpack(&args, &block.runtime));
    let (with, body) = (with_ident(method), body_ident(method));
    let (args_ty, returned) = (args_type(method), return_type(block, method));
    let call = quote!(self.#body(#(#unpacked),*));
    let call = if method.is_unsafe() { quote!(unsafe { #call }) } else { call };
    quote! {
        #(#cfgs)*
        async fn #with(&self, #args: #args_ty) -> #returned { #call.await }
    }
}
