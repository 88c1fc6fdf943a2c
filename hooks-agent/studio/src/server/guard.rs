//! Who may ask: checked before any route.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{CONTENT_TYPE, LOCATION, SET_COOKIE};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::Response;

use crate::server::answer::{error, typed};
use crate::server::app::App;
use crate::server::entrance::{entrance, is_from_another_site};
use crate::server::headers::secure;

/// Where workers join.
pub(super) const JOIN: &str = "/api/join";

const NO_JSON: &str = "`Content-Type` is not `application/json`";

/// Lets a request pass, or answers it.
pub(super) async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let mut response = match check(&app, &request) {
        Ok(()) => worded(next.run(request).await),
        Err(refused) => *refused,
    };
    secure(response.headers_mut());
    response
}

/// Words an error of the router as the other errors are worded: a path or a query that cannot be read.
fn worded(response: Response) -> Response {
    let status = response.status();
    let kind = response.headers().get(CONTENT_TYPE);
    if !status.is_client_error() || kind.is_some_and(|kind| kind == "application/json") {
        return response;
    }
    error(status, "malformed", "the path or the query cannot be read")
}

fn check(app: &App, request: &Request) -> Result<(), Box<Response>> {
    let (headers, uri) = (request.headers(), request.uri());
    // People open this address; programs ask for the others.
    let is_page = uri.path() == "/" && matches!(*request.method(), Method::GET | Method::HEAD);
    let refuse = |status, code, message| {
        let of_page = || entrance(status, message, false);
        Err(Box::new(if is_page { of_page() } else { error(status, code, message) }))
    };
    let Some(host) = app.hosts.of(headers, uri) else {
        let message = "this host is not allowed: use the printed address, or set `allowed_host`";
        return refuse(StatusCode::MISDIRECTED_REQUEST, "host", message);
    };
    if app.stopping.is_cancelled() {
        return refuse(StatusCode::SERVICE_UNAVAILABLE, "stopping", "the studio is shutting down");
    }
    if uri.path() == JOIN {
        // Workers have no cookie and are no page.
        return if !app.key.as_ref().is_some_and(|key| key.is_key(headers)) {
            refuse(StatusCode::UNAUTHORIZED, "key", "this is not the key of `Studio::joined_by`")
        } else if !is_json(headers) {
            refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, "content_type", NO_JSON)
        } else {
            Ok(())
        };
    }
    if request.method() == Method::GET
        && let Some(token) = token_of(uri)
    {
        if app.token.is(token) {
            return Err(Box::new(signed_in(app)));
        }
        let message = "this is not the token of the studio: open the address that the program printed \
            when it started last";
        return refuse(StatusCode::UNAUTHORIZED, "token", message);
    }
    if !app.token.is_in(headers, &app.cookie) {
        if is_page && is_from_another_site(headers) {
            return Err(Box::new(entrance(StatusCode::UNAUTHORIZED, "", true)));
        }
        let message = "open the address that the program printed, with its token";
        return refuse(StatusCode::UNAUTHORIZED, "token", message);
    }
    let changes = !matches!(*request.method(), Method::GET | Method::HEAD);
    let is_stream = uri.path() == "/api/events";
    if (changes || is_stream) && !app.hosts.is_own_origin(headers, &host) {
        let message = "the request comes from a page of another origin";
        return refuse(StatusCode::FORBIDDEN, "origin", message);
    }
    if changes && !is_json(headers) {
        return refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, "content_type", NO_JSON);
    }
    Ok(())
}

/// Returns the token in the address of the page.
fn token_of(uri: &Uri) -> Option<&str> {
    let query = uri.query().filter(|_| uri.path() == "/")?;
    query.split('&').find_map(|pair| pair.strip_prefix("token="))
}

/// Exchanges the token for a cookie, and removes it from the address.
fn signed_in(app: &App) -> Response {
    let mut response = typed(StatusCode::SEE_OTHER, "text/plain; charset=utf-8", "");
    let (name, token) = (&app.cookie, app.token.as_str());
    let cookie = format!("{name}={token}; HttpOnly; SameSite=Strict; Path=/");
    // A token and a port are plain text.
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(SET_COOKIE, cookie);
    }
    response.headers_mut().insert(LOCATION, HeaderValue::from_static("/"));
    response
}

fn is_json(headers: &HeaderMap) -> bool {
    let mut kinds = headers.get_all(CONTENT_TYPE).iter();
    let kind = kinds.next().and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    kinds.next().is_none() && kind.eq_ignore_ascii_case("application/json")
}
