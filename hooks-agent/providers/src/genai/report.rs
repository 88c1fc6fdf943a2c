//! Reads the error of a provider: the message, the id of the request, and the time to wait.

use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use serde_json::Value;

/// The most characters of a message.
const MOST: usize = 500;

/// The parts of a provider's error that a `ModelError` carries. The rest of its body may quote the
/// request.
#[derive(Debug, Default)]
pub(super) struct Report {
    message: Option<String>,
    pub(super) request_id: Option<String>,
    pub(super) retry_after: Option<Duration>,
}

impl Report {
    /// Reads the body of a response, which may be plain text, and its headers.
    pub(super) fn of_response(headers: &HeaderMap, body: &str) -> Self {
        let report = match serde_json::from_str(body) {
            Ok(body) => Self::of_body(&body),
            Err(_) => Self { message: sentence(headers, body), ..Self::default() },
        };
        Self {
            request_id: request_id(headers).or(report.request_id),
            retry_after: retry_after(headers).or(report.retry_after),
            ..report
        }
    }

    /// Reads the forms of errors that the providers have:
    /// `{"error": {"message": ".."}}`, `{"error": ".."}` of Ollama, both in an array of Gemini, and
    /// `{"message": ".."}` and `{"detail": ".."}` of servers that are compatible with `OpenAI`'s.
    pub(super) fn of_body(body: &Value) -> Self {
        let body = body.get(0).unwrap_or(body);
        let paths = ["/error/message", "/error", "/message", "/detail"];
        let message = paths.iter().find_map(|path| body.pointer(path)?.as_str());
        let details = body.pointer("/error/details").and_then(Value::as_array);
        let detail = |name: &str| {
            let mut details = details.into_iter().flatten();
            details.find_map(|detail| detail.get(name)).and_then(Value::as_str)
        };
        let request_id = body.get("request_id").and_then(Value::as_str);
        Self {
            message: message.map(str::to_owned),
            request_id: request_id.or_else(|| detail("requestId")).and_then(id),
            // Gemini says so in the body alone.
            retry_after: detail("retryDelay")
                .and_then(|delay| delay.strip_suffix('s'))
                .and_then(seconds),
        }
    }

    /// Returns the message: one line of bounded length, as masked.
    pub(super) fn message(&self, mask: impl Fn(&str) -> String) -> Option<String> {
        let words = self.message.as_ref()?.split(|c: char| c.is_whitespace() || c.is_control());
        let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
        // Masked first: half of a key would look like none.
        let line = mask(&words.join(" "));
        let bounded = match line.char_indices().nth(MOST) {
            Some((end, _)) => format!("{}...", line[..end].trim_end()),
            None => line,
        };
        (!bounded.is_empty()).then_some(bounded)
    }
}

/// Returns a body that is plain text: no page, no JSON that was cut or framed, and no text of the
/// crate, which may have the URL.
fn sentence(headers: &HeaderMap, body: &str) -> Option<String> {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let text = body.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    let is_other = text.starts_with(['<', '{', '[', '"'])
        || ["</", "{\""].iter().any(|part| text.contains(part));
    let is_unread = text.starts_with("Failed to read error body");
    (!is_other && !is_unread && !kind.contains("html")).then(|| text.to_owned())
}

/// Reads the headers of the providers and of the gateways before them.
fn request_id(headers: &HeaderMap) -> Option<String> {
    let names = ["x-request-id", "request-id", "apim-request-id", "x-amzn-requestid"];
    names.iter().find_map(|name| id(headers.get(*name)?.to_str().ok()?))
}

fn id(text: &str) -> Option<String> {
    let is_id = (1..=128).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
    is_id.then(|| text.to_owned())
}

/// Reads times only: a date would need a clock that agrees with the provider's.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let number = |name: &str| headers.get(name)?.to_str().ok().and_then(seconds);
    let milliseconds = number("retry-after-ms").map(|wait| wait / 1000);
    milliseconds.or_else(|| number(RETRY_AFTER.as_str()))
}

fn seconds(text: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(text.trim().parse().ok()?).ok()
}
