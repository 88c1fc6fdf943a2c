//! The HTTP connection to a server behind a URL.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::RoleClient;
use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::common::client_side_sse::{BoxedSseResponse, ExponentialBackoff};
use rmcp::transport::streamable_http_client::{
    StreamableHttpClient, StreamableHttpClientTransportConfig, StreamableHttpClientWorker,
    StreamableHttpError, StreamableHttpPostResponse,
};
use rmcp::transport::{DynamicTransportError, Transport, WorkerTransport};
use tokio_util::sync::CancellationToken;

use crate::http::{client_of, place_of, reason_of, without_tls};
use crate::mcp::error::McpError;

type Headers = HashMap<HeaderName, HeaderValue>;
type HttpError = StreamableHttpError<reqwest::Error>;

/// A URL that requests can be sent to.
pub(super) struct Endpoint {
    url: Url,
}

impl Endpoint {
    pub(super) fn parse(url: &str) -> Result<Self, McpError> {
        let reason = match Url::parse(url) {
            Ok(url) if matches!(url.scheme(), "http" | "https") => match without_tls(&url) {
                Some(reason) => return Err(McpError::Invalid { reason: reason.to_owned() }),
                None => return Ok(Self { url }),
            },
            Ok(_) => "its scheme is neither `http` nor `https`".to_owned(),
            Err(error) => error.to_string(),
        };
        let expected = "write one such as `https://example.com/mcp`";
        Err(McpError::Invalid { reason: format!("the URL is not valid: {reason}; {expected}") })
    }

    /// Returns the scheme, host and port: the rest may hold a key.
    pub(super) fn place(&self) -> String {
        let mut url = self.url.clone();
        // A name such as `/@ada/files` is not the end of a password.
        if !url.path().replace("/@", "/").contains('@') {
            url.set_path("");
        }
        place_of(&url).unwrap_or_else(|| format!("{}://...", url.scheme()))
    }

    /// Connects at the first message.
    pub(super) fn open(
        self,
        headers: Vec<(String, String)>,
    ) -> Result<impl Transport<RoleClient> + use<>, McpError> {
        let mut config = StreamableHttpClientTransportConfig::with_uri(self.url.as_str());
        config.custom_headers = headers
            .into_iter()
            .map(|(name, value)| header(&name, &value))
            .collect::<Result<_, _>>()?;
        // A response whose stream broke is asked for again, for about eight seconds.
        let mut retries = ExponentialBackoff::default();
        retries.base_duration = Duration::from_millis(500);
        retries.max_times = Some(4);
        config.retry_config = Arc::new(retries);
        // A connection that was idle may stall the next request.
        let http = client_of(&self.url).pool_max_idle_per_host(0).build();
        let http = http.map_err(|error| McpError::Unreachable {
            server: self.place(),
            reason: reason_of(&error),
        })?;
        let ended = CancellationToken::new();
        let client = Client { http, ended: ended.clone() };
        let worker = StreamableHttpClientWorker::new(client, config);
        Ok(WorkerTransport::spawn_with_ct(worker, ended))
    }
}

fn header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), McpError> {
    let invalid = |reason| McpError::Invalid { reason };
    let name = HeaderName::try_from(name).map_err(|_| {
        invalid("the name of a header has characters other than letters, digits and `-`".to_owned())
    })?;
    let mut value = HeaderValue::try_from(value).map_err(|_| {
        invalid(format!("the value of the header `{name}` has characters that are not visible"))
    })?;
    value.set_sensitive(true);
    Ok((name, value))
}

/// Sends requests until the transport is closed or dropped. Otherwise a request without an answer
/// would outlive the transport.
#[derive(Clone)]
struct Client {
    http: reqwest::Client,
    ended: CancellationToken,
}

impl Client {
    async fn until_ended<T>(
        &self,
        request: impl Future<Output = Result<T, HttpError>>,
    ) -> Result<T, HttpError> {
        match self.ended.run_until_cancelled(request).await {
            Some(Err(StreamableHttpError::Client(error))) => {
                Err(StreamableHttpError::Client(error.without_url()))
            }
            Some(result) => result,
            None => Err(StreamableHttpError::TransportChannelClosed),
        }
    }
}

impl StreamableHttpClient for Client {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        url: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        self.until_ended(self.http.post_message(url, message, session, token, headers)).await
    }

    /// Runs after the transport is closed. The transport limits its time.
    async fn delete_session(
        &self,
        url: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<(), HttpError> {
        self.http.delete_session(url, session, token, headers).await
    }

    async fn get_stream(
        &self,
        url: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<BoxedSseResponse, HttpError> {
        self.until_ended(self.http.get_stream(url, session, last_event, token, headers)).await
    }
}

/// Converts an error of a request. None if the connection ended, or is not one over HTTP.
pub(super) fn explain(server: &str, error: &DynamicTransportError) -> Option<McpError> {
    use StreamableHttpError as E;
    let server = server.to_owned();
    Some(match error.error.downcast_ref::<HttpError>()? {
        E::Client(error) => McpError::Unreachable { server, reason: reason_of(error) },
        E::AuthRequired(_) => refused(server, "HTTP 401 Unauthorized"),
        E::InsufficientScope(_) => refused(server, "HTTP 403 Forbidden"),
        // The status and the body, which may be a page.
        E::UnexpectedServerResponse(text) if text.starts_with("HTTP ") => {
            refused(server, text.split_once(':').map_or(text, |(status, _)| status))
        }
        error @ (E::HttpStatus(_)
        | E::SessionExpired
        | E::SessionRecoveryTimeout
        | E::ReinitializationFailed(_)) => refused(server, &error.to_string()),
        E::ReservedHeaderConflict(name) => McpError::Invalid {
            reason: format!("the header `{name}` is one of the protocol; remove it"),
        },
        error @ (E::UnexpectedServerResponse(_)
        | E::UnexpectedContentType(_)
        | E::ResponseBodyTooLarge { .. }
        | E::Deserialize(_)) => McpError::Handshake { server, source: error.to_string().into() },
        _ => return None,
    })
}

fn refused(server: String, status: &str) -> McpError {
    let cure = if status.starts_with("HTTP 401") {
        "; set a valid token with `McpOptions::bearer`"
    } else {
        ""
    };
    McpError::Refused { server, source: format!("{status}{cure}").into() }
}
