//! Labels of tools: whose text they return, and which arguments say where something goes.

use std::collections::BTreeMap;

use hooks_agent_core::options::Globs;
use hooks_agent_core::tool::Effect;

/// What an argument of a tool call says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Where something goes, or what is acted on.
    Destination,
    /// What is sent or stored.
    Content,
}

/// The arguments of a tool that changes something, for [`Provenance`](super::Provenance).
///
/// Arguments that are in no list go by their names, as [those of tools without labels](super::Provenance#arguments).
///
/// ```
/// use hooks_agent::builtin::guard::Sink;
///
/// let sink = Sink::new().destination(["recipient"]).content(["amount", "subject"]);
/// # let _ = sink;
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sink {
    roles: BTreeMap<String, Role>,
    /// Whether it is that of a tool in no list.
    is_unlisted: bool,
}

impl Sink {
    /// Creates a sink whose arguments go by their names.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Names arguments that say where something goes, or what is acted on: a recipient, a URL, a file, a password.
    #[must_use]
    pub fn destination(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.roles.extend(names.into_iter().map(|name| (name.into(), Role::Destination)));
        self
    }

    /// Names arguments that say what is sent or stored there.
    #[must_use]
    pub fn content(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.roles.extend(names.into_iter().map(|name| (name.into(), Role::Content)));
        self
    }

    /// Creates a sink of a tool with these arguments, each by its name. For a first draft of labels.
    ///
    /// ```
    /// use hooks_agent::builtin::guard::Sink;
    ///
    /// let sink = Sink::by_names(["recipient_iban", "amount"]);
    /// assert_eq!(sink, Sink::new().destination(["recipient_iban"]).content(["amount"]));
    /// ```
    #[must_use]
    pub fn by_names(arguments: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let names = arguments.into_iter().map(Into::into);
        let by_names = Self::new();
        let roles = names.map(|name| (name.clone(), by_names.role(&name))).collect();
        Self { roles, is_unlisted: false }
    }

    /// Returns the arguments that say where something goes, in order.
    pub fn destinations(&self) -> impl Iterator<Item = &str> {
        self.of(Role::Destination)
    }

    /// Returns the arguments that say what is sent or stored, in order.
    pub fn contents(&self) -> impl Iterator<Item = &str> {
        self.of(Role::Content)
    }

    fn of(&self, role: Role) -> impl Iterator<Item = &str> {
        let roles = self.roles.iter().filter(move |(_, own)| **own == role);
        roles.map(|(name, _)| name.as_str())
    }

    /// Whether it is that of a tool in no list.
    pub(crate) fn is_unknown(&self) -> bool {
        self.is_unlisted
    }

    /// Whether it names an argument.
    pub(crate) fn lists(&self, name: &str) -> bool {
        self.roles.contains_key(name)
    }

    /// Returns the role of an argument.
    pub(crate) fn role(&self, name: &str) -> Role {
        self.roles
            .get(name)
            .copied()
            .unwrap_or_else(|| if is_destination(name) { Role::Destination } else { Role::Content })
    }
}

/// The labels of tools.
#[derive(Clone, Debug, Default)]
pub(crate) struct Labels {
    pub(crate) untrusted: Option<Globs>,
    pub(crate) trusted: Option<Globs>,
    /// By globs, in order.
    pub(crate) sinks: Vec<(Globs, Sink)>,
}

impl Labels {
    /// Whether others may write what a tool returns. What no list has may be theirs.
    pub(crate) fn is_untrusted(&self, tool: &str) -> bool {
        matches(self.untrusted.as_ref(), tool)
            || !matches(self.trusted.as_ref(), tool) && self.listed_sink(tool).is_none()
    }

    /// Returns the arguments of a tool, if it changes something. What no list has does, unless it says itself that it
    /// only reads.
    pub(crate) fn sink(&self, tool: &str, effect: Option<Effect>) -> Option<&Sink> {
        static BY_NAMES: Sink = Sink { roles: BTreeMap::new(), is_unlisted: true };
        if let Some(sink) = self.listed_sink(tool) {
            return Some(sink);
        }
        let is_listed =
            [&self.untrusted, &self.trusted].into_iter().any(|it| matches(it.as_ref(), tool));
        let reads = is_listed || effect == Some(Effect::Reads);
        (!reads).then_some(&BY_NAMES)
    }

    fn listed_sink(&self, tool: &str) -> Option<&Sink> {
        self.sinks.iter().find(|(globs, _)| globs.is_match(tool)).map(|(_, sink)| sink)
    }

