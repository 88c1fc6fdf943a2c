//! Where emitters come from: settings, or a declaration.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agent_hooks::{
    AgentContext, ApprovalRequest, ApprovalResolution, ApprovalResolver, CompositionConfig,
    DeclarationError, EnforcementMode, HostDeclaration, HostRegistry, InterceptionEmitter,
    InterceptionPoint, Interceptor, ResolvedDeclaration, Verdict,
};
use async_trait::async_trait;

use crate::host::identity::Identity;
use crate::host::labels::Returned;
use crate::host::profile::Profile;

/// How long an interceptor may take, unless told otherwise: what the specification recommends.
const LIMIT: Duration = Duration::from_secs(5);

/// What is shown of a context to who approves.
pub(super) type Redact = Arc<dyn Fn(&AgentContext) -> AgentContext + Send + Sync>;

/// Where emitters come from. An emitter serves one point at a time, so that an interceptor that waits, or a person,
/// stops no other tool call: those that are done are used again.
pub(super) struct Source {
    from: From,
    idle: Mutex<Vec<Pooled>>,
}

enum From {
    Code(InCode),
    Declared(Box<Declared>),
}

/// What a program sets.
pub(super) struct InCode {
    pub(super) interceptors: Vec<Registered>,
    pub(super) profile: Profile,
    pub(super) identity: Identity,
    pub(super) resolver: Option<Arc<dyn ApprovalResolver>>,
    pub(super) redact: Option<Redact>,
    pub(super) mode: EnforcementMode,
    pub(super) limit: Option<Duration>,
}

#[derive(Clone)]
pub(super) struct Registered {
    pub(super) name: Arc<str>,
    pub(super) interceptor: Arc<dyn Interceptor>,
    /// The points that it is asked at; `None` is all.
    pub(super) at: Option<BTreeSet<InterceptionPoint>>,
}

struct Declared {
    declaration: HostDeclaration,
    resolved: ResolvedDeclaration,
    registry: Arc<HostRegistry>,
}

/// An emitter, with the labels that its interceptors return.
pub(super) struct Pooled {
    pub(super) emitter: InterceptionEmitter,
    pub(super) labels: Returned,
}

impl Source {
    pub(super) fn in_code(profile: Profile) -> Self {
        let code = InCode {
            interceptors: Vec::new(),
            profile,
            identity: Identity::default(),
            resolver: None,
            redact: None,
            mode: EnforcementMode::Enforce,
            limit: Some(LIMIT),
        };
        Self { from: From::Code(code), idle: Mutex::default() }
    }

    /// Creates the source of a declaration, and its first emitter: what is wrong with the declaration is known then.
    pub(super) fn declared(
        declaration: HostDeclaration,
        registry: Arc<HostRegistry>,
    ) -> Result<Self, DeclarationError> {
        let emitter = InterceptionEmitter::from_declaration(declaration.clone(), &registry)?;
        let resolved = match emitter.declaration() {
            Some(resolved) => resolved.clone(),
            None => agent_hooks::declaration::resolve(
                &declaration,
                registry.surface(),
                &registry.names(),
            )?,
        };
        let first = Pooled { emitter, labels: Returned::default() };
        let declared = Declared { declaration, resolved, registry };
        Ok(Self { from: From::Declared(Box::new(declared)), idle: Mutex::new(vec![first]) })
    }

    /// Returns what the program sets; `None` if a declaration does.
    pub(super) fn code_mut(&mut self) -> Option<&mut InCode> {
        match &mut self.from {
            From::Code(code) => Some(code),
            From::Declared(_) => None,
        }
    }

    pub(super) fn resolved(&self) -> Option<&ResolvedDeclaration> {
        match &self.from {
            From::Code(_) => None,
            From::Declared(declared) => Some(&declared.resolved),
        }
    }

    pub(super) fn mode(&self) -> EnforcementMode {
        match &self.from {
            From::Code(code) => code.mode,
            From::Declared(declared) => declared.resolved.configuration.mode,
        }
    }

    pub(super) fn composition(&self) -> CompositionConfig {
        match &self.from {
            From::Code(code) => code.profile.into(),
            From::Declared(declared) => declared.resolved.configuration.composition,
        }
    }

