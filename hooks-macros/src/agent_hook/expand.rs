//! Prints the implementation of `AgentHook`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ItemImpl;

use crate::agent_hook::arguments::{Class, Options};
use crate::agent_hook::around::AroundHandler;
use crate::agent_hook::handlers::{Handled, Handler, rest_of};

// Output: `impl AgentHook for Guard { fn events(&self) -> .. async fn on_event(..) .. }`
pub(super) fn hook_impl(
    block: &ItemImpl,
    options: &Options,
    handlers: &[Handler],
    arounds: &[AroundHandler],
) -> TokenStream {
    let krate = &options.krate;
    let (impl_generics, _, where_clause) = block.generics.split_for_impl();
    let ty = &block.self_ty;
    let described = description(options);
    let masks = masks(options, handlers);
    let result = quote!(#krate::hooks_core::HookResult<#krate::event::Flow>);
    // An agent calls `on_event_now` for sync handlers; whoever calls `on_event` gets them too.
    let waits = handlers.iter().any(|handler| handler.is_async).then(|| {
        let handle = match_event(krate, handlers.iter());
        quote! {
            async fn on_event(&self, event: &mut #krate::event::HookEvent<'_>) -> #result {
                #handle
            }
        }
    });
    let is_sync = |handler: &&Handler| !handler.is_async;
    let now = handlers.iter().any(|handler| is_sync(&handler)).then(|| {
        let handle = match_event(krate, handlers.iter().filter(is_sync));
        quote! {
            fn on_event_now(&self, event: &mut #krate::event::HookEvent<'_>) -> #result {
                #handle
            }
        }
    });
    let around = around_methods(options, arounds);
    quote! {
        #[allow(
            clippy::let_unit_value,
            clippy::match_single_binding,
            clippy::unit_arg,
            clippy::unused_async
        )]
        impl #impl_generics #krate::hook::AgentHook for #ty #where_clause {
            #described
            #masks
            #waits
            #now
            #around
        }
    }
}

