//! A page of a studio in a browser.

use std::ops::Deref;
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::time::Duration;

use futures::FutureExt;
use hooks_agent_studio::{Studio, StudioServer};
use hooks_fixtures::tell;
use tokio::sync::Semaphore;

use crate::support::browser::Browser;
use crate::support::driver::Programs;

/// How many browsers run at once.
static BROWSERS: Semaphore = Semaphore::const_new(2);

/// How long a test takes at most.
const LONGEST: Duration = Duration::from_mins(2);

/// A browser that shows a studio.
pub(crate) struct Page {
    browser: Browser,
    pub(crate) server: StudioServer,
    /// Whether the console may have errors.
    may_log: std::sync::atomic::AtomicBool,
}

impl Deref for Page {
    type Target = Browser;

    fn deref(&self) -> &Browser {
        &self.browser
    }
}

/// Opens the studio in a browser, leads it, and checks what every test promises: no error on the
/// console, and no request to anything but the studio.
pub(crate) async fn open(studio: Studio, lead: impl AsyncFnOnce(&Page)) {
    open_as("", studio, lead).await;
}

/// The same, at a place of the page such as `#/approvals`.
pub(crate) async fn open_as(place: &str, studio: Studio, lead: impl AsyncFnOnce(&Page)) {
    let Some(programs) = Programs::find() else {
        tell("skipped: chromium or chromedriver is not installed");
        return;
    };
    let _one = BROWSERS.acquire().await.expect("it is never closed");
    let server = studio.bind("127.0.0.1:0").await.unwrap();
    let serving = tokio::spawn(server.serve());
    let browser = Browser::start(&programs).await;
    let may_log = false.into();
    let page = Page { browser, server, may_log };
    let test = AssertUnwindSafe(async {
        page.client.goto(&page.server.url()).await.unwrap();
        page.until("document.querySelector('#connection').dataset.state === 'live'").await;
        if !place.is_empty() {
            page.go(place).await;
        }
        lead(&page).await;
        page.check().await;
    });
    let ended = tokio::time::timeout(LONGEST, test.catch_unwind()).await;
    let _ = page.browser.client.close().await;
    page.server.shutdown().await;
    let _ = serving.await;
    if let Err(panic) = ended.expect("the test ends in time") {
        resume_unwind(panic);
    }
}

impl Page {
    /// Goes to a place of the page, such as `#/approvals`.
    pub(crate) async fn go(&self, place: &str) {
        self.eval(&format!("void (location.hash = '{place}')")).await;
    }

    /// Opens the run whose line in the list has this text.
    pub(crate) async fn open_run(&self, text: &str) {
        self.click("a.run", text).await;
        self.until("document.querySelector('.facts') && document.querySelector('.row')").await;
    }

    /// Errors on the console belong to this test.
    pub(crate) fn may_log(&self) {
        self.may_log.store(true, std::sync::atomic::Ordering::Relaxed);
    }

    async fn check(&self) {
        let home = format!("http://{}/", self.server.address());
        for request in self.requests().await {
            // The first page of a new tab, and a page of the test itself.
            let is_blank = request.starts_with("data:") || request.starts_with("about:");
            assert!(request.starts_with(&home) || is_blank, "{request}");
        }
        if !self.may_log.load(std::sync::atomic::Ordering::Relaxed) {
            assert_eq!(self.log("browser").await, Vec::<serde_json::Value>::new());
        }
    }
}
