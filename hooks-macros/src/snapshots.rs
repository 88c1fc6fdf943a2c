//! Expansions as they were: what changes here, everyone who reads `cargo expand` sees.

use std::fs;
use std::path::Path;

use proc_macro2::TokenStream;
use quote::quote;

/// The expansion as one would write it.
fn print(tokens: TokenStream) -> String {
    prettyplease::unparse(&syn::parse2(tokens).expect("an expansion is a list of items"))
}

fn hookable(attr: TokenStream, item: &TokenStream) -> String {
    print(crate::hookable::attribute::expand(attr, item))
}

#[test]
fn an_async_method() {
    let item = quote! {
        impl Assistant {
            /// Answers.
            pub async fn reply(&self, msg: Msg, style: Option<&str>) -> Result<Msg, Error> {
                body(msg, style)
            }
        }
    };
    insta::assert_snapshot!(hookable(TokenStream::new(), &item));
}

#[test]
fn a_sync_method_with_a_mutable_receiver() {
    let item = quote! {
        impl<T: Clone> Counter<T> {
            #[hook(reentry = "skip")]
            #[must_use]
            fn count(&mut self, #[arg(name = "pair")] (left, right): (u32, T), _more: &[T]) -> u32 {
                left
            }

            fn helper(&self) {}
        }
    };
    insta::assert_snapshot!(hookable(quote!(derive(Debug)), &item));
}

#[test]
fn a_trait() {
    let item = quote! {
        pub trait Agent: Hookable {
            /// Answers.
            async fn observe(&self, msg: &Msg) -> Result<(), Error>;
            fn name(&self) -> &str;
        }
    };
    insta::assert_snapshot!(hookable(TokenStream::new(), &item));
}

#[test]
fn an_impl_of_a_generic_trait() {
    let item = quote! {
        impl Handler<Letter> for Worker {
            type Reply = Result<Vec<Stamp>, Error>;
            const LIMIT: usize = 3;

            /// Handles it.
            #[hook(name = "handle_letter")]
            async fn handle(&self, letter: Letter) -> Self::Reply {
                Ok(vec![Stamp::of(&letter); Self::LIMIT])
            }
        }
    };
    insta::assert_snapshot!(hookable(quote!(own), &item));
}

#[test]
fn an_unsafe_impl_stays_one() {
    let item = quote! {
        unsafe impl Raw<u8> for Worker {
            #[hook]
            fn raw(&self) {}
        }
    };
    assert!(hookable(quote!(own), &item).starts_with("unsafe impl Raw<u8> for Worker {"));
    assert!(hookable(TokenStream::new(), &item).contains("write `#[hookable(own)]`"));
}

#[test]
fn an_impl_of_a_trait() {
    let item = quote! {
        impl Agent for Assistant {
            async fn observe(&self, msg: &Msg) -> Result<(), Error> {
                body(msg)
            }

            fn name(&self) -> &str {
                "assistant"
            }
        }
    };
    insta::assert_snapshot!(hookable(TokenStream::new(), &item));
}

#[test]
fn a_class_hook() {
    let attr = quote!(Assistant::POST_REPLY, name = "stamp", priority = 500);
    let item = quote! {
        async fn stamp(_: &Assistant, _: &AssistantReplyArgs, reply: &mut Msg) -> HookResult {
            Ok(())
        }
    };
    insta::assert_snapshot!(print(crate::class_hook::expand(attr, &item)));
}

#[test]
fn an_agent_hook() {
    let item = quote! {
        impl Guard {
            async fn deny(&self, event: &mut PreActing<'_>) -> HookResult<Flow> {
                Ok(Flow::Continue)
            }

            fn note(&self, event: &ReasoningChunk<'_>) {}
        }
    };
    let attr = quote!(priority = priority::SECURITY, inherit, once);
    insta::assert_snapshot!(print(crate::agent_hook::attribute::expand(attr, &item)));
}

#[test]
fn a_tool_from_a_function() {
    let item = quote! {
        /// The weather now.
        pub(crate) async fn weather(
            /// The name of the city.
            #[serde(default)]
            city: &str,
            days: Option<&[u8]>,
            cx: &ToolContext,
        ) -> Result<String, Error> {
            body(city, days, cx)
        }
    };
    insta::assert_snapshot!(print(crate::tool::attribute::expand(quote!(idempotent, ask), &item)));
}

#[test]
fn tools_from_methods() {
    let item = quote! {
        impl<T: Send + Sync + 'static> Library<T> {
            /// Finds a book.
            #[tool(name = "find_book", ask = Self::permission_to_find)]
            async fn find(&self, title: &str) -> String {
                body(title)
            }

            /// Counts the books.
            #[tool(blocking)]
            #[cfg(unix)]
            fn count(&self) -> String {
                body()
            }

            fn permission_to_find(call: &ToolUse) -> Permission {
                body(call)
            }
        }
    };
    insta::assert_snapshot!(print(crate::tool::attribute::expand(TokenStream::new(), &item)));
}

/// With `UPDATE_DOCS` in the environment the page is written anew.
#[test]
fn the_page_about_expansions_shows_the_real_one() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../hooks-core/docs/expansion.md");
    let page = fs::read_to_string(&path).expect("the page is beside this crate");
    let mut code = page.split("```text\n").skip(1).filter_map(|rest| rest.split("```").next());
    let (Some(written), Some(shown)) = (code.next(), code.next()) else {
        panic!("the page has what is written, and what it becomes");
    };
    let mut block: syn::ItemImpl = syn::parse_str(written).expect("it is an impl block");
    block.attrs.clear();
    let expansion = hookable(TokenStream::new(), &quote!(#block));
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, page.replace(shown, &expansion)).expect("the page can be written");
    } else {
        assert_eq!(shown, expansion, "run the test with UPDATE_DOCS=1");
    }
}
