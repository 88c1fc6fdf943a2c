//! `hooks-agent approvals`.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use clap::{Args, Subcommand};
use hooks_agent_core::call::User;
use hooks_agent_core::store::{Approval, Filter, Store, StoreError};
use hooks_agent_sql::store;

use crate::print::failed;

/// Lists the approvals that a store remembers, and revokes them.
///
/// The exit code is 0 if it could, 1 if not.
#[derive(Args)]
pub(super) struct ApprovalArgs {
    /// The store: the path of an SQLite file, or `postgres://..`.
    #[arg(long, value_name = "URL")]
    store: String,
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Prints the approvals that may still answer questions, the oldest first.
    List {
        /// Those of this agent.
        #[arg(long)]
        agent: Option<String>,
        /// Those for calls of this user.
        #[arg(long)]
        user: Option<String>,
        /// Also those that are used up, expired or revoked.
        #[arg(long)]
        all: bool,
    },
    /// Ends approvals: they answer no question from now on.
    Revoke {
        /// The ids, as they are listed.
        #[arg(required = true)]
        ids: Vec<String>,
        /// Who revokes them, as it is recorded.
        #[arg(long, value_name = "NAME")]
        by: String,
    },
}

pub(super) fn run(args: &ApprovalArgs) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => return failed(&error, 1),
    };
    match runtime.block_on(act(args)) {
        Ok(code) => code,
        Err(error) => failed(&error, 1),
    }
}

async fn act(args: &ApprovalArgs) -> Result<ExitCode, StoreError> {
    match &args.action {
        Action::List { agent, user, all } => {
            let store = store::open_read_only(&args.store).await?;
            let filter = match agent.as_deref() {
                Some(agent) => Filter::agent(agent),
                None => Filter::all(),
            };
            let filter = match user.as_deref() {
                Some(user) => filter.user(user),
                None => filter,
            };
            list(&store.approvals(if *all { filter } else { filter.usable() }).await?);
            Ok(ExitCode::SUCCESS)
        }
        Action::Revoke { ids, by } => {
            // A store that is not there is not made.
            store::open_read_only(&args.store).await?;
            revoke(store::open(&args.store).await?, ids, &User::new(by.as_str())).await
        }
    }
}

fn list(approvals: &[Approval]) {
    for approval in approvals {
        let Approval { id, agent, agents, thread, user, arguments, uses, rule, .. } = approval;
        say!("{id}  {approval}");
        let path = std::iter::once(&**agent).chain(agents.iter().map(String::as_str));
        let user = user.as_deref().map(|user| format!(", user {user}")).unwrap_or_default();
        say!("    agent {}, thread {thread}{user}", path.collect::<Vec<_>>().join(" > "));
        say!("    shown: {arguments}");
        say!("    used {uses} of {}; {}", rule.most_uses(), standing(approval));
    }
    if approvals.is_empty() {
        say!("no approval is remembered");
    }
}

/// Returns how an approval stands.
fn standing(approval: &Approval) -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let left = Duration::from_millis(approval.expires).saturating_sub(now);
    match &approval.revoked_by {
        Some(by) => format!("revoked by {by}"),
        None if left.is_zero() => "expired".to_owned(),
        None => format!("expires in {}", words(left)),
    }
}

fn words(time: Duration) -> String {
    let (amount, unit) = match time.as_secs() {
        secs if secs >= 2 * 24 * 3600 => (secs / (24 * 3600), "days"),
        secs if secs >= 2 * 3600 => (secs / 3600, "hours"),
        secs => (secs / 60, "minutes"),
    };
    format!("{amount} {unit}")
}

async fn revoke(store: Arc<dyn Store>, ids: &[String], by: &User) -> Result<ExitCode, StoreError> {
    let mut code = ExitCode::SUCCESS;
    for id in ids {
        if store.revoke(id, by).await? {
            say!("revoked {id}");
        } else {
            eprintln!("no approval `{id}` may be revoked: list them with `--all`");
            code = ExitCode::FAILURE;
        }
    }
    Ok(code)
}
