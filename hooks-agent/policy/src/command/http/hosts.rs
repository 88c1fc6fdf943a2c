//! The hosts to which requests may go.

/// Hosts, as a program writes them.
#[derive(Debug, Default)]
pub(crate) struct Hosts(Vec<String>);

impl Hosts {
    pub(crate) fn add(&mut self, host: String) {
        self.0.push(host);
    }
}

#[cfg(feature = "command-http")]
mod checked {
    use reqwest::Url;

    use crate::command::http::hosts::Hosts;

    impl Hosts {
        /// Returns what is wrong with the hosts.
        pub(crate) fn problems(&self) -> impl Iterator<Item = String> {
            let wrong = self.0.iter().filter(|host| allowed(host).is_none());
            wrong.map(|host| {
                format!(
                    "expected a host such as `guards.example.com` or `127.0.0.1:8080`, found {host:?}"
                )
            })
        }

        /// Returns whether requests to this URL may be sent.
        pub(crate) fn allow(&self, url: &Url) -> bool {
            let mut allowed = self.0.iter().filter_map(|host| allowed(host));
            allowed.any(|(host, port)| {
                url.host_str() == Some(&host)
                    && port.is_none_or(|port| url.port_or_known_default() == Some(port))
            })
        }
    }

    // Input: `Guards.Example.com:8443`
    // Output: `guards.example.com` and `8443`
    /// Reads a host and its port, in the form that URLs have.
    fn allowed(text: &str) -> Option<(String, Option<u16>)> {
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, Some(port.parse().ok()?)),
            _ => (text, None),
        };
        let url = Url::parse(&format!("http://{host}")).ok()?;
        let is_host = !host.contains(['/', '@', '?', '#', '\\', '*']) && url.port().is_none();
        is_host.then(|| Some((url.host_str()?.to_owned(), port)))?
    }
}

#[cfg(not(feature = "command-http"))]
impl Hosts {
    /// Returns none: entries that need them are refused.
    pub(crate) fn problems(&self) -> impl Iterator<Item = String> {
        std::iter::empty()
    }
}
