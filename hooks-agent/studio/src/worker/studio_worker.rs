//! A process whose runs another studio shows.

use std::env;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::approvals::Desk;
use crate::worker::client::Client;
use crate::worker::commands::take;
use crate::worker::link::Link;
use crate::worker::sender::Sender;

/// How many bytes a name has at most.
const LONGEST: usize = 200;

/// A process that joined the studio of another one, of [`Studio::join`](crate::Studio::join).
///
/// It reads what its own studio keeps, in order, and sends it in batches; calls wait for none of it. While the other
/// studio cannot be reached, its own [capacity](crate::Studio::capacity) is the bound. A studio that is started anew
/// gets the runs that are still kept. What people decide there is done here, by the stores and agents of this process,
/// with the checks of its own page.
///
/// A clone is the same worker. Dropping it ends nothing: [`shutdown`](Self::shutdown) does.
#[derive(Clone)]
#[must_use = "it sends while `serve` runs"]
pub struct StudioWorker {
    link: Arc<Link>,
    name: Arc<str>,
}

impl StudioWorker {
    pub(crate) fn new(desk: Desk, client: Client) -> Self {
        Self { link: Arc::new(Link::new(desk, client)), name: name().into() }
    }

    /// Sets the name by which people know this process, which is cut to 200 bytes. The default is the name of the host
    /// and the number of the process. Set it before [`serve`](Self::serve).
    pub fn named(mut self, name: impl AsRef<str>) -> Self {
        let name = name.as_ref();
        self.name = name[..name.floor_char_boundary(LONGEST)].into();
        self
    }

    /// Sends runs until [`shutdown`](Self::shutdown). The future owns the worker, so that it can be spawned.
    pub fn serve(&self) -> impl Future<Output = ()> + Send + 'static {
        let Self { link, name } = self.clone();
        let is_first = !link.is_served.swap(true, Ordering::SeqCst);
        // A future that is dropped ends it too.
        let ended = is_first.then(|| link.ended.clone().drop_guard());
        async move {
            let Some(_ended) = ended else { return link.ended.cancelled().await };
            // What waits is listed while somebody reads.
            let _reading = link.ring().reading();
            let mut sender = Sender::new(link.clone(), name.clone());
            tokio::join!(link.desk.watch(&link.stopping), take(&link, &name), sender.run());
            sender.finish().await;
        }
    }

    /// Sends what is left, for two seconds at most, and tells the studio that this process takes no more decisions.
    /// Returns when [`serve`](Self::serve) has ended. Calls of agents go on.
    pub async fn shutdown(&self) {
        self.link.stopping.cancel();
        if !self.link.is_served.swap(true, Ordering::SeqCst) {
            self.link.drop_entries(self.link.ring().last().saturating_sub(self.link.begin));
            self.link.ended.cancel();
        }
        self.link.ended.cancelled().await;
    }

    /// Returns how many entries were not sent: those that its own studio gave up before, and after a
    /// [`shutdown`](Self::shutdown) those that were left.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.link.dropped.load(Ordering::Relaxed)
    }
}

/// Returns the name of the host and the number of the process.
fn name() -> String {
    let host = env::var("HOSTNAME").or_else(|_| env::var("COMPUTERNAME"));
    let host = host.unwrap_or_else(|_| "worker".to_owned());
    format!("{} {}", host.chars().take(40).collect::<String>(), std::process::id())
}

/// The name, and nothing of the key.
impl fmt::Debug for StudioWorker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StudioWorker")
            .field("name", &self.name)
            .field("dropped", &self.dropped())
            .finish_non_exhaustive()
    }
}
