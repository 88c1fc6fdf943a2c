//! The hook that keeps personal data from models, memory and tools.

use std::fmt;
use std::sync::Arc;

use hooks_agent_core::__forward_hook as forward_hook;
use hooks_core::HookResult;

use crate::guard::pii::{
    PiiAllowed, PiiConfidence, PiiDetector, PiiFormat, PiiHashKey, PiiKind, PiiRecognition,
    PiiRegister, PiiReplacement, PiiScanner, PiiStrategy, UnknownRegion,
};
use crate::guard::pii_detection::asked::Asked;
use crate::guard::pii_detection::search::Search;
use crate::guard::vault::Vault;
use hooks_agent_core::event::{EventKind, EventMask, Flow, HookEvent};
use hooks_agent_core::hook::{AgentHook, AroundMask, NextTool, Rewrite, ToolCall};
use hooks_agent_core::message::ToolResult;
use hooks_agent_core::tool::ToolError;

/// Finds personal data in what an agent is given and says, and replaces or blocks it.
///
/// | setting | default | |
/// |---|---|---|
/// | what is found | | [`all`](PiiDetection::all), [`of`](PiiDetection::of) some kinds, [`custom`](PiiDetection::custom) |
/// | [`min_confidence`](PiiDetection::min_confidence) | `Medium` | how sure it must be that a number is one of an authority |
/// | [`phone_regions`](PiiDetection::phone_regions) | none | whose telephone numbers are found without a country code |
/// | [`recognizer`](PiiDetection::recognizer) | none | a model that finds names and addresses |
/// | [`allow`](PiiDetection::allow) | nothing | what is found and left as it is |
/// | [`register`](PiiDetection::register) | none | what counts what is found, without the values |
/// | [`strategy`](PiiDetection::strategy) | `Redact` | redact, mask, hash or block |
/// | [`format`](PiiDetection::format) | `Keyed` | the form of tokens, masks and hashes |
/// | [`hash_key`](PiiDetection::hash_key) | random | the key of hashes |
/// | [`vault`](PiiDetection::vault) | none | tokens for the model, data for the tools |
/// | [`input`](PiiDetection::input) | yes | texts of the user |
/// | [`output`](PiiDetection::output) | no | texts and thoughts of the model, also while they stream |
/// | [`tool_results`](PiiDetection::tool_results) | no | results, errors and progress of tools |
/// | [`tool_arguments`](PiiDetection::tool_arguments) | no | arguments of tool calls |
///
/// Where texts are rewritten, and when, is as for [`Rewrite`](hooks_agent_core::hook::Rewrite): before memory,
/// stream, logs and the next request. It does not protect from what it does not know: names and addresses
/// of streets without a recognizer, data in images and files, in system messages, in spelled-out words, or split over several
/// messages. [The page](https://docs.rs/hooks-agent/latest/hooks_agent/guide/builtin_guard/index.html) says how well each kind is found.
///
/// Of matches of one hook that overlap, the longest names the token. Several of these hooks, such as one
/// for each kind with a strategy of its own, search the text of the model at once, with the same rule,
/// and a match that blocks wins. All else they search one after the other: the second one has what
/// the first one left, so add a hook that blocks first. It runs at
/// [`priority::SECURITY`](hooks_agent_core::hook::priority::SECURITY), in nested calls and in agents that are tools
/// of its agent. A text that is blocked fails the call; of a tool's result, the model reads the error.
///
/// ```
/// use hooks_agent::builtin::guard::PiiDetection;
/// use hooks_agent::builtin::guard::pii::PiiStrategy;
/// use hooks_agent::prelude::*;
///
/// # futures::executor::block_on(async {
/// let model = ScriptedModel::new("echo", |request| request.last_text());
/// let agent = ReActAgent::builder("assistant")
///     .model(model)
///     .hook(PiiDetection::all())
///     .hook(PiiDetection::credit_card().strategy(PiiStrategy::Mask))
///     .build()?;
/// let reply = agent.call("Bill 4532015112830366, mail ada@example.com").await?;
/// assert_eq!(reply.text(), "Bill [REDACTED_CREDIT_CARD], mail [REDACTED_EMAIL]");
/// # Ok::<(), AgentError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
#[must_use]
pub struct PiiDetection {
    name: String,
    pub(super) search: Search,
    /// What searches for built-in kinds.
    scanner: Option<PiiScanner>,
    recognition: Option<PiiRecognition>,
    pub(super) vault: Option<Vault>,
    /// The tools that receive the data of the vault; all, if there is no list.
    pub(super) tools: Option<Arc<[String]>>,
    pub(super) rewrite: Rewrite,
}

