//! The page for a browser that is not let in.

use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;

use crate::server::answer::typed;

const GOES_ON: &str = "<meta http-equiv=\"refresh\" content=\"1;url=/\">\n\
    <script src=\"/assets/entrance.js\"></script>\n";

/// Answers a browser that asks for the page and does not get it with a page that says why.
///
/// A link on a page of another site comes without the cookie, which is strict: that page asks again by
/// itself, now from this site, and once. Its script keeps the place in the address; a browser that does not
/// have the cookie does not get it, and asks a second later.
pub(super) fn entrance(status: StatusCode, message: &str, may_go_on: bool) -> Response {
    let (refresh, message) = if may_go_on {
        (GOES_ON, "Opening the studio.".to_owned())
    } else {
        ("", sentence(message))
    };
    let page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n{refresh}<title>Studio</title>\n</head>\n\
         <body>\n<main>\n<h1>Studio</h1>\n<p>{message}</p>\n<p><a href=\"/\">Open the studio</a></p>\n\
         </main>\n</body>\n</html>\n"
    );
    typed(status, "text/html; charset=utf-8", page)
}

fn sentence(message: &str) -> String {
    let (first, rest) = message.split_at(message.chars().next().map_or(0, char::len_utf8));
    format!("{}{rest}.", first.to_uppercase())
}

/// Returns whether a link on a page of another site leads here, as browsers say it.
pub(super) fn is_from_another_site(headers: &HeaderMap) -> bool {
    headers.get("sec-fetch-site").is_some_and(|site| site == "cross-site")
}
