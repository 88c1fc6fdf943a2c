//! A browser that a test leads.

use std::path::Path;
use std::time::Duration;

use axum::http::Method;
use fantoccini::actions::{InputSource, KeyAction, KeyActions};
pub(crate) use fantoccini::key::Key;
use fantoccini::wd::{TimeoutConfiguration, WebDriverCompatibleCommand};
use fantoccini::{Client, ClientBuilder};
use reqwest::Url;
use serde_json::{Value, json};

use crate::support::driver::{Driver, Programs};

/// How long a test waits for what it expects.
const PATIENCE: Duration = Duration::from_secs(20);

/// A browser without a window, with a clean profile.
pub(crate) struct Browser {
    pub(crate) client: Client,
    _driver: Driver,
}

impl Browser {
    pub(crate) async fn start(programs: &Programs) -> Self {
        let driver = Driver::start(programs).await;
        let capabilities = json!({
            "goog:loggingPrefs": { "browser": "ALL", "performance": "ALL" },
            "goog:chromeOptions": {
                "binary": programs.browser,
                "args": [
                    "--headless=new",
                    "--no-sandbox",
                    "--disable-gpu",
                    "--disable-dev-shm-usage",
                    "--hide-scrollbars",
                    "--window-size=1440,900",
                    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
                ],
            },
        });
        let Value::Object(capabilities) = capabilities else { unreachable!("it is an object") };
        // Which one is meant is not known where others bring another one; the first test installs it.
        drop(rustls::crypto::ring::default_provider().install_default());
        let mut builder = ClientBuilder::rustls().expect("there are root certificates");
        let client = builder.capabilities(capabilities).connect(&driver.address).await;
        let client = client.expect("the browser starts");
        let patience = TimeoutConfiguration::new(Some(PATIENCE), Some(PATIENCE), None);
        client.update_timeouts(patience).await.unwrap();
        let browser = Self { client, _driver: driver };
        browser.resize(1440, 900).await;
        browser
    }

    /// Evaluates an expression in the page.
    pub(crate) async fn eval(&self, expression: &str) -> Value {
        let script = format!("return ({expression});");
        match self.client.execute(&script, Vec::new()).await {
            Ok(value) => value,
            Err(error) => panic!("{expression}: {error}"),
        }
    }

    /// Runs statements of an async function in the page, and returns what they return.
    pub(crate) async fn run(&self, statements: &str) -> Value {
        let script = format!(
            "const done = arguments[0]; (async () => {{ {statements} }})()
            .then(done, (error) => done(String(error)));"
        );
        match self.client.execute_async(&script, Vec::new()).await {
            Ok(value) => value,
            Err(error) => panic!("{statements}: {error}"),
        }
    }

    /// Waits until an expression is true in the page, and returns its value.
    pub(crate) async fn until(&self, expression: &str) -> Value {
        let script = format!(
            "const done = arguments[0];
            const check = () => {{
                let value = null;
                try {{ value = ({expression}); }} catch {{ value = null; }}
                if (value) done(value instanceof Node ? true : value);
                else setTimeout(check, 20);
            }};
            check();"
        );
        match self.client.execute_async(&script, Vec::new()).await {
            Ok(value) => value,
            Err(error) => {
                let page = self.eval("document.body.innerText").await;
                panic!("{expression} stays false ({error}); the page: {page}")
            }
        }
    }

    /// Waits until an element that fits the selector has this text.
    pub(crate) async fn until_text(&self, selector: &str, text: &str) {
        let text = json!(text);
        self.until(&format!(
            "[...document.querySelectorAll('{selector}')].some((it) => it.textContent.includes({text}))"
        ))
        .await;
    }

    /// Clicks the first visible element that fits the selector and has this text.
    pub(crate) async fn click(&self, selector: &str, text: &str) {
        let text = json!(text);
        let found = format!(
            "[...document.querySelectorAll('{selector}')].find((it) => it.textContent.includes({text}) \
            && it.offsetParent && !it.disabled)"
        );
        self.until(&found).await;
        self.eval(&format!("{found}.click()")).await;
    }

    /// Presses keys one after the other, as a keyboard does.
    pub(crate) async fn press(&self, keys: impl IntoIterator<Item = char>) {
        let mut actions = KeyActions::new("keyboard".to_owned());
        for value in keys {
            actions = actions.then(KeyAction::Down { value }).then(KeyAction::Up { value });
        }
        self.client.perform_actions(actions).await.unwrap();
    }

    /// Sets the size of the page; below 700 pixels it is a phone.
    pub(crate) async fn resize(&self, width: u32, height: u32) {
        let phone = width < 700;
        let size = json!({
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone,
        });
        self.devtools("Emulation.setDeviceMetricsOverride", size).await;
    }

    /// Sets what the system prefers: `light` or `dark`.
    pub(crate) async fn prefer(&self, scheme: &str) {
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.devtools("Emulation.setEmulatedMedia", features).await;
    }

    /// Sets that the system prefers less motion.
    pub(crate) async fn prefer_less_motion(&self) {
        let features =
            json!({ "features": [{ "name": "prefers-reduced-motion", "value": "reduce" }] });
        self.devtools("Emulation.setEmulatedMedia", features).await;
    }

    /// Runs this before the scripts of every page that the tab loads from now on.
    pub(crate) async fn before_the_page(&self, script: &str) {
        let source = json!({ "source": script });
        self.devtools("Page.addScriptToEvaluateOnNewDocument", source).await;
    }

    async fn devtools(&self, command: &str, params: Value) {
        let body = json!({ "cmd": command, "params": params });
        self.command("goog/cdp/execute", body).await;
    }

    async fn command(&self, path: &'static str, body: Value) -> Value {
        self.client.issue_cmd(Extension { path, body }).await.unwrap()
    }

    /// Returns the entries of a log since it was read last: `browser` or `performance`.
    pub(crate) async fn log(&self, kind: &str) -> Vec<Value> {
        let log = self.command("se/log", json!({ "type": kind })).await;
        log.as_array().cloned().unwrap_or_default()
    }

    /// Returns the addresses that the page asked for since then.
    pub(crate) async fn requests(&self) -> Vec<String> {
        let mut found = Vec::new();
        for entry in self.log("performance").await {
            let message = entry["message"].as_str().unwrap_or_default();
            let message: Value = serde_json::from_str(message).unwrap_or_default();
            let message = &message["message"];
            if message["method"] == "Network.requestWillBeSent" {
                found.extend(message["params"]["request"]["url"].as_str().map(str::to_owned));
            }
        }
        found
    }

    /// Writes a picture of the page to `target/studio-pictures`.
    pub(crate) async fn picture(&self, name: &str) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/studio-pictures");
        std::fs::create_dir_all(&folder).unwrap();
        let picture = self.client.screenshot().await.unwrap();
        std::fs::write(folder.join(name).with_extension("png"), picture).unwrap();
    }
}

/// A command of this browser beside the standard.
#[derive(Debug)]
struct Extension {
    path: &'static str,
    body: Value,
}

impl WebDriverCompatibleCommand for Extension {
    fn endpoint(
        &self,
        base: &Url,
        session: Option<&str>,
    ) -> Result<Url, <Url as std::str::FromStr>::Err> {
        base.join(&format!("session/{}/{}", session.unwrap_or_default(), self.path))
    }

    fn method_and_body(&self, _: &Url) -> (Method, Option<String>) {
        (Method::POST, Some(self.body.to_string()))
    }
}
