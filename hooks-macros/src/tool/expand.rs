//! The tokens of tools.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{ItemImpl, Visibility};

use crate::support::spans::{respanned, shown_at};
use crate::tool::model::{Run, Tool};
use crate::tool::options::Ask;
use crate::tool::params::{Argument, Kind, Passing};

// Input:  `async fn weather(city: String) -> String`
// Output: `struct Weather;`, `impl Tool for Weather { .. }`
pub(crate) fn function(
    krate: &TokenStream,
    vis: &Visibility,
    type_name: &Ident,
    tool: &Tool,
) -> TokenStream {
    let Tool { ident, cfgs, .. } = tool;
    let doc = format!(" The tool that calls [`{ident}()`].");
    let struct_of_arguments = struct_of_arguments(krate, tool);
    let function_tool = function_tool(krate, tool, Callee::Function);
    quote! {
        #(#cfgs)*
        #[doc = #doc]
        #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
        #vis struct #type_name;

        #(#cfgs)*
        const _: () = {
            #struct_of_arguments

            static TOOL: ::std::sync::LazyLock<#krate::tool::FunctionTool> =
                ::std::sync::LazyLock::new(|| #function_tool);

            impl #krate::tool::Tool for #type_name {
                fn name(&self) -> &str {
                    #krate::tool::Tool::name(&*TOOL)
                }
                fn description(&self) -> &str {
                    #krate::tool::Tool::description(&*TOOL)
                }
                fn schema(&self) -> &#krate::__private::Value {
                    #krate::tool::Tool::schema(&*TOOL)
                }
                fn permission(&self, call: &#krate::message::ToolUse) -> #krate::tool::Permission {
                    #krate::tool::Tool::permission(&*TOOL, call)
                }
                fn is_idempotent(&self) -> bool {
                    #krate::tool::Tool::is_idempotent(&*TOOL)
                }
                fn effect(&self) -> #krate::tool::Effect {
                    #krate::tool::Tool::effect(&*TOOL)
                }
                fn call(&self, cx: #krate::tool::ToolContext) -> #krate::tool::ToolFuture<'_> {
                    #krate::tool::Tool::call(&*TOOL, cx)
                }
            }
        };
    }
}

