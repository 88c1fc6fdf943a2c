//! Prints the implementation of `AgentHook`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ItemImpl;

use crate::agent_hook::around::AroundHandler;
use crate::agent_hook::handlers::Handler;
use crate::agent_hook::options::{Class, Options};

// Output: `impl AgentHook for Guard { fn events(&self) -> .. async fn on_event(..) .. }`
pub(super) fn hook_impl(
    block: &ItemImpl,
    options: &Options,
    handlers: &[Handler],
    arounds: &[AroundHandler],
) -> TokenStream {
    let Options { krate, name, priority, tools, inherit, once, class: _ } = options;
    let (impl_generics, _, where_clause) = block.generics.split_for_impl();
    let ty = &block.self_ty;
    let result = quote!(#krate::hooks_core::HookResult<#krate::event::Flow>);
    let name = name.as_ref().map(|name| {
        quote! {
            fn name(&self) -> #krate::hooks_core::__private::String {
                #krate::hooks_core::__private::ToOwned::to_owned(#name)
            }
        }
    });
    let priority =
        priority.as_ref().map(|priority| quote!(fn priority(&self) -> i32 { #priority }));
    let tools = tools
        .as_ref()
        .map(|tools| quote!(fn tools(&self) -> #krate::tool::Tools { (#tools)(self) }));
    let inherit = inherit.then(|| {
        quote!(
            fn inherit(&self) -> bool {
                true
            }
        )
    });
    let once = once.then(|| {
        quote!(
            fn once(&self) -> bool {
                true
            }
        )
    });
    let mask = |method: &str, chosen: &dyn Fn(&Handler) -> bool| {
        let method = format_ident!("{method}");
        let kinds = handlers.iter().filter(|handler| chosen(handler)).map(|handler| {
            let Handler { variant, cfgs, .. } = handler;
            quote!(#(#cfgs)* #krate::event::EventKind::#variant)
        });
        quote! {
            fn #method(&self) -> #krate::event::EventMask {
                const { #krate::event::EventMask::of(&[#(#kinds),*]) }
            }
        }
    };
    let events = mask("events", &|_| true);
    let sync_events = mask("sync_events", &|handler| !handler.is_async);
    let answers = mask("answers", &|handler| handler.decides);
    let arms = |chosen: &dyn Fn(&Handler) -> bool| {
        let handlers = handlers.iter().filter(|handler| chosen(handler));
        let arms = handlers.map(|Handler { name, variant, is_async, answer, cfgs, .. }| {
            let wait = is_async.then(|| quote!(.await));
            let call = quote!(Self::#name(self, event)#wait);
            // An answer that is none is shown where it is written.
            let shown = Ident::new("answer", answer.resolved_at(Span::mixed_site()));
            quote! {
                #(#cfgs)*
                #krate::event::HookEvent::#variant(event) => {
                    let #shown = #call;
                    #krate::event::IntoFlow::into_flow(#shown)
                }
            }
        });
        quote! {
            match event {
                #(#arms)*
                _ => ::core::result::Result::Ok(#krate::event::Flow::Continue),
            }
        }
    };
    // An agent calls `on_event_now` for sync handlers; whoever calls `on_event` gets them too.
    let (waiting, now) = (arms(&|_| true), arms(&|handler| !handler.is_async));
    let around = around_methods(krate, arounds);
    quote! {
        #[allow(
            clippy::let_unit_value,
            clippy::match_single_binding,
            clippy::unit_arg,
            clippy::unused_async
        )]
        impl #impl_generics #krate::hook::AgentHook for #ty #where_clause {
            #name
            #priority
            #events
            #sync_events
            #answers
            #tools
            #inherit
            #once
            async fn on_event(&self, event: &mut #krate::event::HookEvent<'_>) -> #result {
                #waiting
            }
            fn on_event_now(&self, event: &mut #krate::event::HookEvent<'_>) -> #result {
                #now
            }
            #around
        }
    }
}

// Output: `inventory::submit! { LinkedAgentHook { .. } }`
pub(super) fn submission(block: &ItemImpl, options: &Options, class: &Class) -> TokenStream {
    let krate = &options.krate;
    let ty = &block.self_ty;
    let agent = class
        .agent
        .as_ref()
        .map_or_else(|| quote!(#krate::react::ReActAgent), |agent| quote!(#agent));
    // At the argument: a type without a default is shown there.
    let hook = quote_spanned!(class.span=> <#ty as ::core::default::Default>::default());
    quote! {
        #krate::hooks_core::__private::inventory::submit! {
            #krate::agent::LinkedAgentHook {
                place: (::core::module_path!(), ::core::line!()),
                install: || #krate::hook::link::<#agent>(#hook),
            }
        }
    }
}

// Output: `fn around(&self) -> AroundMask { .. } async fn around_model_call(..) { .. }`
fn around_methods(krate: &TokenStream, arounds: &[AroundHandler]) -> Option<TokenStream> {
    if arounds.is_empty() {
        return None;
    }
    let masks = arounds.iter().map(|AroundHandler { around, cfgs, .. }| {
        let mask = format_ident!("{}", around.mask);
        quote!(#(#cfgs)* #krate::hook::AroundMask::#mask)
    });
    let methods = arounds.iter().map(|AroundHandler { name, around, output: place, cfgs }| {
        let path = |(module, name): (&str, &str)| {
            let (module, name) = (format_ident!("{module}"), format_ident!("{name}"));
            quote!(#krate::#module::#name)
        };
        let (output, error) = (path(around.output), path(around.error));
        let [method, call, next] =
            [around.method, around.call, around.next].map(|name| format_ident!("{name}"));
        // At its output: one that does not fit is shown there.
        let run = quote_spanned!(*place=> Self::#name(self, call, next).await);
        quote! {
            #(#cfgs)*
            async fn #method(
                &self,
                call: #krate::hook::#call<'_>,
                next: #krate::hook::#next<'_>,
            ) -> ::core::result::Result<#output, #error> {
                #run
            }
        }
    });
    Some(quote! {
        fn around(&self) -> #krate::hook::AroundMask {
            const { #krate::hook::AroundMask::of(&[#(#masks),*]) }
        }
        #(#methods)*
    })
}