// Input:  `name = "guard", priority = 10, inherit, tools = Self::tools_of`
// Output: `fn name(&self) -> String { .. } fn priority(&self) -> i32 { 10 } ..`
fn description(options: &Options) -> TokenStream {
    let krate = &options.krate;
    let private = quote!(#krate::hooks_core::__private);
    let name = options.value("name").map(|name| {
        quote! {
            fn name(&self) -> #private::String {
                ::core::convert::Into::into(#name)
            }
        }
    });
    let priority =
        options.value("priority").map(|priority| quote!(fn priority(&self) -> i32 { #priority }));
    let role = options.value("role").map(|role| {
        quote! {
            fn role(&self) -> ::core::option::Option<#krate::hooks_core::HookRole> {
                ::core::convert::Into::into(#role)
            }
        }
    });
    let relations = options.relations().map(|(relation, names)| {
        let relation = format_ident!("{relation}");
        quote!(#(.#relation(#names))*)
    });
    let relations: TokenStream = relations.collect();
    let order = (!relations.is_empty()).then(|| {
        let order = quote!(#krate::hooks_core::HookOrder);
        quote!(fn order(&self) -> #order { #order::new() #relations })
    });
    let flags = options.flags().map(|(flag, value)| {
        // The method of this name is of `AgentHookExt`.
        let flag = if flag == "parallel" { "is_parallel" } else { flag };
        let flag = format_ident!("{flag}");
        let value = value.map_or_else(|| quote!(true), ToTokens::to_token_stream);
        quote!(fn #flag(&self) -> bool { #value })
    });
    let functions = options.functions().map(|(method, function)| {
        let shared = |of: TokenStream| quote!(#private::Arc<dyn #of>);
        let (output, coerced) = match method {
            "tools" => (quote!(#krate::tool::Tools), None),
            "tool_names" => (quote!(#private::Vec<#private::String>), None),
            "tool_labels" => {
                let labels = quote!(#krate::hook::ToolLabels);
                (quote!(::core::option::Option<#labels>), Some(labels))
            }
            "plan_check" => {
                let check = quote!(#krate::hook::PlanCheck);
                (quote!(::core::option::Option<#check>), Some(check))
            }
            "shadow_parts" => {
                let part = quote!(#krate::hook::ShadowPart);
                (quote!(#private::Vec<#part>), None)
            }
            "watcher" => {
                let watcher = shared(quote!(#krate::hook::HookWatcher));
                (quote!(::core::option::Option<#watcher>), Some(watcher))
            }
            "foreign_guard" => {
                let guard = shared(quote!(#krate::call::ForeignGuard));
                (quote!(::core::option::Option<#guard>), Some(guard))
            }
            _ => (quote!(::core::option::Option<#private::String>), None),
        };
        // A closure returns the type of the hook's own value.
        let coerced = coerced.map(|shared| quote!(.map(|value| -> #shared { value })));
        let method = format_ident!("{method}");
        quote!(fn #method(&self) -> #output { (#function)(self) #coerced })
    });
    quote!(#name #priority #order #role #(#flags)* #(#functions)*)
}

// Output: `fn events(&self) -> EventMask { .. } fn sync_events(..) .. fn answers(..) ..`
fn masks(options: &Options, handlers: &[Handler]) -> TokenStream {
    let krate = &options.krate;
    let mask = |method: &str, chosen: &dyn Fn(&Handler) -> bool| {
        let kinds = handlers.iter().filter(|handler| chosen(handler)).flat_map(|handler| {
            let cfgs = &handler.cfgs;
            let kinds = match &handler.event {
                Handled::One(variant) => vec![variant.clone()],
                Handled::Rest => rest_of(handlers),
            };
            kinds.into_iter().map(move |kind| quote!(#(#cfgs)* #krate::event::EventKind::#kind))
        });
        let mask = quote!(#krate::event::EventMask);
        let mut handled = quote!(const { #mask::of(&[#(#kinds),*]) });
        if let Some(given) = options.value(method) {
            // What an argument says is never more than what is handled.
            let given = quote!(<#mask as ::core::convert::From<_>>::from(#given));
            handled = quote!(#mask::intersection(#handled, #given));
        }
        let method = format_ident!("{method}");
        quote!(fn #method(&self) -> #mask { #handled })
    };
    let events = mask("events", &|_| true);
    let sync_events = mask("sync_events", &|handler| !handler.is_async);
    let answers = mask("answers", &|handler| handler.decides);
    quote!(#events #sync_events #answers)
}

// Output: `match event { HookEvent::PreActing(event) => { .. } _ => Ok(Flow::Continue) }`
fn match_event<'a>(
    krate: &TokenStream,
    handlers: impl Iterator<Item = &'a Handler>,
) -> TokenStream {
    let mut arms = TokenStream::new();
    let mut rest = quote!(::core::result::Result::Ok(#krate::event::Flow::Continue));
    for Handler { name, event, is_async, answer, cfgs, .. } in handlers {
        let wait = is_async.then(|| quote!(.await));
        // An answer that is none is shown where it is written.
        let shown = Ident::new("answer", answer.resolved_at(Span::mixed_site()));
        let run = quote! {
            {
                let #shown = Self::#name(self, event)#wait;
                #krate::event::IntoFlow::into_flow(#shown)
            }
        };
        match event {
            Handled::Rest => rest = run,
            Handled::One(variant) => {
                arms.extend(quote!(#(#cfgs)* #krate::event::HookEvent::#variant(event) => #run));
            }
        }
    }
    quote! {
        match event {
            #arms
            _ => #rest,
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
fn around_methods(options: &Options, arounds: &[AroundHandler]) -> Option<TokenStream> {
    if arounds.is_empty() {
        return None;
    }
    let krate = &options.krate;
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
    let mask = quote!(#krate::hook::AroundMask);
    let mut around = quote!(const { #mask::of(&[#(#masks),*]) });
    if let Some(given) = options.value("around") {
        around = quote!(#mask::intersection(#around, #given));
    }
    let answers = options.value("answers_around").map(|given| {
        let around = quote!(#krate::hook::AgentHook::around(self));
        quote!(fn answers_around(&self) -> #mask { #mask::intersection(#around, #given) })
    });
    Some(quote! {
        fn around(&self) -> #mask {
            #around
        }
        #answers
        #(#methods)*
    })
}