// Input:  `impl Library { async fn find(&self, title: &str) -> String }`
// Output: `impl Library { pub fn tools(self: &Arc<Self>) -> Tools { .. } }`
pub(crate) fn methods(krate: &TokenStream, block: &ItemImpl, tools: &[Tool]) -> TokenStream {
    let (impl_generics, _, where_clause) = block.generics.split_for_impl();
    let ty = &block.self_ty;
    let cfgs = block.attrs.iter().filter(|attr| attr.path().is_ident("cfg"));
    let names: Vec<_> = tools.iter().map(|tool| format!("`{}`", tool.name)).collect();
    let doc = format!(" Returns the tools that share this value: {}.", names.join(", "));
    let structs = tools.iter().map(|tool| struct_of_arguments(krate, tool));
    let tools = tools.iter().map(|tool| {
        let cfgs = &tool.cfgs;
        let function_tool = function_tool(krate, tool, Callee::Method);
        quote!(#(#cfgs)* #krate::__private::shared(#function_tool))
    });
    quote! {
        #(#cfgs)*
        impl #impl_generics #ty #where_clause {
            #[doc = #doc]
            #[allow(unreachable_pub, clippy::too_many_lines)]
            #[must_use]
            pub fn tools(self: &::std::sync::Arc<Self>) -> #krate::tool::Tools {
                #(#structs)*
                ::core::convert::From::from([#(#tools),*])
            }
        }
    }
}

// Input:  `fn weather(/** Its name. */ city: &str, cx: &ToolContext)`
// Output: `struct __WeatherArguments { /** Its name. */ city: String }`
fn struct_of_arguments(krate: &TokenStream, tool: &Tool) -> TokenStream {
    let (name, cfgs) = (tool.arguments(), &tool.cfgs);
    let path = |name: &str| quote!(#krate::__private).to_string().replace(' ', "") + "::" + name;
    let (serde, schemars) = (path("serde"), path("schemars"));
    let fields = tool.params.iter().filter_map(|param| {
        let Kind::Argument(argument) = &param.kind else { return None };
        let Argument { attrs, name, ty, .. } = &**argument;
        let cfgs = &param.cfgs;
        Some(quote!(#(#cfgs)* #(#attrs)* #name: #ty))
    });
    quote! {
        #(#cfgs)*
        #[allow(non_snake_case, clippy::struct_excessive_bools, clippy::struct_field_names)]
        #[derive(#krate::__private::serde::Deserialize, #krate::__private::schemars::JsonSchema)]
        #[serde(crate = #serde, expecting = "a JSON object")]
        #[schemars(crate = #schemars)]
        struct #name {
            #(#fields),*
        }
    }
}

/// What a tool calls.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Callee {
    Function,
    Method,
}

// Input:  `async fn weather(city: &str) -> String`
// Output: `FunctionTool::with_context("weather", "..", |arguments, _| async move { .. })`
fn function_tool(krate: &TokenStream, tool: &Tool, callee: Callee) -> TokenStream {
    let Tool { ident, name, description, run, .. } = tool;
    let place = shown_at(ident.span());
    let local = |name: &str| Ident::new(name, Span::mixed_site());
    let (this, arguments, cx) = (local("this"), local("arguments"), local("cx"));
    let values = tool.params.iter().map(|param| {
        let cfgs = &param.cfgs;
        let value = match &param.kind {
            Kind::Context { is_borrowed: true } => quote!(&#cx),
            Kind::Context { is_borrowed: false } => quote!(#cx),
            Kind::Argument(argument) => {
                let name = &argument.name;
                match argument.passing {
                    Passing::Owned => quote!(#arguments.#name),
                    Passing::Borrowed => quote!(&#arguments.#name),
                    Passing::Optional => quote!(#arguments.#name.as_deref()),
                }
            }
        };
        quote!(#(#cfgs)* #value)
    });
    let call = match callee {
        Callee::Function => quote!(#ident(#(#values),*)),
        Callee::Method => quote!(Self::#ident(&#this #(, #values)*)),
    };
    let wait = (*run == Run::Async).then(|| quote!(.await));
    // An output that is none is shown where it is written.
    let output = Ident::new("output", tool.output.resolved_at(Span::mixed_site()));
    let body = quote! {
        let #output = #call #wait;
        #krate::tool::IntoToolOutput::into_tool_output(#output)
    };
    let future = match run {
        Run::Blocking => quote_spanned!(place=> #krate::__private::run_blocking(move || { #body })),
        Run::Async | Run::Sync => quote_spanned!(place=> async move { #body }),
    };
    let has = |is: &dyn Fn(&Kind) -> bool| tool.params.iter().any(|param| is(&param.kind));
    let is_argument = |kind: &Kind| matches!(kind, Kind::Argument(_));
    let unused = quote!(_);
    let context = if has(&|kind| !is_argument(kind)) { quote!(#cx) } else { unused.clone() };
    let input = if has(&is_argument) { quote!(#arguments) } else { unused };
    let ty = tool.arguments();
    // A future that is not `Send` is shown at the function.
    let krate_there = respanned(krate.clone(), place);
    let made = match callee {
        Callee::Function => quote_spanned! {place=>
            #krate_there::tool::FunctionTool::with_context(
                #name, #description, |#input: #ty, #context| #future,
            )
        },
        Callee::Method => quote_spanned! {place=>
            #krate_there::__private::with_state(
                self, #name, #description, |#this, #input: #ty, #context| #future,
            )
        },
    };
    let idempotent = tool.is_idempotent.then(|| quote!(.idempotent()));
    let effect = tool.effect.as_ref().map(|effect| quote!(.effect(#krate::tool::Effect::#effect)));
    let permission = tool.ask.as_ref().map(|ask| match ask {
        Ask::Always => quote!(.permission(|_| #krate::tool::Permission::Ask)),
        Ask::By(function) => quote!(.permission(#function)),
    });
    quote!(#made #idempotent #effect #permission)
}
