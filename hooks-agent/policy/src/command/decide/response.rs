//! Reads the answers of servers and of tools.

use crate::command::contract::CommandEvent;
use crate::command::decide::answer::Answer;
use crate::command::decide::output::{of_bytes, or_refusal};
use crate::command::http::Response;

/// The byte order mark of UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// What is read, in errors.
const BODY: &str = "the body";
const TEXT: &str = "the text of the tool";

/// Reads the answer of a server. An empty body decides nothing, which is a failure if the command `blocks` on
/// failure. The error says why it is none, without any text of the server.
pub(crate) fn read_response(
    event: CommandEvent,
    response: &Response,
    blocks: bool,
) -> Result<Answer, String> {
    let Response { status, body } = response;
    let body = body.trim_ascii();
    let is_object = body.strip_prefix(MARK).unwrap_or(body).trim_ascii_start().starts_with(b"{");
    let answer = match status {
        200..=299 if is_object => of_bytes(event, body, BODY),
        200..=299 if body.is_empty() && !blocks => Ok(Answer::default()),
        200..=299 if body.is_empty() => {
            Err("it decided nothing: expected a JSON object, found an empty body".to_owned())
        }
        200..=299 => Err("expected a JSON object, found another body".to_owned()),
        status => Err(format!("it answered with status {status}")),
    };
    or_refusal(event, answer, body)
}

/// Reads the text of a tool, as standard output of a program that ended with exit code 0.
pub(crate) fn read_text(event: CommandEvent, text: &str) -> Result<Answer, String> {
    or_refusal(event, of_bytes(event, text.as_bytes(), TEXT), text.as_bytes())
}
