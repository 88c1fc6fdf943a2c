//! The headers of every answer.

use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue};

/// What the page may load: files of its own, and nothing inline.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
    img-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/// Sets the headers of every answer.
pub(super) fn secure(headers: &mut HeaderMap) {
    let same_origin = HeaderValue::from_static("same-origin");
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // Pages of other ports of this machine are of the same site: they load nothing of it either.
    let resource = HeaderName::from_static("cross-origin-resource-policy");
    headers.insert(resource, same_origin.clone());
    headers.insert(HeaderName::from_static("cross-origin-opener-policy"), same_origin);
}
