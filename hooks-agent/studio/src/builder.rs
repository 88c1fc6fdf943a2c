//! The studio, as a program sets it up.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::http::request::Parts;
use hooks_agent_core::agent::Agent;
use hooks_agent_core::call::User;
use hooks_agent_core::model::PriceTable;
use hooks_agent_core::react::ReActAgent;
use hooks_agent_core::store::Store;
use tokio::net::lookup_host;

use crate::access::{Access, StudioPart};
use crate::agents::Agents;
use crate::approvals::{Desk, Login};
use crate::error::StudioError;
use crate::history::History;
use crate::hook::StudioHook;
use crate::prices::Prices;
use crate::ring::Capacity;
use crate::server::{Hosts, StudioServer, Token, listen};
use crate::shared::Shared;

/// A page in the browser that shows what agents do while they do it, and takes the decisions that they
/// wait for.
///
/// [`hook`](Self::hook) goes into each agent that is to be seen; [`agent`](Self::agent) makes an agent
/// known to the page, which then shows its plan of hooks, decides its questions and interrupts its
/// calls; [`bind`](Self::bind) opens the page. [The guide] has what the page
/// shows, what it does not, and how it is protected.
///
/// | setting | default |
/// |---|---|
/// | [`show_content`](Self::show_content) | texts, arguments and results are shown |
/// | [`show_removed`](Self::show_removed) | values that hooks replaced are not shown |
/// | [`show_drafts`](Self::show_drafts) | answers are not shown before hooks that may change them saw them |
/// | [`show_requests`](Self::show_requests) | of requests, the system prompt and names of tools are shown |
/// | [`show_errors`](Self::show_errors) | errors are shown without their texts |
/// | [`prices`](Self::prices) | no money is shown |
/// | [`allow_chat`](Self::allow_chat) | nobody writes to agents, reads stored messages, forks or rewinds |
/// | [`authenticate`](Self::authenticate), [`decided_by`](Self::decided_by) | nobody is known who decides |
/// | [`history`](Self::history) | runs are kept in memory alone |
/// | [`only_for`](Self::only_for) | who has the token sees and does everything |
/// | [`token`](Self::token) | a random one |
/// | [`allowed_host`](Self::allowed_host) | the page is reached by the address that is bound |
/// | [`joined_by`](Self::joined_by) | no other process shows its runs here |
/// | [`capacity`](Self::capacity) | 1,000 runs, 5,000 entries of a run, 64 MiB |
///
/// Clones share their runs, what `show_..`, `capacity`, `prices` and `history` set, and nothing else.
///
/// ```
/// use std::sync::Arc;
///
/// use hooks_agent::builtin::connect::Studio;
/// use hooks_agent::prelude::*;
///
/// # tokio::runtime::Runtime::new().unwrap().block_on(async {
/// let studio = Studio::new();
/// let model = ScriptedModel::new("fixed", |_| "Done.");
/// let agent = ReActAgent::builder("clerk").model(model).hook(studio.hook()).build()?;
/// let agent = Arc::new(agent);
/// let server = studio.agent(agent.clone()).bind("127.0.0.1:0").await?;
/// let serving = tokio::spawn(server.serve());
/// // Open the address in a browser.
/// assert!(server.url().starts_with("http://127.0.0.1:"));
/// agent.call("Go").await?;
/// server.shutdown().await;
/// serving.await??;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
///
/// [The guide]: https://docs.rs/hooks-agent/latest/hooks_agent/guide/studio/index.html
#[derive(Clone, Default)]
#[must_use = "it shows the agents that have its hook, once it is bound and served"]
pub struct Studio {
    shared: Arc<Shared>,
    agents: Agents,
    hosts: Vec<String>,
    token: Option<String>,
    key: Option<String>,
    login: Option<Login>,
    is_decided_elsewhere: bool,
    access: Access,
}

/// Who decides, unless the program says it.
const DECIDER: &str = "studio";

