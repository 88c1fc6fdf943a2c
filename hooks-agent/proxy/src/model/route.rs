//! Which requests are passed on: the list of them, without which nothing passes.

use axum::http::Method;

use crate::model::refusal::Form;

/// A provider whose API is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Provider {
    /// `OpenAI`, and servers with an API like it: chat completions and responses.
    OpenAi,
    /// Anthropic: messages.
    Anthropic,
}

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// An answer of the model, in this form.
    Answer(Form),
    /// How many tokens a request of this form has.
    Count(Form),
    /// What carries no conversation.
    Plain,
}

impl Provider {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::OpenAi, Self::Anthropic];

    /// Returns the name, with which paths of the proxy begin.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
        }
    }

    /// Returns the form in which requests are refused that have none.
    pub(crate) const fn form(self) -> Form {
        match self {
            Self::OpenAi => Form::Chat,
            Self::Anthropic => Form::Messages,
        }
    }

    /// Returns the provider of a path, and the rest of it as it follows the URL of the upstream.
    pub(crate) fn of_path(path: &str) -> Option<(Self, &str)> {
        let (name, _) = path.strip_prefix('/')?.split_once('/')?;
        let provider = Self::ALL.into_iter().find(|provider| provider.name() == name)?;
        let rest = &path[1 + name.len()..];
        let rest = match provider {
            // The URL of the upstream has its version.
            Self::OpenAi => rest.strip_prefix("/v1")?,
            Self::Anthropic => rest,
        };
        Some((provider, rest))
    }

    /// Returns what a request asks for, if it is one that is passed on.
    pub(crate) fn route(self, method: &Method, rest: &str) -> Option<Route> {
        let is_get = method == Method::GET;
        let is_post = method == Method::POST;
        match (self, rest) {
            (Self::OpenAi, "/chat/completions") if is_post => Some(Route::Answer(Form::Chat)),
            (Self::OpenAi, "/responses") if is_post => Some(Route::Answer(Form::Responses)),
            (Self::Anthropic, "/v1/messages") if is_post => Some(Route::Answer(Form::Messages)),
            (Self::OpenAi, "/responses/input_tokens") if is_post => {
                Some(Route::Count(Form::Responses))
            }
            (Self::Anthropic, "/v1/messages/count_tokens") if is_post => {
                Some(Route::Count(Form::Messages))
            }
            (Self::OpenAi, rest) if is_get && is_models(rest) => Some(Route::Plain),
            (Self::Anthropic, rest) if is_get => {
                rest.strip_prefix("/v1").filter(|rest| is_models(rest)).map(|_| Route::Plain)
            }
            _ => None,
        }
    }
}

/// Returns whether a path names the list of models, or one of them.
fn is_models(path: &str) -> bool {
    let Some(rest) = path.strip_prefix("/models") else { return false };
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte);
    match rest.strip_prefix('/') {
        None => rest.is_empty(),
        Some(model) => !model.is_empty() && !model.starts_with('.') && model.bytes().all(is_plain),
    }
}