    pub(super) fn identity_name(&self) -> Option<&str> {
        match &self.from {
            From::Code(code) => code.identity.name(),
            From::Declared(declared) => declared.resolved.identity_provider(),
        }
    }

    pub(super) fn declaration_version(&self) -> Option<String> {
        self.resolved().map(|resolved| resolved.declaration.clone())
    }

    /// Returns the name of the interceptor with this number at a point.
    pub(super) fn name_at(&self, point: InterceptionPoint, number: u32) -> Option<String> {
        let number = usize::try_from(number).ok()?;
        match &self.from {
            From::Code(code) => {
                let mut there = code.interceptors.iter().filter(|it| it.is_at(point));
                there.nth(number).map(|it| it.name.to_string())
            }
            From::Declared(declared) => {
                let mut there =
                    declared.resolved.bindings.iter().filter(|it| it.at.contains(&point));
                there.nth(number).map(|it| it.id.clone())
            }
        }
    }

    /// Returns how many interceptors there are at a point.
    pub(super) fn count_at(&self, point: InterceptionPoint) -> usize {
        match &self.from {
            From::Code(code) => code.interceptors.iter().filter(|it| it.is_at(point)).count(),
            From::Declared(declared) => {
                declared.resolved.bindings.iter().filter(|it| it.at.contains(&point)).count()
            }
        }
    }

    /// Returns an emitter for one point.
    ///
    /// # Errors
    /// The text of what failed, if a declaration could not be followed again.
    pub(super) fn take(&self) -> Result<Pooled, String> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        if let Some(pooled) = idle {
            return Ok(pooled);
        }
        match &self.from {
            From::Code(code) => code.emitter(),
            From::Declared(declared) => {
                let Declared { declaration, registry, .. } = &**declared;
                let emitter = InterceptionEmitter::from_declaration(declaration.clone(), registry);
                let emitter = emitter.map_err(|error| error.code().to_owned())?;
                Ok(Pooled { emitter, labels: Returned::default() })
            }
        }
    }

    /// Keeps an emitter for another point.
    pub(super) fn give(&self, mut pooled: Pooled) {
        drop(pooled.emitter.take_records());
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(pooled);
    }
}

impl InCode {
    fn emitter(&self) -> Result<Pooled, String> {
        let resolver = self
            .resolver
            .clone()
            .map(|resolver| -> Box<dyn ApprovalResolver> { Box::new(SharedResolver(resolver)) });
        let mut emitter = InterceptionEmitter::new(self.mode, resolver);
        emitter.set_composition(self.profile.into()).set_max_records(1);
        if let Some(limit) = self.limit {
            emitter.set_timeout(limit);
        }
        let provider = self.identity.provider().map_err(|(_, reason)| reason)?;
        emitter.set_identity_provider(provider).map_err(|(_, reason)| reason)?;
        if let Some(redact) = self.redact.clone() {
            emitter.set_approval_redactor(move |context| redact(context));
        }
        let labels = Returned::default();
        for it in &self.interceptors {
            let shared = SharedInterceptor { registered: it.clone(), labels: labels.clone() };
            emitter.register_at(Box::new(shared), Some(it.name.to_string()), it.at.clone());
        }
        Ok(Pooled { emitter, labels })
    }
}

impl Registered {
    fn is_at(&self, point: InterceptionPoint) -> bool {
        self.at.as_ref().is_none_or(|at| at.contains(&point))
    }
}

/// An interceptor of several emitters.
struct SharedInterceptor {
    registered: Registered,
    labels: Returned,
}

#[async_trait]
impl Interceptor for SharedInterceptor {
    async fn intercept(&self, context: &AgentContext) -> Verdict {
        let verdict = self.registered.interceptor.intercept(context).await;
        self.labels.note(&self.registered.name, &verdict);
        verdict
    }
}

/// A resolver of several emitters.
struct SharedResolver(Arc<dyn ApprovalResolver>);

#[async_trait]
impl ApprovalResolver for SharedResolver {
    async fn resolve(&self, request: ApprovalRequest<'_>) -> ApprovalResolution {
        self.0.resolve(request).await
    }
}
