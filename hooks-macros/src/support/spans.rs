//! Where tokens are said to stand.

use proc_macro2::{Span, TokenStream, TokenTree};

/// The same tokens at another place, where what is wrong with them is shown. They mean what they meant.
pub(crate) fn respanned(tokens: TokenStream, place: Span) -> TokenStream {
    let respan = |mut token: TokenTree| {
        token.set_span(token.span().located_at(place));
        token
    };
    tokens.into_iter().map(respan).collect()
}

/// The span of generated tokens that are shown at a place. Of tokens from a `macro_rules!` the place
/// says also which names they see, which is not for ours.
pub(crate) fn shown_at(place: Span) -> Span {
    Span::call_site().located_at(place)
}