macro_rules! of_one_kind {
    ($($(#[$doc:meta])* $name:ident => $($kind:ident),+;)*) => {$(
        $(#[$doc])*
        pub fn $name() -> Self {
            Self::of([$(PiiKind::$kind),+]).called(stringify!($name))
        }
    )*};
}

impl PiiDetection {
    /// Finds [all kinds](PiiKind::ALL) but those [by choice](PiiKind::is_by_choice).
    pub fn all() -> Self {
        Self::of_scanner("PiiDetection".to_owned(), PiiScanner::all())
    }

    /// Finds these kinds.
    pub fn of(kinds: impl IntoIterator<Item = PiiKind>) -> Self {
        let scanner = PiiScanner::new(kinds);
        let names: Vec<_> = scanner.kinds().iter().map(|kind| kind.name()).collect();
        let name = format!("PiiDetection[{}]", names.join(","));
        Self::of_scanner(name, scanner)
    }

    fn of_scanner(name: String, scanner: PiiScanner) -> Self {
        Self { scanner: Some(scanner.clone()), ..Self::new(name, Arc::new(scanner)) }
    }

    /// Sets how sure it must be that an identity or tax number is one; see [`PiiConfidence`]. Has no effect on
    /// a [custom](PiiDetection::custom) detector.
    pub fn min_confidence(mut self, least: PiiConfidence) -> Self {
        if let Some(scanner) = self.scanner.take() {
            let scanner = scanner.min_confidence(least);
            self.search.detector = Arc::new(scanner.clone());
            self.scanner = Some(scanner);
        }
        self.rebuilt(|rewrite| rewrite)
    }

    /// Finds what a custom detector finds; `kind` names the hook.
    ///
    /// ```
    /// use hooks_agent::builtin::guard::PiiDetection;
    /// use hooks_agent::builtin::guard::pii::PiiPattern;
    /// use hooks_agent::prelude::*;
    ///
    /// let keys = PiiPattern::new("api_key", "sk-[a-zA-Z0-9]{32}")?;
    /// let hook = PiiDetection::custom("api_key", keys);
    /// assert_eq!(hook.name(), "PiiDetection[api_key]");
    /// # Ok::<(), hooks_agent::builtin::guard::pii::PiiPatternError>(())
    /// ```
    pub fn custom(kind: &str, detector: impl PiiDetector + 'static) -> Self {
        Self::new(format!("PiiDetection[{kind}]"), Arc::new(detector))
    }

    of_one_kind! {
        /// Finds e-mail addresses.
        email => Email;
        /// Finds numbers of payment cards.
        credit_card => CreditCard;
        /// Finds IPv4 and IPv6 addresses.
        ip => Ipv4, Ipv6;
        /// Finds MAC addresses.
        mac_address => MacAddress;
        /// Finds URLs.
        url => Url;
        /// Finds telephone numbers.
        phone => Phone;
        /// Finds bank account numbers.
        iban => Iban;
    }

    fn new(name: String, detector: Arc<dyn PiiDetector>) -> Self {
        let replacement = Arc::new(PiiReplacement::new(PiiStrategy::default()));
        let search =
            Search { detector, replacement, vault: None, allowed: Arc::default(), register: None };
        let rewriter = search.clone().rewriter(search.id(false, None).as_ref());
        let rewrite = Rewrite::from(rewriter).input(true).output(false);
        Self { name, search, scanner: None, recognition: None, vault: None, tools: None, rewrite }
    }

    fn called(mut self, kind: &str) -> Self {
        self.name = format!("PiiDetection[{kind}]");
        self
    }

    /// Sets what happens to what is found. With a [vault](PiiDetection::vault), only
    /// [`Block`](PiiStrategy::Block) has an effect.
    pub fn strategy(self, strategy: PiiStrategy) -> Self {
        self.replace(|replacement| replacement.with_strategy(strategy))
    }

    /// Sets the form of tokens, masks and hashes.
    pub fn format(self, format: PiiFormat) -> Self {
        self.replace(|replacement| replacement.with_format(format))
    }

    /// Sets the key of hashes, so that they are the same in every process.
    pub fn hash_key(self, key: PiiHashKey) -> Self {
        self.replace(|replacement| replacement.with_key(key))
    }

    /// Sets what is found and left as it is.
    pub fn allow(mut self, allowed: PiiAllowed) -> Self {
        self.search.allowed = Arc::new(allowed);
        self.rebuilt(|rewrite| rewrite)
    }

    /// Counts what is found in this register.
    pub fn register(mut self, register: &PiiRegister) -> Self {
        self.search.register = Some(register.clone());
        self.rebuilt(|rewrite| rewrite)
    }

    /// Names regions whose telephone numbers are found without a country code, too; see
    /// [`PiiScanner::phone_regions`]. Has no effect on a [custom](PiiDetection::custom) detector.
    ///
    /// # Errors
    /// [`UnknownRegion`] if there are no numbers of a region of this name.
    pub fn phone_regions<R: AsRef<str>>(
        mut self,
        regions: impl IntoIterator<Item = R>,
    ) -> Result<Self, UnknownRegion> {
        if let Some(scanner) = self.scanner.take() {
            let scanner = scanner.phone_regions(regions)?;
            self.search.detector = Arc::new(scanner.clone());
            self.scanner = Some(scanner);
        }
        Ok(self.rebuilt(|rewrite| rewrite))
    }

    /// Asks a recognizer, too, for what has no form, such as names and addresses of streets. Its findings are
    /// replaced as the others, under the names of their kinds. It is asked about what the hook searches: the
    /// input, unless you choose [more](PiiDetection::everywhere).
    ///
    /// A complete text is asked about as a whole, the answer of a model by sentences: it streams a sentence at a
    /// time. A text that nobody answers for is blocked, unless the recognition
    /// [fails open](PiiRecognition::fail_open). Progress of tools is dropped where
    /// [`tool_results`](PiiDetection::tool_results) are searched.
    pub fn recognizer(mut self, recognition: impl Into<PiiRecognition>) -> Self {
        self.recognition = Some(recognition.into());
        self.rebuilt(|rewrite| rewrite)
    }

    /// Keeps the data in a vault: model, memory, stream and logs have tokens such as `[EMAIL_KXQRTNBW]`;
    /// a tool receives the data in place of the tokens in its arguments. Texts of the model, tool results
    /// and arguments are searched then, unless they are excluded afterwards.
    ///
    /// Every tool that the model calls with a token receives the data: limit them by
    /// [`reveal_only_to`](PiiDetection::reveal_only_to). A tool that would receive the data and has a
    /// token that the thread does not know is not run; the model reads why. A text is blocked if the
    /// data in it cannot be kept, as in an agent without memory.
    ///
    /// ```
    /// use hooks_agent::builtin::guard::{PiiDetection, Vault};
    /// use hooks_agent::prelude::*;
    /// # use serde_json::{Value, json};
    ///
    /// # futures::executor::block_on(async {
    /// let vault = Vault::new();
    /// let send = FunctionTool::new("send", "Sends a mail.", async |input: Value| {
    ///     assert_eq!(input["to"], "ada@example.com");
    ///     "sent"
    /// });
    /// // `model` reads "write to [EMAIL_KXQRTNBW]", or other letters, and calls the tool with the token.
    /// # let model = ScriptedModel::new("script", |request| -> ScriptedAnswer {
    /// #     let asked = request.messages.iter().find(|msg| msg.role == Role::User).unwrap().text();
    /// #     let token = asked.strip_prefix("write to ").unwrap();
    /// #     assert!(token.starts_with("[EMAIL_"), "{token}");
    /// #     match request.messages.last().and_then(|msg| msg.tool_results().next()) {
    /// #         Some(_) => format!("I wrote to {token}.").into(),
    /// #         None => ToolUse::new("1", "send", json!({ "to": token })).into(),
    /// #     }
    /// # });
    /// let hook = PiiDetection::email().vault(vault.clone()).reveal_only_to(["send"]);
    /// let agent = ReActAgent::builder("assistant").model(model).tool(send).hook(hook).build()?;
    /// let reply = agent.call("write to ada@example.com").await?;
    /// assert!(!reply.text().contains("ada"));
    /// let shown = vault.reveal_in(agent.id(), CallContext::DEFAULT_THREAD, &reply.text());
    /// assert_eq!(shown, "I wrote to ada@example.com.");
    /// # Ok::<(), AgentError>(())
    /// # }).unwrap();
    /// ```
    pub fn vault(mut self, vault: Vault) -> Self {
        self.vault = Some(vault);
        self.everywhere()
    }

    /// Sets which tools receive the data of the vault. The default is all.
    pub fn reveal_only_to<T: Into<String>>(mut self, tools: impl IntoIterator<Item = T>) -> Self {
        self.tools = Some(tools.into_iter().map(Into::into).collect());
        self
    }

    /// Sets whether texts of the user are searched.
    pub fn input(self, search: bool) -> Self {
        self.rebuilt(|rewrite| rewrite.input(search))
    }

    /// Sets whether texts and thoughts of the model are searched.
    pub fn output(self, search: bool) -> Self {
        self.rebuilt(|rewrite| rewrite.output(search))
    }

    /// Sets whether results, errors and progress of tools are searched.
    pub fn tool_results(self, search: bool) -> Self {
        self.rebuilt(|rewrite| rewrite.tool_results(search))
    }

    /// Sets whether arguments of tool calls are searched.
    pub fn tool_arguments(self, search: bool) -> Self {
        self.rebuilt(|rewrite| rewrite.tool_arguments(search))
    }

    /// Searches all of these.
    pub fn everywhere(self) -> Self {
        self.input(true).output(true).tool_results(true).tool_arguments(true)
    }

    fn replace(mut self, change: impl FnOnce(PiiReplacement) -> PiiReplacement) -> Self {
        self.search.replacement = Arc::new(change((*self.search.replacement).clone()));
        self.rebuilt(|rewrite| rewrite)
    }

    /// Applies the settings to what rewrites.
    fn rebuilt(mut self, change: impl FnOnce(Rewrite) -> Rewrite) -> Self {
        let search = self.search.clone();
        let recognition = self.recognition.clone();
        let id = search.id(self.vault.is_some(), recognition.as_ref());
        let asks = recognition.is_some();
        let rewriter = move |search: Search| {
            let rewriter = search.clone().rewriter(id.as_ref());
            match recognition.clone() {
                Some(recognition) => rewriter.and_asking(Asked { recognition, search }),
                None => rewriter,
            }
        };
        self.rewrite = change(match self.vault.clone() {
            None => self.rewrite.with_rewriter(rewriter(search)),
            Some(vault) => self.rewrite.asking(asks).with_rewriter_per_call(move |cx| {
                let vault = Some(vault.in_call(cx));
                rewriter(Search { vault, ..search.clone() })
            }),
        });
        self
    }
}

impl AgentHook for PiiDetection {
    forward_hook! {
        self => AgentHook, &self.rewrite;
        priority sync_events inherit always role foreign_guard around_model_call
    }

    fn name(&self) -> String {
        self.name.clone()
    }

    fn events(&self) -> EventMask {
        let noted = self.vault.as_ref().map_or(EventMask::NONE, |_| EventKind::PreCall.into());
        self.rewrite.events() | noted
    }

    fn ends_with_process(&self) -> Option<String> {
        let is_lost = self.vault.as_ref().is_some_and(Vault::ends_with_process);
        is_lost.then(|| {
            "the threads outlive the process, and the key of the vault does not: no tool receives data of \
             an earlier process; use `Vault::stored`"
                .to_owned()
        })
    }

    fn tool_names(&self) -> Vec<String> {
        self.tools.iter().flat_map(|tools| tools.iter().cloned()).collect()
    }

    fn around(&self) -> AroundMask {
        let tools = if self.vault.is_some() { AroundMask::TOOL_CALL } else { AroundMask::NONE };
        self.rewrite.around() | tools
    }

    fn on_event_now(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
        self.note(event);
        self.rewrite.on_event_now(event)
    }

    async fn on_event(&self, event: &mut HookEvent<'_>) -> HookResult<Flow> {
        self.note(event);
        self.rewrite.on_event(event).await
    }

    async fn around_tool_call(
        &self,
        mut call: ToolCall<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolResult, ToolError> {
        let data = match self.reveal(&call.context().clone(), &mut call) {
            Ok(data) => data,
            Err(refused) => return Err(ToolError::Failed(Box::new(refused))),
        };
        if !data.is_empty() {
            return self.run_with_data(data, call, next).await;
        }
        if self.rewrite.around().contains(AroundMask::TOOL_CALL) {
            return self.rewrite.around_tool_call(call, next).await;
        }
        next.run(call.into_tool_use()).await
    }
}

impl fmt::Debug for PiiDetection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PiiDetection")
            .field("name", &self.name)
            .field("recognition", &self.recognition)
            .field("vault", &self.vault)
            .field("rewrite", &self.rewrite)
            .finish_non_exhaustive()
    }
}