impl Studio {
    /// Creates a studio that shows nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a hook by which an agent is seen. Each agent gets one of its own; agents that are tools
    /// of an agent are seen by the hook of that agent.
    pub fn hook(&self) -> StudioHook {
        StudioHook::new(self.shared.clone())
    }

    /// Makes an agent known to the page, by its name: the page shows its hooks, lists and decides what
    /// waits in its [store](ReActAgent::store), and resumes its calls.
    pub fn agent(mut self, agent: Arc<ReActAgent>) -> Self {
        self.agents.add(agent);
        self
    }

    /// Sets whether texts, arguments and results are kept and shown, of calls that begin from now on.
    /// Without them the page has names, sizes and times; what waits can be denied, but not approved.
    pub fn show_content(self, show: bool) -> Self {
        self.shared.settings.show_content(show);
        self
    }

    /// Sets whether values are kept and shown that a hook replaced. What a hook of the role
    /// [`Redacts`](hooks_core::HookRole::Redacts) removed is not shown either way; what a hook without a
    /// role removed is.
    pub fn show_removed(self, show: bool) -> Self {
        self.shared.settings.show_removed(show);
        self
    }

    /// Sets whether the text of an answer is shown while it arrives, although hooks without a role are
    /// to see the whole answer and may remove some of it. Without such hooks it is always shown.
    pub fn show_drafts(self, show: bool) -> Self {
        self.shared.settings.show_drafts(show);
        self
    }

    /// Sets whether texts of errors are kept and shown, of calls that begin from now on and whose content is shown.
    /// Without them a failure has its kind, its status, the id of the request, and how often the model was asked.
    /// A text may quote what the provider or a tool was sent.
    pub fn show_errors(self, show: bool) -> Self {
        self.shared.settings.show_errors(show);
        self
    }

    /// Sets whether whole requests of models are kept and shown, of calls that begin from now on and whose content is
    /// shown: all messages, the descriptions of tools, the options. Such a run can be saved as a
    /// [tape](https://docs.rs/hooks-agent/latest/hooks_agent/guide/replay/index.html). Without them, the page has the
    /// system prompt, the names of the tools, and how many messages there are. Each attempt is an entry more, which has
    /// what differs from the request before it; the entries count for the [capacity](Self::capacity), and are not
    /// searched.
    pub fn show_requests(self, show: bool) -> Self {
        self.shared.settings.show_requests(show);
        self
    }

    /// Sets what the tokens of models cost, and the name of the currency, such as `"USD"`: the page shows money, of
    /// runs, agents, users, models and days. Prices that were set before stay. They may be in a
    /// [file](PriceTable::read).
    ///
    /// ```
    /// use hooks_agent::builtin::connect::Studio;
    /// use hooks_agent::model::PriceTable;
    ///
    /// let prices = PriceTable::from_json(r#"{"large": {"input": 3, "output": 15, "cache_read": 0.3}}"#)?;
    /// let studio = Studio::new().prices(prices, "USD");
    /// # Ok::<(), hooks_agent::model::PriceError>(())
    /// ```
    pub fn prices(self, table: PriceTable, currency: impl Into<Arc<str>>) -> Self {
        self.shared.settings.set_prices(Prices { table, currency: currency.into() });
        self
    }

