//! Helper attributes in tokens that are no item yet.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

// Input:  `impl Agent { #[hook] fn f(&self, #[arg(name = "a")] _: u8) {} pub fn }`, `["hook", "arg"]`
// Output: `impl Agent { fn f(&self, _: u8) {} pub fn }`
/// The tokens without the helper attributes of these names, which nobody else knows.
pub(crate) fn without_helpers(tokens: TokenStream, names: &[&str]) -> TokenStream {
    let mut tokens = tokens.into_iter().peekable();
    let mut kept = Vec::new();
    while let Some(token) = tokens.next() {
        let is_hash = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '#');
        if is_hash && tokens.next_if(|token| is_helper(token, names)).is_some() {
            continue;
        }
        kept.push(match token {
            TokenTree::Group(group) => {
                let inner = without_helpers(group.stream(), names);
                let mut inner = Group::new(group.delimiter(), inner);
                inner.set_span(group.span());
                TokenTree::Group(inner)
            }
            token => token,
        });
    }
    kept.into_iter().collect()
}

fn is_helper(token: &TokenTree, names: &[&str]) -> bool {
    let TokenTree::Group(group) = token else { return false };
    let first = group.stream().into_iter().next();
    let is_named = |name: &&str| matches!(&first, Some(TokenTree::Ident(first)) if first == name);
    group.delimiter() == Delimiter::Bracket && names.iter().any(is_named)
}