    /// Whether a tool is in a list.
    pub(crate) fn has(&self, tool: &str) -> bool {
        self.listed_sink(tool).is_some()
            || [&self.untrusted, &self.trusted].into_iter().any(|it| matches(it.as_ref(), tool))
    }

    /// Returns the names of tools in the lists, without globs.
    pub(crate) fn names(&self) -> Vec<String> {
        let lists = [&self.untrusted, &self.trusted].into_iter().flatten();
        let all = lists.chain(self.sinks.iter().map(|(globs, _)| globs));
        let names = all.flat_map(Globs::texts).filter(|it| !it.contains(['*', '?', '[', '{', '!']));
        names.cloned().collect()
    }
}

fn matches(globs: Option<&Globs>, tool: &str) -> bool {
    globs.is_some_and(|globs| globs.is_match(tool))
}

/// The words of the names of arguments that say where something goes, or what is acted on, in order.
const DESTINATIONS: [&str; 71] = [
    "account",
    "accounts",
    "address",
    "addresses",
    "attendee",
    "attendees",
    "bcc",
    "beneficiary",
    "branch",
    "bucket",
    "callback",
    "cc",
    "channel",
    "channels",
    "contact",
    "dest",
    "destination",
    "dir",
    "directory",
    "domain",
    "email",
    "emails",
    "endpoint",
    "file",
    "filename",
    "filepath",
    "files",
    "folder",
    "group",
    "handle",
    "host",
    "hostname",
    "href",
    "iban",
    "id",
    "ids",
    "invitee",
    "invitees",
    "key",
    "link",
    "mail",
    "mailbox",
    "member",
    "members",
    "owner",
    "participant",
    "participants",
    "password",
    "path",
    "payee",
    "phone",
    "receiver",
    "recipient",
    "recipients",
    "remote",
    "repo",
    "repository",
    "room",
    "secret",
    "server",
    "site",
    "target",
    "team",
    "to",
    "uri",
    "url",
    "urls",
    "user",
    "username",
    "webhook",
    "website",
];

fn is_destination(name: &str) -> bool {
    let is_listed = |word: &str| DESTINATIONS.binary_search(&word).is_ok();
    is_secret(name)
        || name_words(name).any(|word| {
            let singular = word.strip_suffix("es").or(word.strip_suffix('s'));
            is_listed(&word)
                || singular.is_some_and(is_listed)
                || word.strip_suffix('s').is_some_and(is_listed)
        })
}

/// Whether an argument is an id by its name: what stands in it is chosen, not written.
pub(crate) fn is_id(name: &str) -> bool {
    name_words(name)
        .last()
        .is_some_and(|word| matches!(word.as_str(), "id" | "ids" | "uuid" | "key" | "handle"))
}

/// Whether an argument is a URL by its name.
pub(crate) fn is_url(name: &str) -> bool {
    let is_url = |word: String| {
        matches!(
            word.as_str(),
            "url"
                | "urls"
                | "uri"
                | "link"
                | "href"
                | "host"
                | "hostname"
                | "domain"
                | "endpoint"
                | "website"
                | "webhook"
                | "site"
        )
    };
    name_words(name).any(is_url)
}

/// Whether an argument is a secret by its name.
pub(crate) fn is_secret(name: &str) -> bool {
    let is_secret = |word: String| {
        matches!(
            word.as_str(),
            "password"
                | "passwd"
                | "pwd"
                | "passphrase"
                | "pin"
                | "secret"
                | "token"
                | "credentials"
        )
    };
    name_words(name).any(is_secret)
}

/// Returns the words of the name of an argument, in lower case: of `fileId` and `file_id`, `file` and `id`.
pub(crate) fn name_words(name: &str) -> impl Iterator<Item = String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for char in name.chars() {
        let starts = char.is_uppercase() && was_lower || !char.is_alphanumeric();
        if starts {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| char.is_alphanumeric()) {
            word.extend(char.to_lowercase());
        }
        was_lower = char.is_lowercase() || char.is_numeric();
    }
    words.into_iter().filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{DESTINATIONS, is_destination, is_id, name_words};

    #[test]
    fn arguments_go_by_the_words_of_their_names() {
        assert!(DESTINATIONS.is_sorted());
        assert_eq!(
            name_words("destinationUrl-of_x2").collect::<Vec<_>>(),
            ["destination", "url", "of", "x2"]
        );
        for name in ["to", "recipientEmail", "file_id", "id_", "webhook-url", "IBAN"] {
            assert!(is_destination(name), "{name}");
        }
        for name in ["amount", "body", "subject", "pathology", "total"] {
            assert!(!is_destination(name), "{name}");
        }
        assert!(is_id("fileId") && is_id("id") && !is_id("idea"));
    }
}