    /// Keeps runs in a store beyond what the [ring](Self::capacity) holds: when they end, when they wait, and when
    /// another one goes on with them, as far as the ring shows them, and their numbers by the hour. The page has weeks,
    /// and searches them. They are written while the studio is [served](StudioServer::serve), beside the calls, which
    /// never wait for it; runs that end faster than the store takes them are not kept, and the page says how many. The
    /// store's
    /// [`prune`](hooks_agent_core::store::Store::prune) and [`forget`](hooks_agent_core::store::Store::forget) remove
    /// them. A store that was set before stays.
    ///
    /// ```
    /// use hooks_agent::builtin::connect::Studio;
    /// use hooks_agent::store::SqliteStore;
    ///
    /// # tokio::runtime::Runtime::new().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("hooks-history-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// # let path = folder.join("runs.db");
    /// let studio = Studio::new().history(SqliteStore::open(&path).await?);
    /// # let _ = studio;
    /// # std::fs::remove_dir_all(folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn history(self, store: impl Store) -> Self {
        // The first one stays.
        let _ = self.shared.history.set(History::new(Arc::new(store)));
        self
    }

    /// Sets whether people may write to the agents, read the stored messages of threads, and fork and rewind those that
    /// are theirs.
    pub fn allow_chat(mut self, allow: bool) -> Self {
        self.agents.allow_chat(allow);
        self
    }

    /// Allows requests to this host: the name by which a proxy or another machine reaches the studio,
    /// with its port, or without one for the default port and the port of the studio.
    pub fn allowed_host(mut self, name: impl Into<String>) -> Self {
        self.hosts.push(name.into());
        self
    }

    /// Sets the token in place of a random one: at least 16 letters, digits or `-._~`.
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(token.into());
        self
    }

    /// Lets workers join by this key, of at least 16 letters, digits or `-._~`: programs of other processes whose runs
    /// this studio shows, and whose questions the page takes decisions of. Who has the key writes runs and questions, and neither
    /// reads nor decides. Without it nobody joins.
    ///
    /// A program joins by `Studio::join`, of the feature `studio-join`.
    pub fn joined_by(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// Sets who decides and writes: the person who has the token. By default nobody is
    /// authenticated, and the [store](hooks_agent_core::store::Decided::by) records `studio`.
    pub fn decided_by(self, user: impl Into<User>) -> Self {
        let user = user.into();
        self.authenticate(move |_| Some(user.clone()))
    }

    /// Sets who decides and writes by the head of the request: a header that the proxy in front of the studio
    /// sets, or a cookie of the program. A request of nobody may look, and changes nothing. The
    /// body of a request names nobody.
    ///
    /// ```
    /// use hooks_agent::builtin::connect::Studio;
    /// use hooks_agent::call::User;
    ///
    /// let studio = Studio::new().authenticate(|request| {
    ///     // The proxy removes this header from what browsers send.
    ///     let user = request.headers.get("x-signed-in-as")?.to_str().ok()?;
    ///     Some(User::from(user).with_role("manager"))
    /// });
    /// # let _ = studio;
    /// ```
    pub fn authenticate(
        mut self,
        who: impl Fn(&Parts) -> Option<User> + Send + Sync + 'static,
    ) -> Self {
        self.login = Some(Arc::new(who));
        self
    }

    /// Sets the roles of those who may use a part of the page: one of them is enough. A part whose roles are not set is
    /// for everybody who has the token; one with no role at all is for nobody. Who somebody is,
    /// [`authenticate`](Self::authenticate) says.
    ///
    /// ```
    /// use hooks_agent::builtin::connect::{Studio, StudioPart};
    /// use hooks_agent::call::User;
    ///
    /// let studio = Studio::new()
    ///     .authenticate(|request| {
    ///         let user = request.headers.get("x-signed-in-as")?.to_str().ok()?;
    ///         Some(User::from(user).with_role("operator"))
    ///     })
    ///     // The others look.
    ///     .only_for(StudioPart::Acting, ["operator", "manager"])
    ///     .only_for(StudioPart::Overview, ["manager"]);
    /// # let _ = studio;
    /// ```
    pub fn only_for(
        mut self,
        part: StudioPart,
        roles: impl IntoIterator<Item = impl Into<Arc<str>>>,
    ) -> Self {
        self.access.set(part, roles.into_iter().map(Into::into).collect());
        self
    }

    /// Sets whether questions that [some users](hooks_agent_core::message::Approvers) alone may answer are decided
    /// elsewhere, so that the studio starts without knowing who decides. It shows them, and refuses every
    /// decision about them. Default: no.
    pub fn decided_elsewhere(mut self, is_elsewhere: bool) -> Self {
        self.is_decided_elsewhere = is_elsewhere;
        self
    }

    /// Sets how much is kept: runs, entries of a run, and bytes of all as JSON. The oldest goes first.
    pub fn capacity(self, runs: usize, events: usize, bytes: usize) -> Self {
        self.shared.ring.set_capacity(Capacity { runs, entries: events, bytes });
        self
    }

    /// Opens the page at an address, such as `127.0.0.1:0` for any free port. Nothing is answered until
    /// the server is [served](StudioServer::serve).
    ///
    /// # Errors
    /// [`StudioError::Bind`] if the address cannot be bound, [`StudioError::TokenRequired`] if other
    /// machines can reach it and there is no [token](Self::token), [`StudioError::WeakToken`],
    /// [`StudioError::WeakKey`], [`StudioError::DuplicateAgent`], [`StudioError::NobodyDecides`],
    /// [`StudioError::NobodyKnown`], [`StudioError::NoHistory`], [`StudioError::NoRandom`].
    pub async fn bind(&self, address: impl Into<String>) -> Result<StudioServer, StudioError> {
        let address = address.into();
        let failed = |source| StudioError::Bind { address: address.clone(), source };
        self.check_agents()?;
        if self.shared.history.get().is_some_and(|history| history.runs().is_none()) {
            return Err(StudioError::NoHistory);
        }
        if self.login.is_none()
            && !self.is_decided_elsewhere
            && let Some((agent, hook)) = self.agents.needs_login()
        {
            return Err(StudioError::NobodyDecides { agent, hook });
        }
        if self.login.is_none()
            && let Some(part) = self.access.first()
        {
            return Err(StudioError::NobodyKnown { part: part.name() });
        }
        let places: Vec<_> = lookup_host(&address).await.map_err(failed)?.collect();
        let token = match &self.token {
            Some(token) => Token::checked(token)?,
            None => {
                let is_local = |place: &&SocketAddr| is_loopback(place.ip());
                if let Some(place) = places.iter().find(|place| !is_local(place)) {
                    return Err(StudioError::TokenRequired { address: *place });
                }
                Token::random()?
            }
        };
        let key = self.key.as_deref().map(Token::key).transpose()?;
        let listener = listen(&places).map_err(failed)?;
        let bound = listener.local_addr().map_err(failed)?;
        let hosts = Hosts::new(bound, &self.hosts);
        let login = self.login.clone().unwrap_or_else(|| {
            let nobody = User::unverified(DECIDER);
            Arc::new(move |_| Some(nobody.clone()))
        });
        let desk = Desk::new(self.shared.clone(), self.agents.clone(), login);
        Ok(StudioServer::new(desk, self.access.clone(), listener, bound, hosts, (token, key)))
    }

    /// Returns where what waits at these agents is decided by users who are known elsewhere.
    #[cfg(feature = "join")]
    pub(crate) fn desk(&self) -> Result<Desk, StudioError> {
        self.check_agents()?;
        Ok(Desk::new(self.shared.clone(), self.agents.clone(), Arc::new(|_| None)))
    }

    fn check_agents(&self) -> Result<(), StudioError> {
        match self.agents.duplicate() {
            Some(agent) => Err(StudioError::DuplicateAgent { agent }),
            None => Ok(()),
        }
    }
}

/// Returns whether only this machine reaches the address.
fn is_loopback(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_loopback(),
        IpAddr::V6(address) => {
            address.is_loopback() || address.to_ipv4_mapped().is_some_and(|it| it.is_loopback())
        }
    }
}

impl fmt::Debug for Studio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let agents: Vec<_> = self.agents.iter().map(|agent| agent.name()).collect();
        f.debug_struct("Studio")
            .field("agents", &agents)
            .field("ring", &self.shared.ring)
            .finish_non_exhaustive()
    }
}
