//! The arguments of the program.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::Duration;

/// How long an answer may take, unless the arguments say it.
const DEADLINE: Duration = Duration::from_secs(20);

/// The longest of them: a day.
const MOST: u64 = 86_400;

pub(crate) const USAGE: &str = "write `hooks-agent-ask --socket FILE [--agent AGENT [--event EVENT]] [--deadline SECONDS]`, or \
                     `--address HOST:PORT --token-file FILE` in place of the socket";

/// What is asked, and where.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Args {
    pub(crate) at: At,
    /// The path of the request.
    pub(crate) path: String,
    pub(crate) deadline: Duration,
}

/// Where the server listens.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum At {
    Socket(PathBuf),
    Address { address: String, token_file: PathBuf },
}

impl Args {
    /// Reads the arguments.
    pub(crate) fn parse(args: impl Iterator<Item = OsString>) -> Result<Self, String> {
        let (mut socket, mut address, mut token_file) = (None, None, None);
        let (mut agent, mut event, mut deadline) = (None, None, None);
        let mut args = args;
        while let Some(name) = args.next() {
            let into = match name.to_str() {
                Some("--socket") => &mut socket,
                Some("--address") => &mut address,
                Some("--token-file") => &mut token_file,
                Some("--agent") => &mut agent,
                Some("--event") => &mut event,
                Some("--deadline") => &mut deadline,
                _ => return Err(format!("unknown argument `{}`: {USAGE}", name.display())),
            };
            let value = args.next();
            *into =
                Some(value.ok_or_else(|| format!("`{}` has no value: {USAGE}", name.display()))?);
        }
        let at = match (socket, address, token_file) {
            (Some(socket), None, None) => At::Socket(socket.into()),
            (None, Some(address), Some(token_file)) => {
                let address = address.into_string();
                let address = address.map_err(|_| "the address is not in UTF-8".to_owned())?;
                At::Address { address, token_file: token_file.into() }
            }
            _ => return Err(USAGE.to_owned()),
        };
        let path = match (agent, event) {
            (None, None) => "/run".to_owned(),
            (Some(agent), None) => format!("/run/{}", word(&agent)?),
            (Some(agent), Some(event)) => format!("/run/{}/{}", word(&agent)?, word(&event)?),
            (None, Some(_)) => return Err(format!("`--event` needs `--agent`: {USAGE}")),
        };
        let deadline = match deadline {
            None => DEADLINE,
            Some(text) => {
                let seconds = text
                    .to_str()
                    .and_then(|text| text.parse().ok())
                    .filter(|it| (1..=MOST).contains(it));
                Duration::from_secs(
                    seconds.ok_or("`--deadline` is no number of seconds from 1 to 86400")?,
                )
            }
        };
        Ok(Self { at, path, deadline })
    }
}

/// Returns a name as it is in a path.
fn word(text: &OsStr) -> Result<&str, String> {
    let is_word = |text: &&str| {
        let known = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        !text.is_empty() && text.bytes().all(known)
    };
    text.to_str().filter(is_word).ok_or_else(|| format!("`{}` is no name", text.display()))
}
